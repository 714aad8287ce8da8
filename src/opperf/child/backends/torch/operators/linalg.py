"""Products of matrices, and linear algebra in PyTorch."""

from __future__ import annotations

from typing import Any

import torch

from opperf.child.backends.arrays.compositions import NEAR_IDENTITY, SYMMETRIC
from opperf.child.backends.binding import Binding, call, compositions, functions
from opperf.child.backends.torch.functions import other_paths


def near_identity(data: Any) -> Any:
    """Make a matrix that is well conditioned."""
    return torch.eye(len(data), dtype=data.dtype, device=data.device) + data / len(data)


def symmetric(data: Any) -> Any:
    """Make a matrix that is symmetric."""
    return (data + data.T) / 2


BINDINGS: dict[str, Binding] = {
    # PyTorch's products of matrices and vectors.
    "matmul": call(
        "torch.matmul", "input=lhs, other=rhs", also=("torch.mm", *other_paths("matmul"), *other_paths("mm"))
    ),
    "batch_matmul": call("torch.bmm", "input=lhs, mat2=rhs", also=other_paths("bmm")),
    **functions(
        "torch",
        {
            ("input=data, weight=weight, bias=bias", ""): "linear=nn.functional.linear",
            ("input=lhs, vec=rhs", ""): "matrix_vector=mv",
            ("input=lhs, vec2=rhs", ""): "outer",
            ("input=lhs, tensor=rhs", ""): "dot",
            ("input=lhs, other=rhs", ""): "kron",
            ("a=lhs, b=rhs", "dims=axes"): "tensordot",
            # Parts of matrices.
            ("input=data", "offset=offset"): "diagonal",
            ("input=data", "diagonal=offset"): "triu tril",
            ("data", ""): "cholesky=linalg.cholesky qr=linalg.qr svd_values=linalg.svdvals",
            ("matrix, right", ""): "lstsq=linalg.lstsq",
        },
    ),
    **compositions(matmul_transposed=(lambda lhs, rhs: torch.matmul(lhs, rhs.mT), "torch.matmul of a transposed view")),
    **functions(
        "torch.linalg",
        {("data", ""): "inverse=inv determinant=det slogdet"},
        adapt={"data": near_identity},
        note=NEAR_IDENTITY,
    ),
    "eigh_values": call("torch.linalg.eigvalsh", "data", adapt={"data": symmetric}, note=SYMMETRIC),
    **functions(
        "torch.linalg",
        {("matrix, right", ""): "solve", ("matrix, right", "upper=False"): "triangular_solve=solve_triangular"},
        adapt={"matrix": near_identity},
        note=NEAR_IDENTITY,
    ),
    **compositions(syrk=(lambda data: torch.mm(data, data.T), "torch.mm with the transposed view")),
}
