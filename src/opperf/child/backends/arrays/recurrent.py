"""Recurrent cells and layers written once: the gates of a step, and a loop over steps that each framework has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from opperf.child.backends.binding import Binding, composition

Function: TypeAlias = Callable[..., Any]

WEIGHTS = "weight_input, weight_hidden, bias_input, bias_hidden"
WAY_BACK = "reverse_weight_input, reverse_weight_hidden, reverse_bias_input, reverse_bias_hidden"
#: The tensors beside the data, by cell and by layer.
CELLS = {
    "rnn_tanh_cell": f"hidden, {WEIGHTS}",
    "rnn_relu_cell": f"hidden, {WEIGHTS}",
    "lstm_cell": f"hidden, cell, {WEIGHTS}",
    "gru_cell": f"hidden, {WEIGHTS}",
}
LAYERS = {
    "rnn": f"hidden, {WEIGHTS}",
    "lstm": f"hidden, cell, {WEIGHTS}",
    "gru": f"hidden, {WEIGHTS}",
    "bidirectional_lstm": f"hidden, cell, {WEIGHTS}, {WAY_BACK}",
}


def lstm_step(gates: Sequence[Any], cell: Any, sigmoid: Function, tanh: Function) -> tuple[Any, Any]:
    """Return hidden and cell state after one step, of the four parts of both products' sum."""
    take, keep, candidate, give = gates
    cell = sigmoid(keep) * cell + sigmoid(take) * tanh(candidate)
    return sigmoid(give) * tanh(cell), cell


def gru_step(of_data: Sequence[Any], of_hidden: Sequence[Any], hidden: Any, sigmoid: Function, tanh: Function) -> Any:
    """Return the hidden state after one step, of the three parts of either product."""
    reset, update, candidate = of_data
    reset_hidden, update_hidden, candidate_hidden = of_hidden
    share = sigmoid(update + update_hidden)
    candidate_state = tanh(candidate + sigmoid(reset + reset_hidden) * candidate_hidden)
    return (1 - share) * candidate_state + share * hidden


def cells(np: Any, note: str, *, product: Function, sigmoid: Function, relu: Function) -> dict[str, Binding]:
    """Return the bindings of single steps; `product` is of values, a weight (out, in) and a bias."""

    def sums(data: Any, hidden: Any, weights: Sequence[Any]) -> Any:
        return product(data, weights[0], weights[2]) + product(hidden, weights[1], weights[3])

    def rnn_tanh_cell(data: Any, hidden: Any, *weights: Any) -> Any:
        return np.tanh(sums(data, hidden, weights))

    def rnn_relu_cell(data: Any, hidden: Any, *weights: Any) -> Any:
        return relu(sums(data, hidden, weights))

    def lstm_cell(data: Any, hidden: Any, cell: Any, *weights: Any) -> Any:
        return lstm_step(np.split(sums(data, hidden, weights), 4, axis=-1), cell, sigmoid, np.tanh)

    def gru_cell(data: Any, hidden: Any, *weights: Any) -> Any:
        of_data, of_hidden = product(data, weights[0], weights[2]), product(hidden, weights[1], weights[3])
        return gru_step(np.split(of_data, 3, axis=-1), np.split(of_hidden, 3, axis=-1), hidden, sigmoid, np.tanh)

    functions = (rnn_tanh_cell, rnn_relu_cell, lstm_cell, gru_cell)
    return {
        function.__name__: composition(function, f"data, {CELLS[function.__name__]}", note=note)
        for function in functions
    }


def layers(np: Any, note: str, *, run: Function, concatenate: Function, sigmoid: Function) -> dict[str, Binding]:
    """Return the bindings of whole layers.

    `run(data, states, weights, step, reverse=False)` goes over the sequence and returns every hidden state and the last
    states; `step` takes the products of the data and of the hidden state, and the states.
    """

    def rnn_states(of_data: Any, of_hidden: Any, states: tuple[Any]) -> tuple[Any]:
        return (np.tanh(of_data + of_hidden),)

    def gru_states(of_data: Any, of_hidden: Any, states: tuple[Any]) -> tuple[Any]:
        parts = np.split(of_data, 3, axis=-1), np.split(of_hidden, 3, axis=-1)
        return (gru_step(*parts, states[0], sigmoid, np.tanh),)

    def lstm_states(of_data: Any, of_hidden: Any, states: tuple[Any, Any]) -> tuple[Any, Any]:
        return lstm_step(np.split(of_data + of_hidden, 4, axis=-1), states[1], sigmoid, np.tanh)

    def rnn(data: Any, hidden: Any, *weights: Any) -> Any:
        steps, (last,) = run(data, (hidden[0],), weights, rnn_states)
        return steps, last[None]

    def gru(data: Any, hidden: Any, *weights: Any) -> Any:
        steps, (last,) = run(data, (hidden[0],), weights, gru_states)
        return steps, last[None]

    def lstm(data: Any, hidden: Any, cell: Any, *weights: Any) -> Any:
        steps, (last, memory) = run(data, (hidden[0], cell[0]), weights, lstm_states)
        return steps, last[None], memory[None]

    def bidirectional_lstm(data: Any, hidden: Any, cell: Any, *weights: Any) -> Any:
        there, states = run(data, (hidden[0], cell[0]), weights[:4], lstm_states)
        back, states_back = run(data, (hidden[1], cell[1]), weights[4:], lstm_states, reverse=True)
        return concatenate([there, back], axis=-1), *(np.stack(pair) for pair in zip(states, states_back, strict=True))

    return {
        function.__name__: composition(
            function,
            f"data, {LAYERS[function.__name__]}",
            note=f"twice {note}" if function is bidirectional_lstm else note,
        )
        for function in (rnn, lstm, gru, bidirectional_lstm)
    }
