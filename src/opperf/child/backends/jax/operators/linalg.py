"""Products of matrices, and linear algebra in JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from opperf.child.backends.call import Binding, call, composed

# Products of matrices and vectors in JAX.


def linear(data: Any, weight: Any, bias: Any) -> Any:
    """Return data weight^T + bias."""
    product = jnp.matmul(data, weight.T)
    return product if bias is None else product + bias


_MATMUL: dict[str, Binding] = {
    "matmul": call("jax.numpy.matmul", "lhs, rhs", also=("jax.numpy.dot", "jax.lax.dot")),
    "matmul_transposed": call("jax.numpy.einsum", "'...ik,...jk->...ij', lhs, rhs"),
    "batch_matmul": call("jax.numpy.matmul", "lhs, rhs", also=("jax.lax.batch_matmul",)),
    "linear": composed(linear, "data, weight, bias", note="jax.numpy.matmul with the weight's transpose, and a sum"),
    "matrix_vector": call("jax.numpy.matmul", "lhs, rhs"),
    "outer": call("jax.numpy.outer", "lhs, rhs"),
    "dot": call("jax.numpy.dot", "lhs, rhs"),
}


# Parts of matrices in JAX.

NEAR = "of the identity plus the data over n, made beforehand"
SYMMETRIC = "of the mean of the data and its transpose, made beforehand"


def near_identity(data: Any) -> Any:
    """Make a matrix that is well conditioned."""
    return jnp.eye(len(data), dtype=data.dtype) + data / len(data)


def symmetric(data: Any) -> Any:
    """Make a matrix that is symmetric."""
    return (data + data.T) / 2


def syrk(data: Any) -> Any:
    """Multiply with the transpose."""
    return jnp.matmul(data, data.T)


_LINALG: dict[str, Binding] = {
    "trace": call("jax.numpy.trace", "data"),
    "diagonal": call("jax.numpy.diagonal", "data", "offset=offset"),
    "triu": call("jax.numpy.triu", "data", "k=offset"),
    "tril": call("jax.numpy.tril", "data", "k=offset"),
    "cholesky": call("jax.numpy.linalg.cholesky", "data"),
    "inverse": call("jax.numpy.linalg.inv", "data", adapt={"data": near_identity}, note=NEAR),
    "determinant": call("jax.numpy.linalg.det", "data", adapt={"data": near_identity}, note=NEAR),
    "slogdet": call("jax.numpy.linalg.slogdet", "data", adapt={"data": near_identity}, note=NEAR),
    "qr": call("jax.numpy.linalg.qr", "data"),
    "svd_values": call("jax.numpy.linalg.svdvals", "data"),
    "eigh_values": call("jax.numpy.linalg.eigvalsh", "data", adapt={"data": symmetric}, note=SYMMETRIC),
    "solve": call("jax.numpy.linalg.solve", "matrix, right", adapt={"matrix": near_identity}, note=NEAR),
    "triangular_solve": call(
        "jax.scipy.linalg.solve_triangular",
        "matrix, right",
        "lower=True",
        adapt={"matrix": near_identity},
        note=NEAR,
    ),
    "lstsq": call("jax.numpy.linalg.lstsq", "matrix, right"),
    "kron": call("jax.numpy.kron", "lhs, rhs"),
    "tensordot": call("jax.numpy.tensordot", "lhs, rhs", "axes=axes"),
    "syrk": composed(syrk, "data", note="jax.numpy.matmul with the transpose"),
}


BINDINGS: dict[str, Binding] = {
    **_MATMUL,
    **_LINALG,
}
