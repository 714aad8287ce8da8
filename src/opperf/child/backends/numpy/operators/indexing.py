"""Indexing and embeddings in NumPy."""

from __future__ import annotations

import operator
from itertools import starmap, zip_longest
from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, call, composed

# Elements picked or placed in NumPy by index, range or mask.


def scatter_add(data: Any, indices: Any, updates: Any, axis: int) -> Any:
    """Return a copy with each update added at its index along `axis`."""
    places = list(np.indices(indices.shape, sparse=True))
    places[axis] = indices
    result = np.copy(data)
    np.add.at(result, tuple(places), updates)
    return result


def sliced(data: Any, begin: Any, end: Any, step: Any) -> Any:
    """Return `data[begin:end:step, ...]`, the slices being made at each call, as Python does."""
    return data[tuple(starmap(slice, zip_longest(begin or (), end or (), step or ())))]


def each_dimension(bounds: Any) -> Any:
    """Return a bound for each dimension as a tuple; one number is for the first."""
    return bounds if isinstance(bounds, tuple) else (bounds,)


TAKE = call("numpy.take", "a=data, indices=indices", "axis=axis")


def pick(data: Any, indices: Any, axis: int) -> Any:
    """Return one element along the axis for each index."""
    return np.squeeze(np.take_along_axis(data, np.expand_dims(indices, axis), axis), axis)


def unravel_index(indices: Any, shape: Any) -> Any:
    """Return the coordinates as one array."""
    return np.stack(np.unravel_index(indices, shape))


_INDEXING: dict[str, Binding] = {
    "take": TAKE,
    "index_select": TAKE,
    "gather": call("numpy.take_along_axis", "arr=data, indices=indices", "axis=axis"),
    "pick": composed(pick, "data, indices, axis", note="numpy.take_along_axis between views"),
    "ravel_multi_index": call("numpy.ravel_multi_index", "multi_index=indices, dims=shape", adapt={"indices": tuple}),
    "unravel_index": composed(unravel_index, "indices, shape", note="numpy.unravel_index and numpy.stack"),
    "gather_nd": composed(
        operator.getitem, "data, indices", adapt={"indices": tuple}, note="indexing with a tuple of index arrays"
    ),
    "scatter_add": composed(
        scatter_add, "data, indices, updates, axis", note="numpy.copy, numpy.indices and numpy.add.at"
    ),
    "where": call("numpy.where", "condition=condition, x=lhs, y=rhs"),
    "masked_fill": call("numpy.where", "condition=mask, x=value, y=data"),
    "slice": composed(
        sliced,
        "data, begin, end, step",
        adapt={"begin": each_dimension, "end": each_dimension, "step": each_dimension},
        note="indexing with slices, a view",
    ),
}


# Rows looked up by index in NumPy, and indices spread into rows.


def one_hot(indices: Any, depth: int, dtype: Any) -> Any:
    """Return zeros with a one placed for each index; `numpy.eye(depth)[indices]` would make a depth x depth array."""
    spread = np.zeros((*indices.shape, depth), dtype)
    np.put_along_axis(spread, indices[..., np.newaxis], 1, axis=-1)
    return spread


def embedding_bag_sum(indices: Any, weight: Any) -> Any:
    """Return the sum of the rows of each bag."""
    return np.sum(np.take(weight, indices, axis=0), axis=-2)


def embedding_bag_mean(indices: Any, weight: Any) -> Any:
    """Return the mean of the rows of each bag."""
    return np.mean(np.take(weight, indices, axis=0), axis=-2)


_EMBEDDING: dict[str, Binding] = {
    "embedding": call("numpy.take", "a=weight, indices=indices", "axis=0"),
    "one_hot": composed(one_hot, "indices, depth, dtype", note="numpy.zeros and numpy.put_along_axis"),
    "embedding_bag_sum": composed(embedding_bag_sum, "indices, weight", note="numpy.take and numpy.sum"),
    "embedding_bag_mean": composed(embedding_bag_mean, "indices, weight", note="numpy.take and numpy.mean"),
}


BINDINGS: dict[str, Binding] = {
    **_INDEXING,
    **_EMBEDDING,
}
