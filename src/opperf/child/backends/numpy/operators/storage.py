"""Sparse and quantized arrays in NumPy."""

from __future__ import annotations

import numpy as np

from opperf.child.backends.binding import Binding, call, compositions, gaps

BINDINGS: dict[str, Binding] = {
    # Sparse matrices in NumPy: there are none.
    **gaps(
        "NumPy has no sparse arrays; SciPy has them",
        "to_csr csr_to_dense csr_matmul csr_matmul_transposed csr_add csr_multiply csr_square row_sparse_to_dense "
        "row_sparse_add row_sparse_retain row_sparse_matmul",
    ),
    # Eight bits in NumPy: arithmetic to and fro, and a product that BLAS has no part in.
    "int8_matmul": call("numpy.matmul", "x1=lhs, x2=rhs", "dtype='int32'"),
    **compositions(
        quantize_int8=(
            lambda data, scale, zero_point: np.clip(np.rint(data / scale) + zero_point, -128, 127).astype(np.int8),
            "numpy.divide, numpy.rint, numpy.add, numpy.clip and a cast; ties go to even",
        ),
        dequantize_int8=(
            lambda data, scale, zero_point: (data.astype(np.float32) - zero_point) * scale,
            "a cast, numpy.subtract and numpy.multiply",
        ),
    ),
}
