"""Whether two results are the same: shapes, elements, and how far each element type may be off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.each import each

from opperf.catalog import operator
from opperf.child.worker.correctness import LETTERS, TOLERANCES, WrongResult, _values, check, leeway
from opperf.domain.plan import Side, Trial

if TYPE_CHECKING:
    from tests.unit.child.worker.conftest import Arrays


def agree(backend: Arrays, mine: Any, other: Any, **more: float) -> None:
    """Check two results."""
    mine, other = ([backend.to_host(leaf) for leaf in backend.leaves(value)] for value in (mine, other))
    check(mine, other, "the other", **more)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_difference_within_the_tolerance_of_the_type_is_none(dtype: str, backend: Arrays) -> None:
    expected = np.linspace(-1, 1, 50).astype(dtype)
    agree(backend, (expected * (1 + TOLERANCES[dtype] / 4)).astype(dtype), expected)
    with pytest.raises(WrongResult, match="element 0 of tensor 0"):
        agree(backend, (expected * (1 + 10 * TOLERANCES[dtype])).astype(dtype), expected)


def test_one_large_element_does_not_hide_an_error_in_a_small_one(backend: Arrays) -> None:
    agree(backend, np.array([1000.0, 1.00005, 1.0], "f"), np.array([1000.0, 1.0, 1.0], "f"))
    with pytest.raises(
        WrongResult, match=r"element 1 of tensor 0 is 1\.05, expected 1 by the other \(within 0\.0002\)"
    ):
        agree(backend, np.array([1000.0, 1.05, 1.0], "f"), np.array([1000.0, 1.0, 1.0], "f"))


def test_where_terms_cancel_the_median_element_says_how_large_they_were(backend: Arrays) -> None:
    expected = np.array([0.0, 0.0, 0.0, 2.0, 3.0, 4.0], "f")  # zeros say nothing of it
    agree(backend, expected + np.array([2.9e-4, 0, 0, 0, 0, 0], "f"), expected)
    with pytest.raises(WrongResult, match="element 0 of tensor 0"):
        agree(backend, expected + np.array([3.1e-4, 0, 0, 0, 0, 0], "f"), expected)


def test_what_may_have_been_as_large_as_the_largest_is_not_held_to_its_roundoff(backend: Arrays) -> None:
    expected = np.array([1e8, 0.0, 1.0, 1.0, 1.0], "f")
    agree(backend, expected + np.array([0, 9, 0, 0, 0], "f"), expected)
    with pytest.raises(WrongResult):
        agree(backend, expected + np.array([0, 11, 0, 0, 0], "f"), expected)


def test_whole_numbers_must_be_equal(backend: Arrays) -> None:
    agree(backend, np.array([1, 2]), np.array([1, 2]))
    with pytest.raises(WrongResult):
        agree(backend, np.array([1, 2]), np.array([1, 3]))


def test_whole_numbers_may_be_off_by_what_the_operator_is_allowed(backend: Arrays) -> None:
    agree(backend, np.array([40, 2]), np.array([40, 3]), leeway=0.04)
    with pytest.raises(WrongResult):
        agree(backend, np.array([40, 2]), np.array([40, 4]), leeway=0.04)


@pytest.mark.parametrize(("name", "times"), [("add", 0), ("prod", 4), ("histogram", 4)])
def test_operators_in_which_rounding_piles_up_or_decides_are_allowed_more(name: str, times: int) -> None:
    case = operator(name).case("small").with_dtype("float16")
    assert leeway(Trial(case, Side("null"), "forward")) == times * TOLERANCES["float16"]


@pytest.mark.parametrize(("dtype", "share"), [("float32", TOLERANCES["float16"]), ("float64", 0)])
def test_float32_is_allowed_what_tf32_rounds_to_on_a_device_that_has_it(dtype: str, share: float) -> None:
    case = operator("matmul").case("small").with_dtype(dtype)
    assert leeway(Trial(case, Side("torch", device="cuda:0"), "forward")) == share
    assert leeway(Trial(case, Side("torch"), "forward")) == 0


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


def test_strings_must_be_equal() -> None:
    mine, other = (b"a\0b\0", (2,), "string"), (b"a\0c\0", (2,), "string")
    check([mine], [mine], "the other")
    with pytest.raises(WrongResult, match="tensor 0 has other strings than the one from the other"):
        check([mine], [other], "the other")


def test_bfloat16_is_the_upper_half_of_a_float() -> None:
    assert list(_values((b"\x80\x3f\x00\xc0", (2,), "bfloat16"))) == [1.0, -2.0]


@pytest.mark.parametrize(
    ("dtype", "raw", "values"),
    [
        ("float8_e4m3fn", "00 01 08 38 7e b8", [0.0, 2**-9, 2**-6, 1.0, 448.0, -1.0]),
        ("float8_e4m3fnuz", "00 01 08 40 7f c0", [0.0, 2**-10, 2**-7, 1.0, 240.0, -1.0]),
        ("float8_e5m2", "00 01 04 3c 7b 7c bc", [0.0, 2**-16, 2**-14, 1.0, 57344.0, np.inf, -1.0]),
        ("float8_e5m2fnuz", "00 01 04 40 7f c0", [0.0, 2**-17, 2**-15, 1.0, 57344.0, -1.0]),
    ],
)
def test_eight_bits_are_read_as_their_type_has_them(dtype: str, raw: str, values: list[float]) -> None:
    assert list(_values((bytes.fromhex(raw), (len(values),), dtype))) == values


@pytest.mark.parametrize(
    ("dtype", "raw"),
    [("float8_e4m3fn", "7f ff"), ("float8_e4m3fnuz", "80"), ("float8_e5m2", "7d fe"), ("float8_e5m2fnuz", "80")],
)
def test_not_a_number_is_read_as_one(dtype: str, raw: str) -> None:
    result = _values((bytes.fromhex(raw), (1,), dtype))
    assert all(value != value for value in result)


def test_complex_numbers_of_two_halves_are_read_as_two() -> None:
    raw = np.array([1, 0, 2, -1], "float16").tobytes()
    assert list(_values((raw, (2,), "complex32"))) == [1.0, 0.0, 2.0, -1.0]


@each("dtype", sorted(set(LETTERS) - {"bool", "complex32"}))
def test_every_element_type_is_read_as_it_was_written(dtype: str) -> None:
    raw = np.array([1, 0, 2], dtype).tobytes()
    expected = [1.0, 0.0, 0.0, 0.0, 2.0, 0.0] if dtype.startswith("complex") else [1.0, 0.0, 2.0]
    assert list(_values((raw, (3,), dtype))) == expected
