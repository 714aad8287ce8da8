"""Sums, means, greatest and counts by index in NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, call, composed


def segment_sum(data: Any, segments: Any, count: int) -> Any:
    """Return the sums, on zeros."""
    result = np.zeros((count, *data.shape[1:]), data.dtype)
    np.add.at(result, segments, data)
    return result


def segment_mean(data: Any, segments: Any, count: int) -> Any:
    """Return the sums over the counts."""
    counts = np.maximum(np.bincount(segments, minlength=count), 1)
    return segment_sum(data, segments, count) / counts[:, np.newaxis].astype(data.dtype)


def segment_max(data: Any, segments: Any, count: int) -> Any:
    """Return the greatest, on minus infinity."""
    result = np.full((count, *data.shape[1:]), -np.inf, data.dtype)
    np.maximum.at(result, segments, data)
    return result


def index_add(data: Any, indices: Any, updates: Any) -> Any:
    """Return a copy with each row of the updates added at its index."""
    result = np.copy(data)
    np.add.at(result, indices, updates)
    return result


def scatter_reduce_amax(data: Any, indices: Any, updates: Any, axis: int) -> Any:
    """Return the greatest of the data and each update at its index along the axis."""
    places = list(np.indices(indices.shape, sparse=True))
    places[axis] = indices
    result = np.copy(data)
    np.maximum.at(result, tuple(places), updates)
    return result


def _range(made: Mapping[str, Any]) -> tuple[float, float]:
    return float(made["low"]), float(made["high"])


SEGMENTED = "data, segments, count"

BINDINGS: dict[str, Binding] = {
    "segment_sum": composed(segment_sum, SEGMENTED, note="numpy.zeros and numpy.add.at"),
    "segment_mean": composed(
        segment_mean, SEGMENTED, note="numpy.zeros, numpy.add.at, numpy.bincount, numpy.maximum and numpy.divide"
    ),
    "segment_max": composed(segment_max, SEGMENTED, note="numpy.full and numpy.maximum.at"),
    "index_add": composed(index_add, "data, indices, updates", note="numpy.copy and numpy.add.at"),
    "scatter_reduce_amax": composed(
        scatter_reduce_amax, "data, indices, updates, axis", note="numpy.copy, numpy.indices and numpy.maximum.at"
    ),
    "bincount": call("numpy.bincount", "x=data", "minlength=count"),
    "histogram": call("numpy.histogram", "a=data", "bins=bins, range=range", derive={"range": _range}),
    "searchsorted": call("numpy.searchsorted", "a=data, v=values", adapt={"data": np.sort}),
}
