"""Bytes and numbers: every element type, back and forth, and rounded once."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import each

from opperf.child.judging.elements import decode, encode, largest, narrow, rounded, roundoff, smallest, storage, widen
from opperf.domain.tensor import FLOAT8, FLOATS, ITEM_SIZES, STRING

NUMBERS = sorted(set(ITEM_SIZES) - {STRING})
NARROW = (*FLOAT8, "bfloat16", "float16")
REALS = st.floats(width=64, allow_nan=False)


def every(dtype: str) -> Any:
    """Return all elements of a type of at most sixteen bits, as they are stored."""
    return np.arange(1 << (8 * ITEM_SIZES[dtype])).astype(storage(dtype).str.replace("f", "u")).view(storage(dtype))


@each("dtype", NUMBERS)
def test_numbers_come_back_as_the_bytes_that_they_were(dtype: str) -> None:
    raw = encode(np.array([0, 1, 1, 0, 1, 0], bool if dtype == "bool" else float), dtype)
    assert len(raw) == 6 * ITEM_SIZES[dtype]
    values = decode(raw, (2, 3), dtype)
    assert values.tolist() == [[0, 1, 1], [0, 1, 0]]
    assert encode(values, dtype) == raw


@each("dtype", NARROW)
def test_every_code_that_is_a_number_is_its_own_nearest(dtype: str) -> None:
    codes = every(dtype)
    values = widen(codes, dtype)
    numbers = ~np.isnan(values)
    assert (narrow(values, dtype)[numbers].tobytes()) == codes[numbers].tobytes()
    assert np.isnan(rounded(values[~numbers], dtype)).all()


def test_complex_numbers_of_halves_are_pairs() -> None:
    raw = np.array([1, 0, 2, -1], "float16").tobytes()
    values = decode(raw, (2,), "complex32")
    assert values.tolist() == [1, 2 - 1j]
    assert encode(values, "complex32") == raw


def test_one_value_without_dimensions_stays_one() -> None:
    for dtype in ("bfloat16", "float8_e5m2", "complex32", "float32"):
        assert rounded(np.array(1.5), dtype).shape == ()
        assert decode(encode(np.array(1.5), dtype), (), dtype) == 1.5


@pytest.mark.parametrize("dtype", NARROW)
@given(value=REALS)
def test_a_number_is_rounded_to_the_nearest_of_equally_near_ones_the_even(dtype: str, value: float) -> None:
    result = float(rounded(np.array([value]), dtype)[0])
    codes = every(dtype)
    numbers = widen(codes, dtype)
    finite = codes[np.isfinite(numbers) & ~np.signbit(numbers)]
    numbers = widen(finite, dtype)
    step = Fraction(numbers[-1]) - Fraction(numbers[-2])
    size, most = abs(value), Fraction(largest(dtype))
    # Halfway to the number that would come next, the even one is that which is not there, but in one type.
    excess = np.inf if size == np.inf else Fraction(size) - most - step / 2
    if excess > 0 or (excess == 0 and dtype != "float8_e4m3fn"):
        assert not np.isfinite(result)
    else:
        places = near(numbers, size)
        gaps = [abs(Fraction(one) - Fraction(size)) for one in numbers[places].tolist()]
        best = [place for place, gap in zip(places, gaps) if gap == min(gaps)]
        assert abs(result) == numbers[min(best, key=lambda place: place % 2)]
        assert np.signbit(result) == np.signbit(value) or result == 0


def near(numbers: Any, size: float) -> Any:
    """Return the places of the few numbers around one."""
    place = int(np.searchsorted(numbers, size))
    return np.arange(max(0, place - 1), min(len(numbers), place + 2))


def test_bfloat16_is_rounded_once() -> None:
    # A float32 would round the first to the tie, and the tie to the even number below.
    above = 1 + 2.0**-8 + 2.0**-40
    assert rounded(np.array([above, 1 + 2.0**-8, -above]), "bfloat16").tolist() == [1 + 2.0**-7, 1, -1 - 2.0**-7]
    assert rounded(np.array([1 + 3 * 2.0**-8 - 2.0**-40]), "bfloat16").tolist() == [1 + 2.0**-7]


@pytest.mark.parametrize(
    ("dtype", "code"),
    [("float8_e4m3fn", 0x7F), ("float8_e4m3fnuz", 0x80), ("float8_e5m2", 0x7C), ("float8_e5m2fnuz", 0x80)],
)
def test_what_eight_bits_cannot_hold_is_infinite_or_no_number(dtype: str, code: int) -> None:
    assert narrow(np.array([1e9]), dtype).tolist() == [code]


@each("dtype", sorted(FLOATS))
def test_the_ends_of_a_type_are_numbers_of_it(dtype: str) -> None:
    ends = np.array([smallest(dtype), largest(dtype), 1 + 2 * roundoff(dtype)])
    assert rounded(ends, dtype).tolist() == ends.tolist()
    assert rounded(np.array([smallest(dtype) / 2.1, 1 + roundoff(dtype) / 1.1]), dtype).tolist() == [0, 1]


def test_whole_numbers_are_not_rounded() -> None:
    assert roundoff("int64") == smallest("bool") == 0
