"""Sparse and quantized arrays in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, Missing, call, composed

# Sparse matrices in NumPy: there are none.

DENSE = Missing("NumPy stores every element of an array; sparse ones are SciPy's")

_SPARSE: dict[str, Binding] = {
    "to_csr": DENSE,
    "csr_to_dense": DENSE,
    "csr_matmul": DENSE,
    "csr_matmul_transposed": DENSE,
    "csr_add": DENSE,
    "csr_multiply": DENSE,
    "csr_square": DENSE,
    "row_sparse_to_dense": DENSE,
    "row_sparse_add": DENSE,
    "row_sparse_retain": DENSE,
    "row_sparse_matmul": DENSE,
}


# Eight bits in NumPy: arithmetic to and fro, and a product that BLAS has no part in.


def quantize_int8(data: Any, scale: float, zero_point: int) -> Any:
    """Return the nearest numbers of eight bits."""
    return np.clip(np.rint(data / scale) + zero_point, -128, 127).astype(np.int8)


def dequantize_int8(data: Any, scale: float, zero_point: int) -> Any:
    """Return what eight bits stand for."""
    return (data.astype(np.float32) - zero_point) * scale


ARGUMENTS = "data, scale, zero_point"

_QUANTIZED: dict[str, Binding] = {
    "quantize_int8": composed(
        quantize_int8, ARGUMENTS, note="numpy.divide, numpy.rint, numpy.add, numpy.clip and a cast; ties go to even"
    ),
    "dequantize_int8": composed(dequantize_int8, ARGUMENTS, note="a cast, numpy.subtract and numpy.multiply"),
    "int8_matmul": call("numpy.matmul", "x1=lhs, x2=rhs", "dtype='int32'"),
}


BINDINGS: dict[str, Binding] = {
    **_SPARSE,
    **_QUANTIZED,
}
