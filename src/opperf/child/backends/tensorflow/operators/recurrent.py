"""Recurrent layers, sequences of unequal length, and segments in TensorFlow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from opperf.child.backends.binding import Binding, call, composition, compositions


def rnn_tanh_cell(data: Any, hidden: Any, *weights: Any) -> Any:
    """Return the hyperbolic tangent of both products' sum."""
    return tf.tanh(tf.add(*_products(data, hidden, weights)))


def rnn_relu_cell(data: Any, hidden: Any, *weights: Any) -> Any:
    """Return both products' sum where above zero."""
    return tf.nn.relu(tf.add(*_products(data, hidden, weights)))


def lstm_cell(data: Any, hidden: Any, cell: Any, *weights: Any) -> Any:
    """Return hidden and cell state after one step."""
    return _lstm(tf.add(*_products(data, hidden, weights)), cell)


def gru_cell(data: Any, hidden: Any, *weights: Any) -> Any:
    """Return the hidden state after one step."""
    return _gru(*_products(data, hidden, weights), hidden)


def rnn(data: Any, hidden: Any, *weights: Any) -> Any:
    """Return every hidden state, and the last."""
    state, steps = hidden[0], []
    for ready in _steps(data, weights):
        state = tf.tanh(ready + _product(state, weights[1], weights[3]))
        steps.append(state)
    return tf.stack(steps), state[None]


def gru(data: Any, hidden: Any, *weights: Any) -> Any:
    """Return every hidden state, and the last."""
    state, steps = hidden[0], []
    for ready in _steps(data, weights):
        state = _gru(ready, _product(state, weights[1], weights[3]), state)
        steps.append(state)
    return tf.stack(steps), state[None]


def lstm(data: Any, hidden: Any, cell: Any, *weights: Any) -> Any:
    """Return every hidden state, and the last states."""
    steps, last, memory = _lstm_over(data, hidden[0], cell[0], weights)
    return tf.stack(steps), last[None], memory[None]


def bidirectional_lstm(data: Any, hidden: Any, cell: Any, *weights: Any) -> Any:
    """Return the hidden states of both ways side by side, and the last states of both."""
    there = _lstm_over(data, hidden[0], cell[0], weights[:4])
    back = _lstm_over(tf.reverse(data, (0,)), hidden[1], cell[1], weights[4:])
    steps = tf.concat([tf.stack(there[0]), tf.stack(back[0][::-1])], axis=-1)
    return steps, tf.stack([there[1], back[1]]), tf.stack([there[2], back[2]])


def _lstm_over(data: Any, hidden: Any, cell: Any, weights: tuple[Any, ...]) -> tuple[list[Any], Any, Any]:
    steps = []
    for ready in _steps(data, weights):
        hidden, cell = _lstm(ready + _product(hidden, weights[1], weights[3]), cell)
        steps.append(hidden)
    return steps, hidden, cell


def _lstm(gates: Any, cell: Any) -> tuple[Any, Any]:
    take, keep, candidate, give = tf.split(gates, 4, axis=-1)
    cell = tf.sigmoid(keep) * cell + tf.sigmoid(take) * tf.tanh(candidate)
    return tf.sigmoid(give) * tf.tanh(cell), cell


def _gru(of_data: Any, of_hidden: Any, hidden: Any) -> Any:
    reset, update, candidate = tf.split(of_data, 3, axis=-1)
    reset_hidden, update_hidden, candidate_hidden = tf.split(of_hidden, 3, axis=-1)
    share = tf.sigmoid(update + update_hidden)
    candidate_state = tf.tanh(candidate + tf.sigmoid(reset + reset_hidden) * candidate_hidden)
    return (1 - share) * candidate_state + share * hidden


def _product(values: Any, weight: Any, bias: Any) -> Any:
    return tf.matmul(values, weight, transpose_b=True) + bias


def _products(data: Any, hidden: Any, weights: tuple[Any, ...]) -> tuple[Any, Any]:
    return _product(data, weights[0], weights[2]), _product(hidden, weights[1], weights[3])


def _steps(data: Any, weights: tuple[Any, ...]) -> list[Any]:
    """Return the product of every step, of which TensorFlow multiplies all at once."""
    rows = _product(tf.reshape(data, (-1, data.shape[2])), weights[0], weights[2])
    steps: list[Any] = tf.unstack(tf.reshape(rows, (*data.shape[:2], -1)))
    return steps


