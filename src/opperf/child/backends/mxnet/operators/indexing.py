"""Indexing and embeddings in MXNet."""

from __future__ import annotations

from typing import Any

import mxnet as mx
import numpy

from opperf.child.backends.binding import Binding, call
from opperf.child.backends.mxnet.spelling import CallSpec, Composition, adjust, composition, extent

# MXNet's operators that pick or place elements.


def gather(F: Any, data: Any, indices: Any, *places: Any, axis: int) -> Any:
    """Pick points: along `axis` by the indices, along the others by their own places."""
    return F.gather_nd(data, F.stack(*places[:axis], indices, *places[axis:], axis=0))


def scatter_add(F: Any, data: Any, indices: Any, updates: Any, *places: Any, axis: int, shape: Any) -> Any:
    """Sum the updates at their points, as the gradient of `gather` does, and add that to the data."""
    points = F.stack(*places[:axis], indices, *places[axis:], axis=0)
    return data + F._internal._backward_gather_nd(updates, points, shape=shape)


def _places(indices: Any, axis: int) -> list[Any]:
    """Return for each dimension but `axis` the place of every index along it; they depend on shapes alone."""
    grid = numpy.indices(indices.shape, dtype="int64")
    return [
        mx.nd.array(along, ctx=indices.context, dtype=indices.dtype)
        for dimension, along in enumerate(grid)
        if dimension != axis
    ]


def _gather(data: Any, indices: Any, axis: int) -> CallSpec:
    axis %= data.ndim
    return Composition(gather), (data, indices, *_places(indices, axis)), {"axis": axis}


def _scatter_add(data: Any, indices: Any, updates: Any, axis: int) -> CallSpec:
    axis %= data.ndim
    arrays = (data, indices, updates, *_places(indices, axis))
    return Composition(scatter_add), arrays, {"axis": axis, "shape": data.shape}


def _masked_fill(mask: Any, value: float, data: Any) -> CallSpec:
    # The value goes in as a tensor: beside a number, np.where sends its gradient to the wrong places.
    return "np.where", (mask, mx.nd.full((1,), value, ctx=data.context, dtype=data.dtype), data), {}


def _spread(value: Any) -> Any:
    return (value,) if value is None or isinstance(value, int) else value


# MXNet's embedding, and rows of one.


#: The size of the table, which MXNet wants to be told.
TABLE = {"rows": extent("weight", 0), "width": extent("weight", 1)}


def embedding_bag_sum(F: Any, indices: Any, weight: Any, *, rows: int, width: int) -> Any:
    return F.sum(F.Embedding(indices, weight, input_dim=rows, output_dim=width), axis=-2)


def embedding_bag_mean(F: Any, indices: Any, weight: Any, *, rows: int, width: int) -> Any:
    return F.mean(F.Embedding(indices, weight, input_dim=rows, output_dim=width), axis=-2)


BINDINGS: dict[str, Binding] = {
    # nd.take does not flatten.
    "take": call("np.take", "a=data, indices=indices", "axis=axis"),
    "index_select": call("nd.take", "a=data, indices=indices", "axis=axis"),
    "gather": composition(
        gather,
        "data, indices",
        "axis=axis",
        note="nd.stack of the indices with precomputed places, and nd.gather_nd",
        settle=_gather,
    ),
    "pick": call("nd.pick", "data, index=indices", "axis=axis"),
    "ravel_multi_index": call("nd.ravel_multi_index", "data=indices", "shape=shape"),
    "unravel_index": call("nd.unravel_index", "data=indices", "shape=shape"),
    "gather_nd": call("nd.gather_nd", "data, indices"),
    "scatter_add": composition(
        scatter_add,
        "data, indices, updates",
        "axis=axis",
        note="nd.stack makes points, nd._internal._backward_gather_nd sums the updates there, and a sum adds the data",
        settle=_scatter_add,
    ),
    # nd.where takes no truth values.
    "where": call("np.where", "condition=condition, x=lhs, y=rhs"),
    "masked_fill": adjust("np.where", "mask, value, data", settle=_masked_fill),
    "slice": call("nd.slice", "data", "begin, end, step", adapt={"begin": _spread, "end": _spread, "step": _spread}),
    "embedding": call(
        "nd.Embedding",
        "data=indices, weight=weight",
        "input_dim=rows, output_dim=width",
        derive=TABLE,
    ),
    "one_hot": call("nd.one_hot", "indices, depth", "dtype"),
    **{
        function.__name__: composition(
            function, "indices, weight", "rows=rows, width=width", derive=TABLE, note=f"nd.Embedding and {reduction}"
        )
        for function, reduction in ((embedding_bag_sum, "nd.sum"), (embedding_bag_mean, "nd.mean"))
    },
}
