"""Products of matrices, and linear algebra in PyTorch."""

from __future__ import annotations

from typing import Any

import torch

from opperf.child.backends.binding import Binding, call, compositions
from opperf.child.backends.torch.functions import other_paths

NEAR = "of the identity plus the data over n, precomputed"
SYMMETRIC = "of the mean of the data and its transpose, precomputed"


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
    "linear": call("torch.nn.functional.linear", "input=data, weight=weight, bias=bias"),
    "matrix_vector": call("torch.mv", "input=lhs, vec=rhs"),
    "outer": call("torch.outer", "input=lhs, vec2=rhs"),
    "dot": call("torch.dot", "input=lhs, tensor=rhs"),
    **compositions(matmul_transposed=(lambda lhs, rhs: torch.matmul(lhs, rhs.mT), "torch.matmul of a transposed view")),
    # PyTorch's parts of matrices, products of special form, systems of equations and decompositions.
    "trace": call("torch.trace", "input=data"),
    "diagonal": call("torch.diagonal", "input=data", "offset=offset"),
    "triu": call("torch.triu", "input=data", "diagonal=offset"),
    "tril": call("torch.tril", "input=data", "diagonal=offset"),
    "cholesky": call("torch.linalg.cholesky", "data"),
    "inverse": call("torch.linalg.inv", "data", adapt={"data": near_identity}, note=NEAR),
    "determinant": call("torch.linalg.det", "data", adapt={"data": near_identity}, note=NEAR),
    "slogdet": call("torch.linalg.slogdet", "data", adapt={"data": near_identity}, note=NEAR),
    "qr": call("torch.linalg.qr", "data"),
    "svd_values": call("torch.linalg.svdvals", "data"),
    "eigh_values": call("torch.linalg.eigvalsh", "data", adapt={"data": symmetric}, note=SYMMETRIC),
    "solve": call("torch.linalg.solve", "matrix, right", adapt={"matrix": near_identity}, note=NEAR),
    "triangular_solve": call(
        "torch.linalg.solve_triangular", "matrix, right", "upper=False", adapt={"matrix": near_identity}, note=NEAR
    ),
    "lstsq": call("torch.linalg.lstsq", "matrix, right"),
    "kron": call("torch.kron", "input=lhs, other=rhs"),
    "tensordot": call("torch.tensordot", "a=lhs, b=rhs", "dims=axes"),
    **compositions(syrk=(lambda data: torch.mm(data, data.T), "torch.mm with the transposed view")),
}
