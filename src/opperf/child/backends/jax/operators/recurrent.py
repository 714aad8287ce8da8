"""Recurrent layers, sequences of unequal length, and segments in JAX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax, nn

from opperf.child.backends.arrays.compositions import sequences
from opperf.child.backends.binding import Binding, call, composition, compositions


def rnn_tanh_cell(data: Any, hidden: Any, *weights: Any) -> Any:
    """Return the hyperbolic tangent of both products' sum."""
    return jnp.tanh(sum(_products(data, hidden, weights)))


def rnn_relu_cell(data: Any, hidden: Any, *weights: Any) -> Any:
    """Return both products' sum where above zero."""
    return nn.relu(sum(_products(data, hidden, weights)))


def lstm_cell(data: Any, hidden: Any, cell: Any, *weights: Any) -> Any:
    """Return hidden and cell state after one step."""
    return _lstm(sum(_products(data, hidden, weights)), cell)


def gru_cell(data: Any, hidden: Any, *weights: Any) -> Any:
    """Return the hidden state after one step."""
    return _gru(*_products(data, hidden, weights), hidden)


def rnn(data: Any, hidden: Any, *weights: Any) -> Any:
    """Return every hidden state, and the last."""

    def step(hidden: Any, ready: Any) -> tuple[Any, Any]:
        hidden = jnp.tanh(ready + _product(hidden, weights[1], weights[3]))
        return hidden, hidden

    last, steps = lax.scan(step, hidden[0], _product(data, weights[0], weights[2]))
    return steps, last[None]


def gru(data: Any, hidden: Any, *weights: Any) -> Any:
    """Return every hidden state, and the last."""

    def step(hidden: Any, ready: Any) -> tuple[Any, Any]:
        hidden = _gru(ready, _product(hidden, weights[1], weights[3]), hidden)
        return hidden, hidden

    last, steps = lax.scan(step, hidden[0], _product(data, weights[0], weights[2]))
    return steps, last[None]


def lstm(data: Any, hidden: Any, cell: Any, *weights: Any) -> Any:
    """Return every hidden state, and the last states."""
    steps, last, memory = _lstm_over(data, hidden[0], cell[0], weights)
    return steps, last[None], memory[None]


def bidirectional_lstm(data: Any, hidden: Any, cell: Any, *weights: Any) -> Any:
    """Return the hidden states of both ways side by side, and the last states of both."""
    there = _lstm_over(data, hidden[0], cell[0], weights[:4])
    back = _lstm_over(data, hidden[1], cell[1], weights[4:], reverse=True)
    return (
        jnp.concatenate([there[0], back[0]], axis=-1),
        jnp.stack([there[1], back[1]]),
        jnp.stack([there[2], back[2]]),
    )


def _lstm_over(data: Any, hidden: Any, cell: Any, weights: tuple[Any, ...], *, reverse: bool = False) -> Any:
    def step(states: tuple[Any, Any], ready: Any) -> tuple[tuple[Any, Any], Any]:
        states = _lstm(ready + _product(states[0], weights[1], weights[3]), states[1])
        return states, states[0]

    states, steps = lax.scan(step, (hidden, cell), _product(data, weights[0], weights[2]), reverse=reverse)
    return steps, *states


def _lstm(gates: Any, cell: Any) -> tuple[Any, Any]:
    take, keep, candidate, give = jnp.split(gates, 4, axis=-1)
    cell = nn.sigmoid(keep) * cell + nn.sigmoid(take) * jnp.tanh(candidate)
    return nn.sigmoid(give) * jnp.tanh(cell), cell


def _gru(of_data: Any, of_hidden: Any, hidden: Any) -> Any:
    reset, update, candidate = jnp.split(of_data, 3, axis=-1)
    reset_hidden, update_hidden, candidate_hidden = jnp.split(of_hidden, 3, axis=-1)
    share = nn.sigmoid(update + update_hidden)
    candidate_state = jnp.tanh(candidate + nn.sigmoid(reset + reset_hidden) * candidate_hidden)
    return (1 - share) * candidate_state + share * hidden


def _product(values: Any, weight: Any, bias: Any) -> Any:
    return values @ weight.T + bias


def _products(data: Any, hidden: Any, weights: tuple[Any, ...]) -> tuple[Any, Any]:
    return _product(data, weights[0], weights[2]), _product(hidden, weights[1], weights[3])


WEIGHTS = "weight_input, weight_hidden, bias_input, bias_hidden"
WAY_BACK = "reverse_weight_input, reverse_weight_hidden, reverse_bias_input, reverse_bias_hidden"
CELL = "two products and the functions of the gates"
LAYER = "a product of the sequence, and jax.lax.scan over the steps"


def _compose(function: Callable[..., Any], tensors: str, note: str) -> Binding:
    return composition(function, f"data, {tensors}", note=note)


_RECURRENT: dict[str, Binding] = {
    function.__name__: _compose(function, tensors, note)
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
}


def segment_mean(data: Any, segments: Any, count: int) -> Any:
    """Return the sums over the counts."""
    counts = jnp.maximum(jnp.bincount(segments, length=count), 1)
    return jax.ops.segment_sum(data, segments, num_segments=count) / counts[:, None].astype(data.dtype)


def scatter_reduce_amax(data: Any, indices: Any, updates: Any, axis: int) -> Any:
    """Return the greatest of the data and each update at its index along the axis."""
    places = list(jnp.indices(indices.shape, sparse=True))
    places[axis] = indices
    return data.at[tuple(places)].max(updates)


def _range(arguments: Mapping[str, Any]) -> tuple[float, float]:
    return float(arguments["low"]), float(arguments["high"])


BINDINGS: dict[str, Binding] = {
    **sequences(jnp, "jax.numpy"),
    # JAX's sums, means, greatest and counts by index.
    "segment_sum": call("jax.ops.segment_sum", "data, segments", "num_segments=count"),
    "segment_max": call("jax.ops.segment_max", "data, segments", "num_segments=count"),
    "bincount": call("jax.numpy.bincount", "data", "length=count"),
    "histogram": call("jax.numpy.histogram", "data", "bins=bins, range=range", derive={"range": _range}),
    "searchsorted": call("jax.numpy.searchsorted", "data, values", adapt={"data": jnp.sort}),
    **compositions(
        segment_mean=(segment_mean, "jax.ops.segment_sum, jax.numpy.bincount, maximum and a division"),
        index_add=(lambda data, indices, updates: data.at[indices].add(updates), "`data.at[indices].add(updates)`"),
        scatter_reduce_amax=(scatter_reduce_amax, "`data.at[...].max(updates)`"),
    ),
    **_RECURRENT,
}
