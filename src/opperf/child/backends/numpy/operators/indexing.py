"""Elements picked or placed in NumPy by index, range or mask."""

from __future__ import annotations

import operator
from itertools import starmap, zip_longest
from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, call, composed


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


BINDINGS: dict[str, Binding] = {
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
