"""MXNet's sums and counts by index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mxnet as mx

from opperf.child.backends.call import Binding, Missing, call
from opperf.child.backends.mxnet.spelling import Composition, Settled, composed

GREATEST = Missing("MXNet sums at indices, and has nothing that takes the greatest there")


def segment_sum(F: Any, data: Any, points: Any, *, shape: tuple[int, ...]) -> Any:
    """Sum the rows at their points, as the gradient of a gather does."""
    return F._internal._backward_gather_nd(data, points, shape=shape)


def segment_mean(F: Any, data: Any, points: Any, ones: Any, *, shape: tuple[int, ...]) -> Any:
    """Sum the rows at their points, and divide by how many there are."""
    counts = F._internal._backward_gather_nd(ones, points, shape=(shape[0], 1))
    return F.broadcast_div(segment_sum(F, data, points, shape=shape), F.clip(counts, a_min=1, a_max=float("inf")))


def index_add(F: Any, data: Any, points: Any, updates: Any, *, shape: tuple[int, ...]) -> Any:
    """Sum the updates at their points, and add that to the data."""
    return data + F._internal._backward_gather_nd(updates, points, shape=shape)


def _sum(data: Any, segments: Any, count: int) -> Settled:
    return Composition(segment_sum), (data, _points(segments)), {"shape": (count, data.shape[1])}


def _mean(data: Any, segments: Any, count: int) -> Settled:
    ones = mx.nd.ones((data.shape[0], 1), ctx=data.context, dtype=data.dtype)
    return Composition(segment_mean), (data, _points(segments), ones), {"shape": (count, data.shape[1])}


def _add(data: Any, indices: Any, updates: Any) -> Settled:
    return Composition(index_add), (data, _points(indices), updates), {"shape": data.shape}


def _points(indices: Any) -> Any:
    return indices.reshape((1, -1))


def _range(case: Mapping[str, Any]) -> tuple[float, float]:
    return float(case["low"]), float(case["high"])


SEGMENTED = "data, segments, count"

BINDINGS: dict[str, Binding] = {
    "segment_sum": composed(
        segment_sum, SEGMENTED, note="nd._internal._backward_gather_nd, which sums rows at points", settle=_sum
    ),
    "segment_mean": composed(
        segment_mean,
        SEGMENTED,
        note="nd._internal._backward_gather_nd sums rows and ones at points; nd.clip and nd.broadcast_div",
        settle=_mean,
    ),
    "segment_max": GREATEST,
    "index_add": composed(
        index_add,
        "data, indices, updates",
        note="nd._internal._backward_gather_nd sums the updates at points, and a sum adds the data",
        settle=_add,
    ),
    "scatter_reduce_amax": GREATEST,
    "bincount": call("np.bincount", "x=data", "minlength=count"),
    "histogram": call("nd.histogram", "data", "bins=bins, range=range", derive={"range": _range}),
    "searchsorted": Missing("MXNet's own operators do not search; `np.searchsorted` is NumPy's, on a copy of the data"),
}
