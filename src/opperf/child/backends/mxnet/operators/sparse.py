"""Sparse matrices in MXNet: `CSRNDArray` and `RowSparseNDArray`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mxnet as mx

from opperf.child.backends.call import Adapt, Binding, call


def csr(data: Any) -> Any:
    """Return a matrix stored as compressed rows."""
    return data.tostype("csr")


def rows_of(values: str, rows: str, count: str = "count") -> Callable[[Mapping[str, Any]], Any]:
    """Return what makes a row-sparse array from whole rows and their places; it has as many rows as `count` says."""

    def make(made: Mapping[str, Any]) -> Any:
        total = made[count] if count in made else made["lhs"].shape[1]
        shape = (total, *made[values].shape[1:])
        return mx.nd.sparse.row_sparse_array((made[values], made[rows]), shape=shape, dtype=made[values].dtype)

    return make


LEFT: Mapping[str, Adapt] = {"lhs": csr}
BOTH: Mapping[str, Adapt] = {"lhs": csr, "rhs": csr}
ROWS = {"stored": rows_of("values", "rows")}

BINDINGS: dict[str, Binding] = {
    "to_csr": call("nd.sparse.cast_storage", "data", "stype='csr'"),
    "csr_to_dense": call("nd.sparse.cast_storage", "data", "stype='default'", adapt={"data": csr}),
    "csr_matmul": call("nd.sparse.dot", "lhs, rhs", adapt=LEFT),
    "csr_matmul_transposed": call(
        "nd.sparse.dot", "lhs, rhs", "transpose_a=True", adapt=LEFT, note="the result is row-sparse"
    ),
    "csr_add": call("nd.sparse.elemwise_add", "lhs, rhs", adapt=BOTH),
    "csr_multiply": call("nd.sparse.elemwise_mul", "lhs, rhs", adapt=BOTH),
    "csr_square": call("nd.sparse.square", "data", adapt={"data": csr}),
    "row_sparse_to_dense": call("nd.sparse.cast_storage", "data=stored", "stype='default'", derive=ROWS),
    "row_sparse_add": call(
        "nd.sparse.elemwise_add",
        "lhs=stored, rhs=more",
        derive={**ROWS, "more": rows_of("other_values", "other_rows")},
    ),
    "row_sparse_retain": call("nd.sparse.retain", "data=stored, indices=kept", derive=ROWS),
    "row_sparse_matmul": call("nd.sparse.dot", "lhs, rhs=stored", adapt=LEFT, derive=ROWS),
}
