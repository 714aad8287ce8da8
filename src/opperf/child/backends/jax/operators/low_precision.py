"""Products of numbers in four and eight bits, in JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from opperf.child.backends.arrays.serving import EXPONENT, MOST_FLOAT8, quantized
from opperf.child.backends.binding import Binding, compositions


def float8_matmul(lhs: Any, rhs: Any, lhs_scale: Any, rhs_scale: Any) -> Any:
    """Return the product, summed in the type of the scales."""
    return jnp.matmul(lhs, rhs.T, preferred_element_type=lhs_scale.dtype) * (lhs_scale * rhs_scale)


def block_quantize_float8(data: Any, block: int) -> Any:
    """Return floats of eight bits, and the scales of blocks, whose exponents are those of the largest less 8."""
    blocks = data.reshape(*data.shape[:-1], -1, block)
    exponents = jnp.frexp(jnp.max(jnp.abs(blocks), axis=-1))[1]
    scale = jnp.exp2((exponents - EXPONENT).astype(data.dtype))
    numbers = jnp.clip(blocks / scale[..., None], -MOST_FLOAT8, MOST_FLOAT8).astype(jnp.float8_e4m3fn)
    return numbers.reshape(data.shape), scale


BINDINGS: dict[str, Binding] = {
    **quantized(jnp, "jax.numpy"),
    **compositions(
        float8_matmul=(float8_matmul, "jax.numpy.matmul with `preferred_element_type`, and a product"),
        block_quantize_float8=(
            block_quantize_float8,
            "jax.numpy.abs, max, frexp and exp2, a quotient, jax.numpy.clip and a conversion",
        ),
    ),
}
