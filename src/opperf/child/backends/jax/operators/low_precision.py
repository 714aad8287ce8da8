"""Products of numbers in four and eight bits, in JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from opperf.child.backends.arrays.serving import quantized
from opperf.child.backends.binding import Binding, compositions


def float8_matmul(lhs: Any, rhs: Any, lhs_scale: Any, rhs_scale: Any) -> Any:
    """Return the product, summed in the type of the scales."""
    return jnp.matmul(lhs, rhs.T, preferred_element_type=lhs_scale.dtype) * (lhs_scale * rhs_scale)


BINDINGS: dict[str, Binding] = {
    **quantized(jnp, "jax.numpy"),
    **compositions(float8_matmul=(float8_matmul, "jax.numpy.matmul with `preferred_element_type`, and a product")),
}
