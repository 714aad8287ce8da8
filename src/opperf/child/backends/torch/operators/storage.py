"""Sparse and quantized arrays in PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from opperf.child.backends.binding import Adapt, Binding, Missing, call, composition, compositions


def csr(data: Any) -> Any:
    """Return a matrix stored as compressed rows."""
    return data.to_sparse_csr()


def csr_transposed(data: Any) -> Any:
    """Return the transpose of a matrix stored as compressed rows: a view of it, as compressed columns."""
    return data.to_sparse_csr().t()


def rows_of(values: str, rows: str) -> Callable[[Mapping[str, Any]], Any]:
    """Return a function that makes a tensor of coordinates from whole rows and their places."""

    def make(arguments: Mapping[str, Any]) -> Any:
        shape = (arguments["count"], *arguments[values].shape[1:])
        return torch.sparse_coo_tensor(arguments[rows].unsqueeze(0), arguments[values], shape, is_coalesced=True)

    return make


def row_sparse_retain(data: Any, rows: Any) -> Any:
    places = data.indices()
    mask = torch.isin(places[0], rows)
    return torch.sparse_coo_tensor(places[:, mask], data.values()[mask], data.shape, is_coalesced=True)


def csr_square(data: Any) -> Any:
    return data * data


LEFT: Mapping[str, Adapt] = {"lhs": csr}
BOTH: Mapping[str, Adapt] = {"lhs": csr, "rhs": csr}
DATA: Mapping[str, Adapt] = {"data": csr}
ROWS = {"stored": rows_of("values", "rows")}

BINDINGS: dict[str, Binding] = {
    # Sparse matrices in PyTorch: compressed rows, and coordinates of whole rows for row-sparse ones.
    "to_csr": call("torch.Tensor.to_sparse_csr", "self=data"),
    "csr_to_dense": call("torch.Tensor.to_dense", "self=data", adapt=DATA),
    "csr_matmul": call("torch.sparse.mm", "lhs, rhs", adapt=LEFT),
    "csr_matmul_transposed": call(
        "torch.sparse.mm", "lhs, rhs", adapt={"lhs": csr_transposed}, note="the transpose is a view, made in advance"
    ),
    "csr_add": call("torch.add", "input=lhs, other=rhs", adapt=BOTH),
    "csr_multiply": call("torch.mul", "input=lhs, other=rhs", adapt=BOTH),
    "csr_square": composition(csr_square, adapt=DATA, note="`data * data`"),
    "row_sparse_to_dense": call("torch.Tensor.to_dense", "self=stored", derive=ROWS),
    "row_sparse_add": call(
        "torch.add",
        "input=stored, other=more",
        derive={**ROWS, "more": rows_of("other_values", "other_rows")},
        note="in COO format with whole rows",
    ),
    "row_sparse_retain": composition(
        row_sparse_retain,
        "stored, kept",
        derive=ROWS,
        note="torch.isin, indexing with a mask, and torch.sparse_coo_tensor",
    ),
    "row_sparse_matmul": Missing("PyTorch multiplies COO matrices of numbers, not of whole rows"),
    # Eight bits in PyTorch: arithmetic to and fro, and the product that `torch.compile` and quantized models call.
    "int8_matmul": call("torch._int_mm", "self=lhs, mat2=rhs", also=("aten::_int_mm",)),
    **compositions(
        quantize_int8=(
            lambda data, scale, zero_point: torch.clamp(torch.round(data / scale) + zero_point, -128, 127).to(
                torch.int8
            ),
            "a division, torch.round, a sum, torch.clamp and a cast; ties go to even numbers",
        ),
        dequantize_int8=(
            lambda data, scale, zero_point: (data.to(torch.float32) - zero_point) * scale,
            "a cast, a difference and a product",
        ),
    ),
}
