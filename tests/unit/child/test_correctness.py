"""Whether two results are the same: shapes, elements, and how far each element type may be off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from opperf.child.correctness import LETTERS, TOLERANCES, WrongResult, _values, check

if TYPE_CHECKING:
    from tests.unit.child.conftest import Arrays

MESSAGE = "of the other"


def agree(backend: Arrays, mine: Any, other: Any) -> None:
    """Check two results."""
    check(backend, mine, other, "the other")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_difference_within_the_tolerance_of_the_type_is_none(dtype: str, backend: Arrays) -> None:
    expected = np.linspace(-1, 1, 50).astype(dtype)
    agree(backend, (expected * (1 + TOLERANCES[dtype] / 4)).astype(dtype), expected)
    with pytest.raises(WrongResult, match="element 0 of tensor 0"):
        agree(backend, (expected * (1 + 10 * TOLERANCES[dtype])).astype(dtype), expected)


def test_the_tolerance_is_of_the_largest_element(backend: Arrays) -> None:
    agree(backend, np.array([1000.0, 0.05], "f"), np.array([1000.0, 0.0], "f"))
    with pytest.raises(WrongResult, match=r"element 1 of tensor 0 is 0\.05, and 0 of the other"):
        agree(backend, np.array([1.0, 0.05], "f"), np.array([1.0, 0.0], "f"))


def test_whole_numbers_must_be_equal(backend: Arrays) -> None:
    agree(backend, np.array([1, 2]), np.array([1, 2]))
    with pytest.raises(WrongResult):
        agree(backend, np.array([1, 2]), np.array([1, 3]))


def test_not_a_number_and_infinity_are_equal_to_themselves_alone(backend: Arrays) -> None:
    odd = np.array([np.nan, np.inf, -np.inf], "f")
    agree(backend, odd, odd)
    with pytest.raises(WrongResult):
        agree(backend, odd, np.array([np.nan, np.inf, np.inf], "f"))


def test_other_shapes_and_other_numbers_of_tensors_are_told(backend: Arrays) -> None:
    with pytest.raises(WrongResult, match=r"the shape \[2, 3\], and \[3, 2\]"):
        agree(backend, np.zeros((2, 3)), np.zeros((3, 2)))
    with pytest.raises(WrongResult, match="returns 1 tensors, and the other returns 2"):
        agree(backend, np.zeros(2), (np.zeros(2), np.zeros(2)))


def test_bfloat16_is_the_upper_half_of_a_float() -> None:
    assert list(_values(b"\x80\x3f\x00\xc0", "bfloat16")) == [1.0, -2.0]


@pytest.mark.parametrize("dtype", sorted(set(LETTERS) - {"bool"}))
def test_every_element_type_is_read_as_it_was_written(dtype: str) -> None:
    raw = np.array([1, 0, 2], dtype).tobytes()
    expected = [1.0, 0.0, 0.0, 0.0, 2.0, 0.0] if dtype.startswith("complex") else [1.0, 0.0, 2.0]
    assert list(_values(raw, dtype)) == expected
