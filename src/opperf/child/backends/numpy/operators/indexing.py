"""Indexing and embeddings in NumPy."""

from __future__ import annotations

import operator
from itertools import starmap, zip_longest
from typing import Any

import numpy as np

from opperf.child.backends.binding import Binding, call, composition, compositions


def scatter_add(data: Any, indices: Any, updates: Any, axis: int) -> Any:
    """Return a copy with each update added at its index along `axis`."""
    places = list(np.indices(indices.shape, sparse=True))
    places[axis] = indices
    result = np.copy(data)
    np.add.at(result, tuple(places), updates)
    return result


def slice_rows(data: Any, begin: Any, end: Any, step: Any) -> Any:
    """Return `data[begin:end:step, ...]`, the slices being made at each call, as Python does."""
    return data[tuple(starmap(slice, zip_longest(begin or (), end or (), step or ())))]


def each_dimension(bounds: Any) -> Any:
    """Return a bound for each dimension as a tuple; one number is for the first."""
    return bounds if isinstance(bounds, tuple) else (bounds,)


TAKE = call("numpy.take", "a=data, indices=indices", "axis=axis")


def one_hot(indices: Any, depth: int, dtype: Any) -> Any:
    """Return zeros with a one placed for each index; `numpy.eye(depth)[indices]` would make a depth x depth array."""
    spread = np.zeros((*indices.shape, depth), dtype)
    np.put_along_axis(spread, indices[..., np.newaxis], 1, axis=-1)
    return spread


BINDINGS: dict[str, Binding] = {
    # Elements picked or placed in NumPy by index, range or mask.
    "take": TAKE,
    "index_select": TAKE,
    "gather": call("numpy.take_along_axis", "arr=data, indices=indices", "axis=axis"),
    "ravel_multi_index": call("numpy.ravel_multi_index", "multi_index=indices, dims=shape", adapt={"indices": tuple}),
    "gather_nd": composition(
        operator.getitem, "data, indices", adapt={"indices": tuple}, note="indexing with a tuple of index arrays"
    ),
    "where": call("numpy.where", "condition=condition, x=lhs, y=rhs"),
    "masked_fill": call("numpy.where", "condition=mask, x=value, y=data"),
    "slice": composition(
        slice_rows,
        "data, begin, end, step",
        adapt={"begin": each_dimension, "end": each_dimension, "step": each_dimension},
        note="indexing with slices, a view",
    ),
    **compositions(
        pick=(
            lambda data, indices, axis: np.squeeze(np.take_along_axis(data, np.expand_dims(indices, axis), axis), axis),
            "numpy.take_along_axis between views",
        ),
        unravel_index=(
            lambda indices, shape: np.stack(np.unravel_index(indices, shape)),
            "numpy.unravel_index and numpy.stack",
        ),
        scatter_add=(scatter_add, "numpy.copy, numpy.indices and numpy.add.at"),
    ),
    # Rows looked up by index in NumPy, and indices spread into rows.
    "embedding": call("numpy.take", "a=weight, indices=indices", "axis=0"),
    **compositions(
        one_hot=(one_hot, "numpy.zeros and numpy.put_along_axis"),
        embedding_bag_sum=(
            lambda indices, weight: np.sum(np.take(weight, indices, axis=0), axis=-2),
            "numpy.take and numpy.sum",
        ),
        embedding_bag_mean=(
            lambda indices, weight: np.mean(np.take(weight, indices, axis=0), axis=-2),
            "numpy.take and numpy.mean",
        ),
    ),
}
