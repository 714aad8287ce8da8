"""Products of matrices, and linear algebra in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.binding import Binding, Missing, call, compositions


def linear(data: Any, weight: Any, bias: Any) -> Any:
    """Return `data @ weight.T + bias`."""
    product = np.matmul(data, weight.T)
    return product if bias is None else np.add(product, bias)


def transposed(matrix: Any) -> Any:
    """Return a view with the last two dimensions exchanged; BLAS reads it as it lies."""
    return np.swapaxes(matrix, -1, -2)


PRODUCT = call("numpy.matmul", "x1=lhs, x2=rhs")


NEAR = "of the identity plus the data over n, precomputed"
SYMMETRIC = "of the mean of the data and its transpose, precomputed"


def near_identity(data: Any) -> Any:
    """Make a matrix that is well conditioned."""
    return np.eye(len(data), dtype=data.dtype) + data / len(data)


def symmetric(data: Any) -> Any:
    """Make a matrix that is symmetric."""
    return (data + data.T) / 2


BINDINGS: dict[str, Binding] = {
    # NumPy's products of matrices and vectors; those of floating types are BLAS calls.
    "matmul": PRODUCT,
    "matmul_transposed": call(
        "numpy.matmul",
        "x1=lhs, x2=rhs",
        adapt={"rhs": transposed},
        note="the right side is a transposed view, made in advance",
    ),
    "batch_matmul": PRODUCT,
    "matrix_vector": PRODUCT,
    "outer": call("numpy.outer", "a=lhs, b=rhs"),
    "dot": call("numpy.dot", "a=lhs, b=rhs"),
    **compositions(linear=(linear, "numpy.matmul with a transposed view, and numpy.add")),
    # Parts of matrices in NumPy; the diagonal is a view.
    "trace": call("numpy.trace", "a=data"),
    "diagonal": call("numpy.diagonal", "a=data", "offset=offset"),
    "triu": call("numpy.triu", "m=data", "k=offset"),
    "tril": call("numpy.tril", "m=data", "k=offset"),
    "cholesky": call("numpy.linalg.cholesky", "data"),
    "inverse": call("numpy.linalg.inv", "data", adapt={"data": near_identity}, note=NEAR),
    "determinant": call("numpy.linalg.det", "data", adapt={"data": near_identity}, note=NEAR),
    "slogdet": call("numpy.linalg.slogdet", "data", adapt={"data": near_identity}, note=NEAR),
    "qr": call("numpy.linalg.qr", "data"),
    "svd_values": call("numpy.linalg.svd", "data", "compute_uv=False"),
    "eigh_values": call("numpy.linalg.eigvalsh", "data", adapt={"data": symmetric}, note=SYMMETRIC),
    "solve": call("numpy.linalg.solve", "matrix, right", adapt={"matrix": near_identity}, note=NEAR),
    "triangular_solve": Missing("NumPy has no triangular solver; SciPy has one"),
    "lstsq": call("numpy.linalg.lstsq", "matrix, right", "rcond=None"),
    "kron": call("numpy.kron", "a=lhs, b=rhs"),
    "tensordot": call("numpy.tensordot", "lhs, rhs", "axes=axes"),
    **compositions(
        syrk=(lambda data: np.matmul(data, data.T), "numpy.matmul with the transposed view, which it recognises")
    ),
}
