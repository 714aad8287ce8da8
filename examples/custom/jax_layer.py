"""A jitted function of one's own in JAX, which no operator of the catalog is: it brings sizes, a count and a reference.

opperf run examples.custom.jax_layer:dense_relu --framework jax --size small --size common
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

import opperf


def _plain(x, weight, bias):
    """Compute the same, one step at a time."""
    return jnp.maximum(jnp.dot(x, weight) + bias, 0)


@opperf.operator(
    framework="jax",
    sizes={
        "small": {"x": (8, 16), "weight": (16, 32), "bias": (32,)},
        "common": {"x": (256, 512), "weight": (512, 512), "bias": (512,)},
    },
    flops=lambda x, weight, bias: 2 * x[0] * weight[0] * weight[1] + 2 * x[0] * weight[1],
    reference=_plain,
)
@jax.jit
def dense_relu(x, weight, bias):
    """Multiply, add, cut off."""
    return jax.nn.relu(x @ weight + bias)