WEIGHTS = "weight_input, weight_hidden, bias_input, bias_hidden"
WAY_BACK = "reverse_weight_input, reverse_weight_hidden, reverse_bias_input, reverse_bias_hidden"
CELL = "two products and the functions of the gates"
LAYER = "a product of the sequence, and a loop over the steps in Python, which a program unrolls"


def sequence_mask(data: Any, lengths: Any, value: float) -> Any:
    """Return the data with what lies beyond the lengths filled."""
    within = tf.transpose(tf.sequence_mask(lengths, data.shape[0]))
    return tf.where(within[..., None], data, tf.constant(value, data.dtype))


def sequence_last(data: Any, lengths: Any) -> Any:
    """Return the last element of each sequence."""
    return tf.gather_nd(data, tf.stack([lengths - 1, tf.range(data.shape[1], dtype=lengths.dtype)], axis=1))


def segment_max(data: Any, segments: Any, count: int) -> Any:
    """Return the greatest rows; TensorFlow's are the lowest number where a segment is empty."""
    greatest = tf.math.unsorted_segment_max(data, segments, count)
    return tf.where(greatest == data.dtype.min, tf.constant(float("-inf"), data.dtype), greatest)


def places_along(indices: Any, axis: int) -> Any:
    """Return the whole places of elements whose place along one axis is given."""
    grid = tf.meshgrid(*(tf.range(size, dtype=indices.dtype) for size in indices.shape), indexing="ij")
    grid[axis] = indices
    return tf.stack(grid, axis=-1)


def _range(arguments: Mapping[str, Any]) -> list[float]:
    return [float(arguments["low"]), float(arguments["high"])]


BINDINGS: dict[str, Binding] = {
    # Sequences of unequal length in TensorFlow.
    **compositions(
        sequence_mask=(sequence_mask, "tf.sequence_mask, a transpose and tf.where"),
        sequence_last=(sequence_last, "tf.range, tf.stack and tf.gather_nd"),
    ),
    "sequence_reverse": call("tf.reverse_sequence", "data, lengths", "seq_axis=0, batch_axis=1"),
    # TensorFlow's sums, means, greatest and counts by index.
    "segment_sum": call("tf.math.unsorted_segment_sum", "data, segments", "num_segments=count"),
    "segment_mean": call("tf.math.unsorted_segment_mean", "data, segments", "num_segments=count"),
    "bincount": call("tf.math.bincount", "data", "minlength=count, maxlength=count"),
    "histogram": call(
        "tf.histogram_fixed_width",
        "data",
        "value_range=range, nbins=bins, dtype=dtype",
        derive={"range": _range, "dtype": lambda arguments: tf.int32},
    ),
    "searchsorted": call("tf.searchsorted", "data, values", adapt={"data": tf.sort}),
    **compositions(
        segment_max=(segment_max, "tf.math.unsorted_segment_max, a comparison and tf.where"),
        index_add=(
            lambda data, indices, updates: tf.tensor_scatter_nd_add(data, indices[:, None], updates),
            "tf.tensor_scatter_nd_add",
        ),
        scatter_reduce_amax=(
            lambda data, indices, updates, axis: tf.tensor_scatter_nd_max(data, places_along(indices, axis), updates),
            "tf.meshgrid, tf.stack and tf.tensor_scatter_nd_max",
        ),
    ),
    # Recurrent cells and layers in TensorFlow.
    **{
        function.__name__: composition(function, f"data, {tensors}", note=note)
        for function, tensors, note in (
            (rnn_tanh_cell, f"hidden, {WEIGHTS}", CELL),
            (rnn_relu_cell, f"hidden, {WEIGHTS}", CELL),
            (lstm_cell, f"hidden, cell, {WEIGHTS}", CELL),
            (gru_cell, f"hidden, {WEIGHTS}", CELL),
            (rnn, f"hidden, {WEIGHTS}", LAYER),
            (lstm, f"hidden, cell, {WEIGHTS}", LAYER),
            (gru, f"hidden, {WEIGHTS}", LAYER),
            (bidirectional_lstm, f"hidden, cell, {WEIGHTS}, {WAY_BACK}", f"twice {LAYER}"),
        )
    },
}
