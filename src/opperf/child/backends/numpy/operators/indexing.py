"""Indexing and embeddings in NumPy."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from opperf.child.backends.arrays.compositions import lookups, places_along, rows_of, slicing
from opperf.child.backends.binding import Binding, call, composition, compositions, functions


def scatter_add(data: Any, indices: Any, updates: Any, axis: int) -> Any:
    """Return a copy with each update added at its index along `axis`."""
    result = np.copy(data)
    np.add.at(result, places_along(np, indices, axis), updates)
    return result


def one_hot(indices: Any, depth: int, dtype: Any) -> Any:
    """Return zeros with a one placed for each index; `numpy.eye(depth)[indices]` would make a depth x depth array."""
    spread = np.zeros((*indices.shape, depth), dtype)
    np.put_along_axis(spread, indices[..., np.newaxis], 1, axis=-1)
    return spread


BINDINGS: dict[str, Binding] = {
    # Elements picked or placed in NumPy by index, range or mask.
    **functions(
        "numpy",
        {
            ("a=data, indices=indices", "axis=axis"): "take index_select=take",
            ("arr=data, indices=indices", "axis=axis"): "gather=take_along_axis",
            ("condition=condition, x=lhs, y=rhs", ""): "where",
            ("condition=mask, x=value, y=data", ""): "masked_fill=where",
            ("a=weight, indices=indices", "axis=0"): "embedding=take",
        },
    ),
    "ravel_multi_index": call("numpy.ravel_multi_index", "multi_index=indices, dims=shape", adapt={"indices": tuple}),
    "gather_nd": composition(
        operator.getitem, "data, indices", adapt={"indices": tuple}, note="indexing with a tuple of index arrays"
    ),
    **slicing("indexing with slices, a view"),
    **lookups(np, "numpy"),
    **compositions(
        scatter_add=(scatter_add, "numpy.copy, numpy.indices and numpy.add.at"),
    ),
    # Rows looked up by index in NumPy, and indices spread into rows.
    **compositions(
        one_hot=(one_hot, "numpy.zeros and numpy.put_along_axis"),
    ),
    **rows_of(
        lambda weight, indices: np.take(weight, indices, axis=0),
        "numpy.take",
        sum=(np.sum, "numpy.sum"),
        mean=(np.mean, "numpy.mean"),
    ),
}
