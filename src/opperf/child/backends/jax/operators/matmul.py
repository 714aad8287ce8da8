"""Products of matrices and vectors in JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from opperf.child.backends.call import Binding, call, composed


def linear(data: Any, weight: Any, bias: Any) -> Any:
    """Return data weight^T + bias."""
    product = jnp.matmul(data, weight.T)
    return product if bias is None else product + bias


BINDINGS: dict[str, Binding] = {
    "matmul": call("jax.numpy.matmul", "lhs, rhs", also=("jax.numpy.dot", "jax.lax.dot")),
    "matmul_transposed": call("jax.numpy.einsum", "'...ik,...jk->...ij', lhs, rhs"),
    "batch_matmul": call("jax.numpy.matmul", "lhs, rhs", also=("jax.lax.batch_matmul",)),
    "linear": composed(linear, "data, weight, bias", note="jax.numpy.matmul with the weight's transpose, and a sum"),
    "matrix_vector": call("jax.numpy.matmul", "lhs, rhs"),
    "outer": call("jax.numpy.outer", "lhs, rhs"),
    "dot": call("jax.numpy.dot", "lhs, rhs"),
}
