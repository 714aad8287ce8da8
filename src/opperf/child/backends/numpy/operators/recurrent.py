"""One step of recurrent networks in NumPy, composed; a sequence would be a loop in Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, Missing, composed


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
    reset, kept = (_sigmoid(of_data[gate] + of_hidden[gate]) for gate in range(2))
    found = np.tanh(of_data[2] + reset * of_hidden[2])
    return (1 - kept) * found + kept * hidden


def _sigmoid(values: Any) -> Any:
    return 1 / (1 + np.exp(-values))


def _products(data: Any, hidden: Any, weights: tuple[Any, ...]) -> tuple[Any, Any]:
    of_input, of_hidden, bias_input, bias_hidden = weights
    return data @ of_input.T + bias_input, hidden @ of_hidden.T + bias_hidden


WEIGHTS = "weight_input, weight_hidden, bias_input, bias_hidden"
CELL = "two numpy.matmul and the functions of the gates"
LOOP = Missing("NumPy has no recurrent layers; a loop over steps would measure Python")

BINDINGS: dict[str, Binding] = {
    **{
        function.__name__: composed(function, f"data, {states}, {WEIGHTS}", note=CELL)
        for function, states in (
            (rnn_tanh_cell, "hidden"),
            (rnn_relu_cell, "hidden"),
            (lstm_cell, "hidden, cell"),
            (gru_cell, "hidden"),
        )
    },
    "rnn": LOOP,
    "lstm": LOOP,
    "gru": LOOP,
    "bidirectional_lstm": LOOP,
}
