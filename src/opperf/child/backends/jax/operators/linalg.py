"""Products of matrices, and linear algebra in JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from opperf.child.backends.binding import Binding, call, compositions


def linear(data: Any, weight: Any, bias: Any) -> Any:
    """Return data weight^T + bias."""
    product = jnp.matmul(data, weight.T)
    return product if bias is None else product + bias


NEAR = "of the identity plus the data over n, precomputed"
SYMMETRIC = "of the mean of the data and its transpose, precomputed"


def near_identity(data: Any) -> Any:
    """Make a matrix that is well conditioned."""
    return jnp.eye(len(data), dtype=data.dtype) + data / len(data)


def symmetric(data: Any) -> Any:
    """Make a matrix that is symmetric."""
    return (data + data.T) / 2


BINDINGS: dict[str, Binding] = {
    # Products of matrices and vectors in JAX.
    "matmul": call("jax.numpy.matmul", "lhs, rhs", also=("jax.numpy.dot", "jax.lax.dot")),
    "matmul_transposed": call("jax.numpy.einsum", "'...ik,...jk->...ij', lhs, rhs"),
    "batch_matmul": call("jax.numpy.matmul", "lhs, rhs", also=("jax.lax.batch_matmul",)),
    "matrix_vector": call("jax.numpy.matmul", "lhs, rhs"),
    "outer": call("jax.numpy.outer", "lhs, rhs"),
    "dot": call("jax.numpy.dot", "lhs, rhs"),
    **compositions(linear=(linear, "jax.numpy.matmul with the weight's transpose, and a sum")),
    # Parts of matrices in JAX.
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
        "jax.scipy.linalg.solve_triangular", "matrix, right", "lower=True", adapt={"matrix": near_identity}, note=NEAR
    ),
    "lstsq": call("jax.numpy.linalg.lstsq", "matrix, right"),
    "kron": call("jax.numpy.kron", "lhs, rhs"),
    "tensordot": call("jax.numpy.tensordot", "lhs, rhs", "axes=axes"),
    **compositions(syrk=(lambda data: jnp.matmul(data, data.T), "jax.numpy.matmul with the transpose")),
}
