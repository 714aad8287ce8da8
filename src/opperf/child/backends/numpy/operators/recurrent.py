"""Recurrent layers, sequences of unequal length, and segments in NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from opperf.child.backends.arrays.compositions import sequences
from opperf.child.backends.binding import Binding, call, composition, compositions, gaps


def rnn_tanh_cell(data: Any, hidden: Any, *weights: Any) -> Any:
    """Return the hyperbolic tangent of both products' sum."""
    return np.tanh(sum(_products(data, hidden, weights)))


def rnn_relu_cell(data: Any, hidden: Any, *weights: Any) -> Any:
    """Return both products' sum where above zero."""
    return np.maximum(sum(_products(data, hidden, weights)), 0)


def lstm_cell(data: Any, hidden: Any, cell: Any, *weights: Any) -> Any:
    """Return hidden and cell state after one step."""
    take, keep, candidate, give = np.split(sum(_products(data, hidden, weights)), 4, axis=-1)
    cell = _sigmoid(keep) * cell + _sigmoid(take) * np.tanh(candidate)
    return _sigmoid(give) * np.tanh(cell), cell


def gru_cell(data: Any, hidden: Any, *weights: Any) -> Any:
    """Return the hidden state after one step."""
    of_data, of_hidden = (np.split(product, 3, axis=-1) for product in _products(data, hidden, weights))
    reset, share = (_sigmoid(of_data[gate] + of_hidden[gate]) for gate in range(2))
    candidate_state = np.tanh(of_data[2] + reset * of_hidden[2])
    return (1 - share) * candidate_state + share * hidden


def _sigmoid(values: Any) -> Any:
    return 1 / (1 + np.exp(-values))


def _products(data: Any, hidden: Any, weights: tuple[Any, ...]) -> tuple[Any, Any]:
    of_input, of_hidden, bias_input, bias_hidden = weights
    return data @ of_input.T + bias_input, hidden @ of_hidden.T + bias_hidden


WEIGHTS = "weight_input, weight_hidden, bias_input, bias_hidden"
CELL = "two numpy.matmul and the functions of the gates"


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


def _range(arguments: Mapping[str, Any]) -> tuple[float, float]:
    return float(arguments["low"]), float(arguments["high"])


BINDINGS: dict[str, Binding] = {
    # One step of recurrent networks in NumPy, composed; a sequence would be a loop in Python.
    **{
        function.__name__: composition(function, f"data, {states}, {WEIGHTS}", note=CELL)
        for function, states in (
            (rnn_tanh_cell, "hidden"),
            (rnn_relu_cell, "hidden"),
            (lstm_cell, "hidden, cell"),
            (gru_cell, "hidden"),
        )
    },
    **gaps("NumPy has no recurrent layers; a loop over steps would measure Python", "rnn lstm gru bidirectional_lstm"),
    **sequences(np, "numpy"),
    # Sums, means, greatest and counts by index in NumPy.
    "bincount": call("numpy.bincount", "x=data", "minlength=count"),
    "histogram": call("numpy.histogram", "a=data", "bins=bins, range=range", derive={"range": _range}),
    "searchsorted": call("numpy.searchsorted", "a=data, v=values", adapt={"data": np.sort}),
    **compositions(
        segment_sum=(segment_sum, "numpy.zeros and numpy.add.at"),
        segment_mean=(segment_mean, "numpy.zeros, numpy.add.at, numpy.bincount, numpy.maximum and numpy.divide"),
        segment_max=(segment_max, "numpy.full and numpy.maximum.at"),
        index_add=(index_add, "numpy.copy and numpy.add.at"),
        scatter_reduce_amax=(scatter_reduce_amax, "numpy.copy, numpy.indices and numpy.maximum.at"),
    ),
}
