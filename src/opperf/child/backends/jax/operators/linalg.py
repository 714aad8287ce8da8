"""Products of matrices, and linear algebra in JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from opperf.child.backends.arrays.compositions import NEAR_IDENTITY, SYMMETRIC, matrices
from opperf.child.backends.binding import Binding, call, compositions, functions


def linear(data: Any, weight: Any, bias: Any) -> Any:
    product = jnp.matmul(data, weight.T)
    return product if bias is None else product + bias


near_identity, symmetric = matrices(jnp)

BINDINGS: dict[str, Binding] = {
    # Products of matrices and vectors in JAX.
    "matmul": call("jax.numpy.matmul", "lhs, rhs", also=("jax.numpy.dot", "jax.lax.dot")),
    "matmul_transposed": call("jax.numpy.einsum", "'...ik,...jk->...ij', lhs, rhs"),
    "batch_matmul": call("jax.numpy.matmul", "lhs, rhs", also=("jax.lax.batch_matmul",)),
    **functions(
        "jax.numpy",
        {
            ("lhs, rhs", ""): "matrix_vector=matmul dot",
            ("lhs, rhs", "axes=axes"): "tensordot",
            # Parts of matrices in JAX.
            ("data", "offset=offset"): "diagonal",
            ("data", "k=offset"): "triu tril",
            ("data", ""): "cholesky=linalg.cholesky qr=linalg.qr svd_values=linalg.svdvals",
            ("matrix, right", ""): "lstsq=linalg.lstsq",
        },
    ),
    **compositions(linear=(linear, "jax.numpy.matmul with the weight's transpose, and a sum")),
    **functions(
        "jax.numpy.linalg",
        {("data", ""): "inverse=inv determinant=det slogdet"},
        adapt={"data": near_identity},
        note=NEAR_IDENTITY,
    ),
    "eigh_values": call("jax.numpy.linalg.eigvalsh", "data", adapt={"data": symmetric}, note=SYMMETRIC),
    "solve": call("jax.numpy.linalg.solve", "matrix, right", adapt={"matrix": near_identity}, note=NEAR_IDENTITY),
    "triangular_solve": call(
        "jax.scipy.linalg.solve_triangular",
        "matrix, right",
        "lower=True",
        adapt={"matrix": near_identity},
        note=NEAR_IDENTITY,
    ),
    **compositions(syrk=(lambda data: jnp.matmul(data, data.T), "jax.numpy.matmul with the transpose")),
}
