"""Products of matrices and vectors; a part of the family of linear algebra."""

from __future__ import annotations

from collections.abc import Mapping

from opperf.catalog.definition import (
    Formula,
    Operator,
    Outputs,
    broadcast,
    elements,
)
from opperf.catalog.formulas import like
from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

# Products of matrices and vectors.
#
# A product over a length K is K multiply-adds, so 2K operations, for each element of the result. A bias is where the
# sum starts, and so costs nothing more. The backward pass of a product is two products of the same work.

_Shape = tuple[int, ...]


def _meet(case: Case, left: int, right: int) -> None:
    if left != right:
        raise InputError(f"`{case.operator}` multiplies along {left} and {right} elements, which must be equal")


def _matmul(case: Case) -> tuple[TensorSpec, ...]:
    # NumPy's rule: leading dimensions broadcast, a vector is a matrix with the missing dimension dropped afterwards.
    lhs, rhs = case.tensor("lhs"), case.tensor("rhs")
    left = (1, *lhs.shape) if len(lhs.shape) == 1 else lhs.shape
    right = (*rhs.shape, 1) if len(rhs.shape) == 1 else rhs.shape
    _meet(case, left[-1], right[-2])
    rows = () if len(lhs.shape) == 1 else left[-2:-1]
    columns = () if len(rhs.shape) == 1 else right[-1:]
    return (like(lhs, broadcast(left[:-2], right[:-2]) + rows + columns),)


def _transpose(case: Case) -> tuple[TensorSpec, ...]:
    lhs, rhs = case.tensor("lhs"), case.tensor("rhs")
    _meet(case, lhs.shape[-1], rhs.shape[-1])
    return (like(lhs, (*broadcast(lhs.shape[:-2], rhs.shape[:-2]), lhs.shape[-2], rhs.shape[-2])),)


def _linear(case: Case) -> tuple[TensorSpec, ...]:
    data, weight = case.tensor("data"), case.tensor("weight")
    _meet(case, data.shape[-1], weight.shape[-1])
    return (like(data, (*data.shape[:-1], weight.shape[0])),)


def _outer(case: Case) -> tuple[TensorSpec, ...]:
    lhs = case.tensor("lhs")
    return (like(lhs, (lhs.elements, case.tensor("rhs").elements)),)


def _along_last(outputs: Outputs) -> Formula:
    """Return two operations for each element of the outputs and of the last dimension of the first input."""

    def flops(case: Case) -> int:
        first = next(case.tensors())
        return 2 * first.shape[-1] * elements(outputs(case))

    return flops


def _product(
    name: str,
    summary: str,
    shapes: Mapping[str, tuple[_Shape, ...]],
    *,
    outputs: Outputs = _matmul,
    inputs: tuple[str, ...] = ("lhs", "rhs"),
    flops: Formula | None = None,
    backward_flops: int = 2,
    aliases: tuple[str, ...] = (),
) -> Operator:
    sizes = {
        size: {role: TensorSpec(shape) for role, shape in zip(inputs, of_size, strict=True)}
        for size, of_size in shapes.items()
    }
    return Operator(
        name,
        "matmul",
        summary,
        sizes=sizes,
        outputs=outputs,
        flops=flops or _along_last(outputs),
        differentiable=inputs,
        backward_flops=backward_flops,
        aliases=aliases,
    )


OPERATORS = (
    _product(
        "matmul",
        "the matrix product (as NumPy: vectors and broadcast batches are allowed)",
        {
            "small": ((32, 32), (32, 32)),
            "common": ((512, 512), (512, 512)),
            "large": ((2048, 2048), (2048, 2048)),
            "skewed": ((8192, 64), (64, 64)),
        },
        aliases=("mm", "gemm"),
    ),
    _product(
        "matmul_transposed",
        "the matrix product with the right matrix transposed",
        {
            "small": ((32, 32), (32, 32)),
            "common": ((512, 512), (512, 512)),
            "large": ((2048, 2048), (2048, 2048)),
            "skewed": ((8192, 64), (64, 64)),
        },
        outputs=_transpose,
    ),
    _product(
        "batch_matmul",
        "the matrix product of each pair in a batch",
        {
            "small": ((4, 16, 16), (4, 16, 16)),
            "common": ((32, 128, 128), (32, 128, 128)),
            "large": ((64, 256, 256), (64, 256, 256)),
            "skewed": ((2048, 16, 32), (2048, 32, 16)),
        },
        aliases=("bmm", "batch_dot"),
    ),
    _product(
        "linear",
        "the product with the transposed weight (out, in), plus a bias",
        {
            "small": ((8, 32), (32, 32), (32,)),
            "common": ((128, 768), (768, 768), (768,)),
            "large": ((512, 1024), (4096, 1024), (4096,)),
            "skewed": ((8192, 64), (16, 64), (16,)),
        },
        outputs=_linear,
        inputs=("data", "weight", "bias"),
        aliases=("fully_connected", "dense"),
    ),
    _product(
        "matrix_vector",
        "the product of a matrix and a vector",
        {
            "small": ((32, 32), (32,)),
            "common": ((1024, 1024), (1024,)),
            "large": ((4096, 4096), (4096,)),
            "skewed": ((100_000, 10), (10,)),
        },
        aliases=("mv", "gemv"),
    ),
    _product(
        "outer",
        "the outer product of two vectors",
        {
            "small": ((32,), (32,)),
            "common": ((1024,), (1024,)),
            "large": ((4096,), (4096,)),
            "skewed": ((100_000,), (10,)),
        },
        outputs=_outer,
        flops=lambda case: elements(_outer(case)),
        # One multiplication each forwards; backwards two matrix-vector products of two operations each.
        backward_flops=4,
    ),
    _product(
        "dot",
        "the inner product of two vectors",
        # A vector has no second dimension to be skewed against: a prime length, which no vector width divides.
        {
            "small": ((1024,), (1024,)),
            "common": ((1_048_576,), (1_048_576,)),
            "large": ((16_777_216,), (16_777_216,)),
            "skewed": ((1_000_003,), (1_000_003,)),
        },
        # Backwards one multiplication for each element of both gradients.
        backward_flops=1,
        aliases=("inner",),
    ),
)
