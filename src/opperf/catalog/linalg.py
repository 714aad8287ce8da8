"""Products of matrices, and linear algebra."""

from __future__ import annotations

from collections.abc import Mapping

from opperf.catalog import matrix_product
from opperf.catalog.definition import (
    DIRECTIONS,
    Formula,
    Operator,
    Outputs,
    elements,
)
from opperf.catalog.formulas import like, none, product, same, scalar, tensors, whole
from opperf.domain.case import Argument, Case
from opperf.domain.errors import InputError
from opperf.domain.tensor import SPD, TensorSpec

_Shape = tuple[int, ...]

# Parts of matrices, products of special form, systems of equations and decompositions.
#
# Where an operator needs matrices that uniform random numbers do not make, the bindings make them of the data before
# anything is timed: the identity plus the data over n (near the identity, so well conditioned), or the mean of data and
# its transpose (symmetric). Positive definite ones are values of their own. Gradients flow to the matrix that was made.
# Operations are those of the usual dense algorithms, terms of the third degree only.

#: A square matrix has no long side: the skewed one has a prime size, which no block divides.
SQUARES = {"small": 16, "common": 256, "large": 1024, "skewed": 509}
#: Rows and columns, at least twice as many rows.
TALL = {"small": (32, 16), "common": (512, 256), "large": (2048, 1024), "skewed": (20_000, 16)}
#: Rows and right sides of systems of equations.
SYSTEMS = {"small": (16, 4), "common": (256, 256), "large": (1024, 1024), "skewed": (1024, 1)}


def _diagonal(case: Case) -> tuple[TensorSpec, ...]:
    data = case.tensor("data")
    if len(data.shape) != 2:
        raise InputError(f"`data` of `{case.operator}` has {len(data.shape)} dimensions, expected a matrix")
    (rows, columns), offset = data.shape, whole(case, "offset", 0)
    length = min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns)
    return (like(data, (max(0, length),)),)


def _matrix(
    name: str, summary: str, outputs: Outputs, flops: Formula = none, *, view: bool = False, **attributes: Argument
) -> Operator:
    sizes = tensors("data", more=attributes)
    return Operator(
        name, "linalg", summary, sizes, outputs, flops, differentiable=("data",), aliasing=DIRECTIONS if view else ()
    )


def _sides(case: Case, role: str = "data") -> tuple[int, int]:
    shape = case.tensor(role).shape
    if len(shape) != 2:
        raise InputError(f"`{role}` of `{case.operator}` has {len(shape)} dimensions, expected a matrix")
    return shape[0], shape[1]


def _size(case: Case, role: str = "data") -> int:
    rows, columns = _sides(case, role)
    if rows != columns:
        raise InputError(f"`{role}` of `{case.operator}` is {rows} x {columns}, expected a square matrix")
    return rows


def _cubes(numerator: int, denominator: int) -> Formula:
    """Return the formula of that many cubes of the size."""
    return lambda case: numerator * _size(case) ** 3 // denominator


def _scalars(count: int) -> Outputs:
    return lambda case: (like(case.tensor("data"), ()),) * count


def _values(case: Case) -> tuple[TensorSpec, ...]:
    return (like(case.tensor("data"), (min(_sides(case)),)),)


def _orthogonal(case: Case) -> tuple[TensorSpec, ...]:
    rows, columns = _sides(case)
    inner = min(rows, columns)
    return like(case.tensor("data"), (rows, inner)), like(case.tensor("data"), (inner, columns))


def _reflections(case: Case) -> int:
    """Return the operations of making a matrix of two sides triangular by reflections."""
    long, short = sorted(_sides(case), reverse=True)
    return 2 * long * short**2 - 2 * short**3 // 3


def _solution(case: Case) -> tuple[TensorSpec, ...]:
    matrix, right = case.tensor("matrix"), case.tensor("right")
    rows, columns = _sides(case, "matrix")
    if rows != right.shape[0]:
        raise InputError(f"`{case.operator}`: {rows} rows of the matrix, {right.shape[0]} of the right side")
    return (like(matrix, (columns, *right.shape[1:])),)


def _solving(numerator: int, denominator: int, each_side: int) -> Formula:
    """Return the formula with a multiple of n^3 for the matrix, and of n^2 for each right side."""

    def flops(case: Case) -> int:
        size = _size(case, "matrix")
        return numerator * size**3 // denominator + each_side * size * case.tensor("right").elements

    return flops


def _least(case: Case) -> int:
    rows, columns = _sides(case, "matrix")
    sides = case.tensor("right").elements // rows
    return 2 * rows * columns**2 - 2 * columns**3 // 3 + sides * (4 * rows * columns - columns**2)


def _multiply(case: Case) -> tuple[TensorSpec, ...]:
    (rows, columns), (right_rows, right_columns) = _sides(case, "lhs"), _sides(case, "rhs")
    return (like(case.tensor("lhs"), (rows * right_rows, columns * right_columns)),)


def _contract(case: Case) -> tuple[TensorSpec, ...]:
    lhs, rhs, axes = case.tensor("lhs"), case.tensor("rhs"), whole(case, "axes")
    rest = len(lhs.shape) - axes
    if lhs.shape[rest:] != rhs.shape[:axes]:
        raise InputError(f"`{case.operator}`: {list(lhs.shape[rest:])} do not meet {list(rhs.shape[:axes])}")
    return (like(lhs, lhs.shape[:rest] + rhs.shape[axes:]),)


