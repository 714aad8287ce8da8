"""Recurrent layers, sequences of unequal length, and segments in JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax, nn

from opperf.child.backends.arrays.compositions import histogram_range, places_along, sequences
from opperf.child.backends.arrays.recurrent import cells, layers
from opperf.child.backends.binding import Binding, call, compositions


def product(values: Any, weight: Any, bias: Any) -> Any:
    """Return the product with the transposed weight, and the bias."""
    return values @ weight.T + bias


def run(data: Any, states: Any, weights: Any, step: Callable[..., Any], *, reverse: bool = False) -> tuple[Any, Any]:
    """Return every hidden state of a sequence, and the last states."""

    def advance(states: Any, of_data: Any) -> tuple[Any, Any]:
        states = step(of_data, product(states[0], weights[1], weights[3]), states)
        return states, states[0]

    last, steps = lax.scan(advance, states, product(data, weights[0], weights[2]), reverse=reverse)
    return steps, last


def segment_mean(data: Any, segments: Any, count: int) -> Any:
    counts = jnp.maximum(jnp.bincount(segments, length=count), 1)
    return jax.ops.segment_sum(data, segments, num_segments=count) / counts[:, None].astype(data.dtype)


def scatter_reduce_amax(data: Any, indices: Any, updates: Any, axis: int) -> Any:
    return data.at[places_along(jnp, indices, axis)].max(updates)


BINDINGS: dict[str, Binding] = {
    **sequences(jnp, "jax.numpy"),
    # JAX's sums, means, greatest and counts by index.
    "segment_sum": call("jax.ops.segment_sum", "data, segments", "num_segments=count"),
    "segment_max": call("jax.ops.segment_max", "data, segments", "num_segments=count"),
    "bincount": call("jax.numpy.bincount", "data", "length=count"),
    "histogram": call("jax.numpy.histogram", "data", "bins=bins, range=range", derive={"range": histogram_range}),
    "searchsorted": call("jax.numpy.searchsorted", "data, values", adapt={"data": jnp.sort}),
    **compositions(
        segment_mean=(segment_mean, "jax.ops.segment_sum, jax.numpy.bincount, maximum and a division"),
        index_add=(lambda data, indices, updates: data.at[indices].add(updates), "`data.at[indices].add(updates)`"),
        scatter_reduce_amax=(scatter_reduce_amax, "`data.at[...].max(updates)`"),
    ),
    **cells(jnp, "two products and the functions of the gates", product=product, sigmoid=nn.sigmoid, relu=nn.relu),
    **layers(
        jnp,
        "a product of the sequence, and jax.lax.scan over the steps",
        run=run,
        concatenate=jnp.concatenate,
        sigmoid=nn.sigmoid,
    ),
}
