"""NumPy's products of matrices and vectors; those of floating types are BLAS calls."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, call, composed


def linear(data: Any, weight: Any, bias: Any) -> Any:
    """Return `data @ weight.T + bias`."""
    product = np.matmul(data, weight.T)
    return product if bias is None else np.add(product, bias)


def transposed(matrix: Any) -> Any:
    """Return a view with the last two dimensions exchanged; BLAS reads it as it lies."""
    return np.swapaxes(matrix, -1, -2)


PRODUCT = call("numpy.matmul", "x1=lhs, x2=rhs")

BINDINGS: dict[str, Binding] = {
    "matmul": PRODUCT,
    "matmul_transposed": call(
        "numpy.matmul",
        "x1=lhs, x2=rhs",
        adapt={"rhs": transposed},
        note="the right side is a transposed view, made beforehand",
    ),
    "batch_matmul": PRODUCT,
    "linear": composed(linear, "data, weight, bias", note="numpy.matmul with a transposed view, and numpy.add"),
    "matrix_vector": PRODUCT,
    "outer": call("numpy.outer", "a=lhs, b=rhs"),
    "dot": call("numpy.dot", "a=lhs, b=rhs"),
}