def _contraction(case: Case) -> int:
    return 2 * elements(_contract(case)) * product(case.tensor("rhs").shape[: whole(case, "axes")])


def _with_itself(case: Case) -> tuple[TensorSpec, ...]:
    rows, _ = _sides(case)
    return (like(case.tensor("data"), (rows, rows)),)


def _half(case: Case) -> int:
    rows, columns = _sides(case)
    return rows * (rows + 1) * columns


def _algebra(
    name: str,
    summary: str,
    sizes: Mapping[str, Mapping[str, _Shape]],
    outputs: Outputs,
    flops: Formula,
    *,
    smooth: bool = True,
    values: str = "uniform",
    aliases: tuple[str, ...] = (),
    **attributes: Argument,
) -> Operator:
    """Declare `name`, with the shapes of its inputs for each size; `smooth` operators have a gradient."""
    cases = {
        size: {**{role: TensorSpec(shape, values=values) for role, shape in of_size.items()}, **attributes}
        for size, of_size in sizes.items()
    }
    roles = tuple(sizes["common"]) if smooth else ()
    return Operator(name, "linalg", summary, cases, outputs, flops, differentiable=roles, aliases=aliases)


_SQUARE = {size: {"data": (rows, rows)} for size, rows in SQUARES.items()}
_RECTANGLE = {size: {"data": shape} for size, shape in TALL.items()}
_SYSTEM = {size: {"matrix": (rows, rows), "right": (rows, sides)} for size, (rows, sides) in SYSTEMS.items()}


_LINALG = (
    _matrix("trace", "the sum of the diagonal of a matrix", scalar, flops=lambda case: elements(_diagonal(case))),
    _matrix("diagonal", "the diagonal of a matrix (a view in some frameworks)", _diagonal, view=True, offset=0),
    _matrix("triu", "the matrix with zeros below its diagonal", same(), offset=0),
    _matrix("tril", "the matrix with zeros above its diagonal", same(), offset=0),
    _algebra(
        "cholesky",
        "the Cholesky factor: a lower triangle whose product with its transpose is the matrix",
        _SQUARE,
        same(),
        _cubes(1, 3),
        values=SPD,
    ),
    _algebra("inverse", "the inverse of a matrix", _SQUARE, same(), _cubes(2, 1), aliases=("inv",)),
    _algebra("determinant", "the determinant of a matrix", _SQUARE, _scalars(1), _cubes(2, 3), aliases=("det",)),
    _algebra(
        "slogdet",
        "the sign of the determinant, and the logarithm of its absolute value",
        _SQUARE,
        _scalars(2),
        _cubes(2, 3),
    ),
    _algebra(
        "qr",
        "the QR decomposition: an orthogonal matrix and an upper triangle",
        _RECTANGLE,
        _orthogonal,
        lambda case: 2 * _reflections(case),
    ),
    _algebra(
        "svd_values",
        "the singular values of a matrix, largest first",
        _RECTANGLE,
        _values,
        lambda case: 2 * _reflections(case),
        aliases=("svdvals",),
    ),
    _algebra(
        "eigh_values",
        "the eigenvalues of a symmetric matrix, smallest first",
        _SQUARE,
        _values,
        _cubes(4, 3),
        aliases=("eigvalsh",),
    ),
    _algebra(
        "solve", "the solution of a linear system with several right sides", _SYSTEM, _solution, _solving(2, 3, 2)
    ),
    _algebra(
        "triangular_solve",
        "the solution of a lower triangular system with several right sides",
        _SYSTEM,
        _solution,
        _solving(0, 1, 1),
        aliases=("trsm",),
    ),
    _algebra(
        "lstsq",
        "the least-squares solution of a linear system",
        {size: {"matrix": shape, "right": (shape[0], 4)} for size, shape in TALL.items()},
        _solution,
        _least,
        smooth=False,
        aliases=("least_squares",),
    ),
    _algebra(
        "kron",
        "the Kronecker product: the right matrix times each element of the left",
        {
            "small": {"lhs": (4, 4), "rhs": (8, 8)},
            "common": {"lhs": (32, 32), "rhs": (32, 32)},
            "large": {"lhs": (64, 64), "rhs": (64, 64)},
            "skewed": {"lhs": (1000, 1), "rhs": (1000, 1)},
        },
        _multiply,
        lambda case: elements(_multiply(case)),
    ),
    _algebra(
        "tensordot",
        "the product over the last `axes` dimensions of the left and the first `axes` of the right",
        {
            "small": {"lhs": (4, 4, 8), "rhs": (4, 8, 4)},
            "common": {"lhs": (64, 32, 32), "rhs": (32, 32, 64)},
            "large": {"lhs": (512, 64, 64), "rhs": (64, 64, 512)},
            "skewed": {"lhs": (10_000, 4, 8), "rhs": (4, 8, 4)},
        },
        _contract,
        _contraction,
        axes=2,
    ),
    _algebra(
        "syrk",
        "the product of a matrix with its own transpose",
        {**_RECTANGLE, "skewed": {"data": (64, 20_000)}},
        _with_itself,
        _half,
        aliases=("gram",),
    ),
)


OPERATORS = (*matrix_product.OPERATORS, *_LINALG)
