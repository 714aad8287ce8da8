"""Systems of equations, decompositions and products of special form: outputs, and operations counted by hand."""

from __future__ import annotations

import pytest

from opperf.catalog import operator
from opperf.domain.case import Argument
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

SQUARE, TALL, WIDE = (TensorSpec(shape) for shape in ((6, 6), (6, 3), (3, 6)))


def shapes(name: str, **arguments: Argument) -> list[tuple[int, ...]]:
    return [tensor.shape for tensor in operator(name).outputs(operator(name).case_of(arguments))]


def flops(name: str, **arguments: Argument) -> int:
    return operator(name).flops(operator(name).case_of(arguments))


@pytest.mark.parametrize(
    ("name", "expected", "operations"),
    [
        ("cholesky", [(6, 6)], 72),
        ("inverse", [(6, 6)], 432),
        ("determinant", [()], 144),
        ("slogdet", [(), ()], 144),
        ("eigh_values", [(6,)], 288),
    ],
)
def test_what_is_made_of_a_square_matrix(name: str, expected: list[tuple[int, ...]], operations: int) -> None:
    assert shapes(name, data=SQUARE) == expected
    assert flops(name, data=SQUARE) == operations


def test_a_matrix_that_is_not_square_is_an_input_error() -> None:
    with pytest.raises(InputError, match="`data` of `inverse` is 6 x 3, expected a square matrix"):
        flops("inverse", data=TALL)


def test_a_tensor_of_three_dimensions_is_no_matrix() -> None:
    with pytest.raises(InputError, match="`data` of `qr` has 3 dimensions, expected a matrix"):
        shapes("qr", data=TensorSpec((2, 3, 4)))


def test_a_decomposition_of_a_rectangle_is_as_wide_as_its_short_side() -> None:
    assert shapes("qr", data=TALL) == [(6, 3), (3, 3)]
    assert shapes("qr", data=WIDE) == [(3, 3), (3, 6)]
    assert shapes("svd_values", data=WIDE) == [(3,)]
    # By reflections 2 x 6 x 9 less two thirds of 27, and as much once more.
    assert flops("qr", data=TALL) == flops("svd_values", data=WIDE) == 180


def test_a_solution_has_the_columns_of_the_matrix_as_rows() -> None:
    right = TensorSpec((6, 2))
    assert shapes("solve", matrix=SQUARE, right=right) == [(6, 2)]
    assert shapes("lstsq", matrix=TALL, right=right) == [(3, 2)]
    assert flops("solve", matrix=SQUARE, right=right) == 144 + 2 * 72
    assert flops("triangular_solve", matrix=SQUARE, right=right) == 72
    assert flops("lstsq", matrix=TALL, right=right) == 90 + 2 * 63


def test_right_sides_that_do_not_meet_the_matrix_are_an_input_error() -> None:
    with pytest.raises(InputError, match="6 rows of the matrix, 5 of the right side"):
        shapes("solve", matrix=SQUARE, right=TensorSpec((5, 1)))


def test_products_of_special_form() -> None:
    assert shapes("kron", lhs=TALL, rhs=WIDE) == [(18, 18)]
    assert flops("kron", lhs=TALL, rhs=WIDE) == 324
    assert shapes("syrk", data=TALL) == [(6, 6)]
    assert flops("syrk", data=TALL) == 126


def test_a_contraction_joins_the_last_and_the_first_dimensions() -> None:
    lhs, rhs = TensorSpec((5, 2, 3)), TensorSpec((2, 3, 7))
    assert shapes("tensordot", lhs=lhs, rhs=rhs, axes=2) == [(5, 7)]
    assert flops("tensordot", lhs=lhs, rhs=rhs, axes=2) == 420
    with pytest.raises(InputError, match=r"\[3\] do not meet \[2\]"):
        shapes("tensordot", lhs=lhs, rhs=rhs, axes=1)
