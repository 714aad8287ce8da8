"""Sparse matrices in NumPy: there are none."""

from __future__ import annotations

from opperf.child.backends.call import Binding, Missing

DENSE = Missing("NumPy stores every element of an array; sparse ones are SciPy's")

BINDINGS: dict[str, Binding] = {
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
