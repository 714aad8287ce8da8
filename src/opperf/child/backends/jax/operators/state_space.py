"""Selective state spaces in JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from opperf.child.backends.arrays.serving import states
from opperf.child.backends.binding import Binding, compositions


def selective_scan(data: Any, step: Any, decay: Any, input_weight: Any, output_weight: Any, skip: Any) -> Any:
    """Return the sequence, scanned along its length; states are never all in memory."""

    def advance(state: Any, inputs: tuple[Any, ...]) -> tuple[Any, Any]:
        row, size, comes_in, goes_out = inputs
        state = jnp.exp(size[..., None] * decay) * state + (size * row)[..., None] * comes_in[:, None]
        return state, jnp.matmul(state, goes_out[..., None])[..., 0]

    start = jnp.zeros((data.shape[0], *decay.shape), data.dtype)
    steps = tuple(jnp.swapaxes(tensor, 0, 1) for tensor in (data, step, input_weight, output_weight))
    return jnp.swapaxes(lax.scan(advance, start, steps)[1], 0, 1) + skip * data


def causal_conv1d(data: Any, weight: Any, bias: Any) -> Any:
    """Return the convolution of each channel, padded in the past alone."""
    channels, width = weight.shape
    result = lax.conv_general_dilated(data, weight[:, None], (1,), [(width - 1, 0)], feature_group_count=channels)
    return result + bias[:, None]


BINDINGS: dict[str, Binding] = {
    **states(jnp, "jax.numpy", True),
    **compositions(
        selective_scan=(selective_scan, "jax.lax.scan of jax.numpy.exp, products, sums and jax.numpy.matmul"),
        causal_conv1d=(causal_conv1d, "jax.lax.conv_general_dilated with as many groups as channels, and a sum"),
    ),
}
