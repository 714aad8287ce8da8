"""PyTorch's products of matrices and vectors."""

from __future__ import annotations

from typing import Any

import torch

from opperf.child.backends.call import Binding, call, composed
from opperf.child.backends.torch.functions import elsewhere


def matmul_transposed(lhs: Any, rhs: Any) -> Any:
    """Return the product with the transposed right matrix, as users write it; `linear` would do for one matrix only."""
    return torch.matmul(lhs, rhs.mT)


BINDINGS: dict[str, Binding] = {
    "matmul": call("torch.matmul", "input=lhs, other=rhs", also=("torch.mm", *elsewhere("matmul"), *elsewhere("mm"))),
    "matmul_transposed": composed(matmul_transposed, "lhs, rhs", note="torch.matmul of a transposed view"),
    "batch_matmul": call("torch.bmm", "input=lhs, mat2=rhs", also=elsewhere("bmm")),
    "linear": call("torch.nn.functional.linear", "input=data, weight=weight, bias=bias"),
    "matrix_vector": call("torch.mv", "input=lhs, vec=rhs"),
    "outer": call("torch.outer", "input=lhs, vec2=rhs"),
    "dot": call("torch.dot", "input=lhs, tensor=rhs"),
}
