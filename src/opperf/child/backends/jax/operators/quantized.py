"""Eight bits in JAX: arithmetic to and fro, and a product that says what it is summed in."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from opperf.child.backends.call import Binding, call, composed


def quantize_int8(data: Any, scale: float, zero_point: int) -> Any:
    """Return the nearest numbers of eight bits."""
    return jnp.clip(jnp.round(data / scale) + zero_point, -128, 127).astype(jnp.int8)


def dequantize_int8(data: Any, scale: float, zero_point: int) -> Any:
    """Return what eight bits stand for."""
    return (data.astype(jnp.float32) - zero_point) * scale


ARGUMENTS = "data, scale, zero_point"

BINDINGS: dict[str, Binding] = {
    "quantize_int8": composed(
        quantize_int8, ARGUMENTS, note="a division, jax.numpy.round, a sum, jax.numpy.clip and a cast; ties go to even"
    ),
    "dequantize_int8": composed(dequantize_int8, ARGUMENTS, note="a cast, a difference and a product"),
    "int8_matmul": call("jax.numpy.matmul", "lhs, rhs", "preferred_element_type='int32'"),
}
