"""Products of matrices, and linear algebra in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.arrays.compositions import NEAR_IDENTITY, SYMMETRIC, matrices
from opperf.child.backends.binding import Binding, Missing, call, compositions, functions


def linear(data: Any, weight: Any, bias: Any) -> Any:
    """Return `data @ weight.T + bias`."""
    product = np.matmul(data, weight.T)
    return product if bias is None else np.add(product, bias)


def transposed(matrix: Any) -> Any:
    """Return a view with the last two dimensions exchanged; BLAS reads it as it lies."""
    return np.swapaxes(matrix, -1, -2)


near_identity, symmetric = matrices(np)

BINDINGS: dict[str, Binding] = {
    # NumPy's products of matrices and vectors; those of floating types are BLAS calls.
    **functions(
        "numpy",
        {
            ("x1=lhs, x2=rhs", ""): "matmul batch_matmul=matmul matrix_vector=matmul",
            ("a=lhs, b=rhs", ""): "outer dot kron",
            ("lhs, rhs", "axes=axes"): "tensordot",
            # Parts of matrices; the diagonal is a view.
            ("a=data", ""): "trace",
            ("a=data", "offset=offset"): "diagonal",
            ("m=data", "k=offset"): "triu tril",
            ("data", ""): "cholesky=linalg.cholesky qr=linalg.qr",
            ("data", "compute_uv=False"): "svd_values=linalg.svd",
            ("matrix, right", "rcond=None"): "lstsq=linalg.lstsq",
        },
    ),
    "matmul_transposed": call(
        "numpy.matmul",
        "x1=lhs, x2=rhs",
        adapt={"rhs": transposed},
        note="the right side is a transposed view, made in advance",
    ),
    **compositions(linear=(linear, "numpy.matmul with a transposed view, and numpy.add")),
    **functions(
        "numpy.linalg",
        {("data", ""): "inverse=inv determinant=det slogdet"},
        adapt={"data": near_identity},
        note=NEAR_IDENTITY,
    ),
    "eigh_values": call("numpy.linalg.eigvalsh", "data", adapt={"data": symmetric}, note=SYMMETRIC),
    "solve": call("numpy.linalg.solve", "matrix, right", adapt={"matrix": near_identity}, note=NEAR_IDENTITY),
    "triangular_solve": Missing("NumPy has no triangular solver; SciPy has one"),
    **compositions(
        syrk=(lambda data: np.matmul(data, data.T), "numpy.matmul with the transposed view, which it recognises")
    ),
}
