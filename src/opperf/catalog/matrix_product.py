"""Products of matrices and vectors; a part of the family of linear algebra."""

from __future__ import annotations

from opperf.catalog.definition import SIZES, Arguments, Formula, Operator, Outputs, broadcast, elements
from opperf.catalog.formulas import check_lengths, like, linear
from opperf.domain.case import Case
from opperf.domain.tensor import TensorSpec

# Products of matrices and vectors.
#
# A product over a length K is K multiply-adds, so 2K operations, for each element of the result. A bias is where the
# sum starts, and so costs nothing more. The backward pass of a product is two products of the same work.


def _matmul(case: Case) -> tuple[TensorSpec, ...]:
    # NumPy's rule: leading dimensions broadcast, a vector is a matrix with the missing dimension dropped afterwards.
    lhs, rhs = case.tensor("lhs"), case.tensor("rhs")
    left = (1, *lhs.shape) if len(lhs.shape) == 1 else lhs.shape
    right = (*rhs.shape, 1) if len(rhs.shape) == 1 else rhs.shape
    check_lengths(case, left[-1], right[-2])
    rows = () if len(lhs.shape) == 1 else left[-2:-1]
    columns = () if len(rhs.shape) == 1 else right[-1:]
    return (like(lhs, broadcast(left[:-2], right[:-2]) + rows + columns),)


def _transpose(case: Case) -> tuple[TensorSpec, ...]:
    lhs, rhs = case.tensor("lhs"), case.tensor("rhs")
    check_lengths(case, lhs.shape[-1], rhs.shape[-1])
    return (like(lhs, (*broadcast(lhs.shape[:-2], rhs.shape[:-2]), lhs.shape[-2], rhs.shape[-2])),)


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
    shapes: tuple[str, str, str, str],
    *,
    outputs: Outputs = _matmul,
    inputs: tuple[str, ...] = ("lhs", "rhs"),
    flops: Formula | None = None,
    backward_flops: int = 2,
    aliases: tuple[str, ...] = (),
) -> Operator:
    """Declare `name`; `shapes` are those of all inputs, as users write them, of each size class."""
    return Operator(
        name,
        "matmul",
        summary,
        sizes={size: _arguments(inputs, text) for size, text in zip(SIZES, shapes, strict=True)},
        outputs=outputs,
        flops=flops or _along_last(outputs),
        differentiable=inputs,
        backward_flops=backward_flops,
        aliases=aliases,
    )


def _arguments(inputs: tuple[str, ...], text: str) -> Arguments:
    shapes = [tuple(map(int, shape.split("x"))) for shape in text.split()]
    return {role: TensorSpec(shape) for role, shape in zip(inputs, shapes, strict=True)}


OPERATORS = (
    _product(
        "matmul",
        "the matrix product (as NumPy: vectors and broadcast batches are allowed)",
        ("32x32 32x32", "512x512 512x512", "2048x2048 2048x2048", "8192x64 64x64"),
        aliases=("mm", "gemm"),
    ),
    _product(
        "matmul_transposed",
        "the matrix product with the right matrix transposed",
        ("32x32 32x32", "512x512 512x512", "2048x2048 2048x2048", "8192x64 64x64"),
        outputs=_transpose,
    ),
    _product(
        "batch_matmul",
        "the matrix product of each pair in a batch",
        ("4x16x16 4x16x16", "32x128x128 32x128x128", "64x256x256 64x256x256", "2048x16x32 2048x32x16"),
        aliases=("bmm", "batch_dot"),
    ),
    _product(
        "linear",
        "the product with the transposed weight (out, in), plus a bias",
        ("8x32 32x32 32", "128x768 768x768 768", "512x1024 4096x1024 4096", "8192x64 16x64 16"),
        outputs=linear,
        inputs=("data", "weight", "bias"),
        aliases=("fully_connected", "dense"),
    ),
    _product(
        "matrix_vector",
        "the product of a matrix and a vector",
        ("32x32 32", "1024x1024 1024", "4096x4096 4096", "100000x10 10"),
        aliases=("mv", "gemv"),
    ),
    _product(
        "outer",
        "the outer product of two vectors",
        ("32 32", "1024 1024", "4096 4096", "100000 10"),
        outputs=_outer,
        flops=lambda case: elements(_outer(case)),
        # One multiplication each forwards; backwards two matrix-vector products of two operations each.
        backward_flops=4,
    ),
    _product(
        "dot",
        "the inner product of two vectors",
        # A vector has no second dimension to be skewed against: a prime length, which no vector width divides.
        ("1024 1024", "1048576 1048576", "16777216 16777216", "1000003 1000003"),
        # Backwards one multiplication for each element of both gradients.
        backward_flops=1,
        aliases=("inner",),
    ),
)
