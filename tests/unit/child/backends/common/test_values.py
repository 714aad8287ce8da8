"""What is kept of the values of an array that was seen."""

from __future__ import annotations

import numpy as np
import pytest
from tests.each import each

from opperf.child.backends.common.values import bounds, constant


@each(
    ("values", "expected"),
    [
        (np.array([3, 7, 5], np.int32), (3, 8)),
        (np.array([0.0, 9.0, 4.0], np.float32), (0, 10)),
        (np.zeros(3, np.float16), (0, 1)),
        (np.array([0.25, 0.75]), (0, 1)),
        (np.array([-2.5, -1.0]), (-1, 0)),
        (np.array([-2.5, 1.0]), None),
    ],
)
def test_whole_numbers_keep_their_bounds_and_fractions_their_sign(
    values: np.ndarray[tuple[int, ...], np.dtype[np.generic]], expected: tuple[float, float] | None
) -> None:
    assert bounds(values) == expected


@pytest.mark.parametrize("values", [np.array([]), np.array([True]), np.array([1j]), np.array([np.nan, 1.0])])
def test_values_that_no_bounds_stand_for_have_none(
    values: np.ndarray[tuple[int, ...], np.dtype[np.generic]],
) -> None:
    assert bounds(values) is None


def test_infinite_values_have_no_bounds() -> None:
    assert bounds(np.array([np.inf, 0.0])) is None


@each(("one", "other"), [(1, 1.0), (1, True), (0.0, -0.0), ([1], [1]), (np.zeros(2), np.zeros(2)), (float, int)])
def test_a_program_that_knows_one_value_does_not_serve_another(one: object, other: object) -> None:
    assert constant(one) != constant(other)


@each("value", [1, -1.5, "same", None, (1, 2), float])
def test_a_program_that_knows_a_value_serves_that_value(value: object) -> None:
    assert constant(value) == constant(value)
