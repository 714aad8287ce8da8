"""Sparse and quantized arrays in MXNet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mxnet as mx

from opperf.child.backends.binding import Adapt, Binding, Missing, call
from opperf.child.backends.mxnet.spelling import composition

# Sparse matrices in MXNet: `CSRNDArray` and `RowSparseNDArray`.


def csr(data: Any) -> Any:
    """Return a matrix stored as compressed rows."""
    return data.tostype("csr")


def rows_of(values: str, rows: str, count: str = "count") -> Callable[[Mapping[str, Any]], Any]:
    """Return a function that makes a row-sparse array of `count` rows from whole rows and their places."""

    def make(arguments: Mapping[str, Any]) -> Any:
        total = arguments[count] if count in arguments else arguments["lhs"].shape[1]
        shape = (total, *arguments[values].shape[1:])
        return mx.nd.sparse.row_sparse_array(
            (arguments[values], arguments[rows]), shape=shape, dtype=arguments[values].dtype
        )

    return make


LEFT: Mapping[str, Adapt] = {"lhs": csr}
BOTH: Mapping[str, Adapt] = {"lhs": csr, "rhs": csr}
ROWS = {"stored": rows_of("values", "rows")}


# Eight bits in MXNet: arithmetic to and fro.


def quantize_int8(F: Any, data: Any, *, scale: float, zero_point: int) -> Any:
    """Take the nearest numbers of eight bits; `nd.contrib.quantize` knows ranges, no scale and zero point."""
    return F.cast(F.clip(F.rint(data / scale) + zero_point, a_min=-128, a_max=127), dtype="int8")


def dequantize_int8(F: Any, data: Any, *, scale: float, zero_point: int) -> Any:
    return (F.cast(data, dtype="float32") - zero_point) * scale


SETTINGS = "scale=scale, zero_point=zero_point"


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
        "nd.sparse.elemwise_add", "lhs=stored, rhs=more", derive={**ROWS, "more": rows_of("other_values", "other_rows")}
    ),
    "row_sparse_retain": call("nd.sparse.retain", "data=stored, indices=kept", derive=ROWS),
    "row_sparse_matmul": call("nd.sparse.dot", "lhs, rhs=stored", adapt=LEFT, derive=ROWS),
    "quantize_int8": composition(quantize_int8, note="a division, nd.rint, a sum, nd.clip and nd.cast; ties go down"),
    "dequantize_int8": composition(dequantize_int8, note="nd.cast, a difference and a product"),
    "int8_matmul": Missing(
        "MXNet multiplies matrices of floating types only; its quantized layers take ranges beside them and return such"
    ),
}
