"""Recurrent layers, sequences of unequal length, and segments in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.arrays.compositions import histogram_range, places_along, sequences
from opperf.child.backends.arrays.recurrent import cells
from opperf.child.backends.binding import Binding, call, compositions, gaps


def product(values: Any, weight: Any, bias: Any) -> Any:
    """Return the product with the transposed weight, and the bias."""
    return values @ weight.T + bias


def sigmoid(values: Any) -> Any:
    return 1 / (1 + np.exp(-values))


def segment_sum(data: Any, segments: Any, count: int) -> Any:
    result = np.zeros((count, *data.shape[1:]), data.dtype)
    np.add.at(result, segments, data)
    return result


def segment_mean(data: Any, segments: Any, count: int) -> Any:
    counts = np.maximum(np.bincount(segments, minlength=count), 1)
    return segment_sum(data, segments, count) / counts[:, np.newaxis].astype(data.dtype)


def segment_max(data: Any, segments: Any, count: int) -> Any:
    result = np.full((count, *data.shape[1:]), -np.inf, data.dtype)
    np.maximum.at(result, segments, data)
    return result


def index_add(data: Any, indices: Any, updates: Any) -> Any:
    result = np.copy(data)
    np.add.at(result, indices, updates)
    return result


def scatter_reduce_amax(data: Any, indices: Any, updates: Any, axis: int) -> Any:
    result = np.copy(data)
    np.maximum.at(result, places_along(np, indices, axis), updates)
    return result


BINDINGS: dict[str, Binding] = {
    # One step of recurrent networks in NumPy, composed; a sequence would be a loop in Python.
    **cells(
        np,
        "two numpy.matmul and the functions of the gates",
        product=product,
        sigmoid=sigmoid,
        relu=lambda values: np.maximum(values, 0),
    ),
    **gaps("NumPy has no recurrent layers; a loop over steps would measure Python", "rnn lstm gru bidirectional_lstm"),
    **sequences(np, "numpy"),
    # Sums, means, greatest and counts by index in NumPy.
    "bincount": call("numpy.bincount", "x=data", "minlength=count"),
    "histogram": call("numpy.histogram", "a=data", "bins=bins, range=range", derive={"range": histogram_range}),
    "searchsorted": call("numpy.searchsorted", "a=data, v=values", adapt={"data": np.sort}),
    **compositions(
        segment_sum=(segment_sum, "numpy.zeros and numpy.add.at"),
        segment_mean=(segment_mean, "numpy.zeros, numpy.add.at, numpy.bincount, numpy.maximum and numpy.divide"),
        segment_max=(segment_max, "numpy.full and numpy.maximum.at"),
        index_add=(index_add, "numpy.copy and numpy.add.at"),
        scatter_reduce_amax=(scatter_reduce_amax, "numpy.copy, numpy.indices and numpy.maximum.at"),
    ),
}
