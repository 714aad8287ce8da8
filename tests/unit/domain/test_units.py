"""What `opperf.domain.units` prints and reads."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import each

from opperf.domain import units
from opperf.domain.errors import InputError

FORMATS: tuple[Callable[[float | None], str], ...] = (
    units.format_seconds,
    units.format_bytes,
    units.format_flops,
    units.format_flop_rate,
    units.format_byte_rate,
    units.format_count,
    units.format_percent,
)


@each("format", FORMATS)
def test_a_missing_number_is_an_empty_string(format: Callable[[float | None], str]) -> None:
    assert format(None) == ""


@each("format", FORMATS)
def test_what_is_not_a_finite_number_is_shown_as_such(format: Callable[[float | None], str]) -> None:
    assert format(math.nan).startswith("nan")
    assert format(math.inf).startswith("inf")


@each("format", FORMATS)
def test_zero_is_shown_and_is_not_empty(format: Callable[[float | None], str]) -> None:
    assert format(0).split()[0] == "0"


@each(
    ("value", "text"),
    [
        (12.3e-6, "12.3 us"),
        (0.00124, "1.24 ms"),
        (1.0, "1.00 s"),
        (0.0009994, "999 us"),
        (0.0009996, "1.00 ms"),
        (9.996e-6, "10.0 us"),
        (1.5e-9, "1.50 ns"),
        (4.2e-12, "0.00420 ns"),
        (1e-30, "1.00e-21 ns"),
        (1234.5, "1234 s"),
        (-0.0021, "-2.10 ms"),
    ],
)
def test_seconds_have_three_digits_and_the_unit_that_fits(value: float, text: str) -> None:
    assert units.format_seconds(value) == text


@each(
    ("value", "text"),
    [(1, "1 B"), (999, "999 B"), (1000, "1.00 kB"), (4194304, "4.19 MB"), (0.5, "0.500 B"), (3e18, "3000 PB")],
)
def test_bytes_are_decimal_and_whole_under_a_thousand(value: float, text: str) -> None:
    assert units.format_bytes(value) == text


def test_rates_and_operations_carry_their_unit() -> None:
    assert units.format_flops(2147483648) == "2.15 GFLOP"
    assert units.format_flop_rate(1.2e12) == "1.20 TFLOP/s"
    assert units.format_byte_rate(23.04e9) == "23.0 GB/s"


def test_percent_has_the_digits_asked_for() -> None:
    assert units.format_percent(0.0123, digits=2) == "1.2 %"
    assert units.format_percent(0.9996) == "100 %"
    assert units.format_percent(1.2345) == "123 %"
    assert units.format_percent(-0.05) == "-5.00 %"


def test_both_ends_of_an_interval_have_the_unit_of_the_upper_one() -> None:
    assert units.format_interval((0.00098, 0.00124)) == "[0.980, 1.24] ms"
    assert units.format_interval((0.0, 2e-6)) == "[0, 2.00] us"
    assert units.format_interval(None) == ""


def test_an_interval_without_a_finite_end_says_so() -> None:
    assert units.format_interval((0.5, math.inf)) == "[0.5, inf] s"


@given(st.floats(1e-15, 1e6))
def test_a_printed_time_reads_back_within_its_last_digit(value: float) -> None:
    assert units.parse_duration(units.format_seconds(value)) == pytest.approx(value, rel=0.0051)


@given(st.floats(1e-9, 1e3), st.integers(1, 6))
def test_a_printed_percentage_reads_back_within_its_last_digit(value: float, digits: int) -> None:
    text = units.format_percent(value, digits=digits)
    assert units.parse_percent(text) == pytest.approx(value, rel=0.51 * 10 ** (1 - digits))


@given(st.floats(1e-9, 999.0))
def test_a_printed_time_has_three_significant_digits(value: float) -> None:
    digits = units.format_seconds(value).split()[0].replace(".", "").lstrip("0")
    assert len(digits) == 3


@given(st.floats(1e-12, 1e18), st.floats(1e-12, 1e18))
def test_printing_keeps_the_order_of_rates(one: float, other: float) -> None:
    prefixes = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}

    def read(text: str) -> float:
        number, unit = text.split()
        return float(number) * prefixes[unit.removesuffix("B/s")]

    low, high = sorted((one, other))
    assert read(units.format_byte_rate(low)) <= read(units.format_byte_rate(high)) * (1 + 1e-12)


@each(
    ("text", "seconds"),
    [
        ("30", 30.0),
        ("30s", 30.0),
        (" 1.5 h ", 5400.0),
        ("5m", 300.0),
        ("5min", 300.0),
        ("200ms", 0.2),
        ("7US", 7e-6),
        ("9ns", 9e-9),
        (".5s", 0.5),
        ("1e3ms", 1.0),
        ("0", 0.0),
    ],
)
def test_durations_are_read_with_and_without_a_unit(text: str, seconds: float) -> None:
    assert units.parse_duration(text) == pytest.approx(seconds)


@each("text", ["", "s", "-1s", "1 day", "1,5s", "nan", "inf", "1e999", "2%", "1m30s", "٣s"])
def test_anything_else_is_no_duration(text: str) -> None:
    with pytest.raises(InputError) as caught:
        units.parse_duration(text, name="`--budget`")
    assert caught.value.message.startswith(f"`--budget` is `{text}`, expected")
    assert caught.value.hint
    assert caught.value.slug == "bad_duration"


@pytest.mark.parametrize(("text", "fraction"), [("2%", 0.02), ("2 %", 0.02), ("0.02", 0.02), ("150%", 1.5)])
def test_percentages_and_fractions_are_read(text: str, fraction: float) -> None:
    assert units.parse_percent(text) == pytest.approx(fraction)


@each("text", ["", "%", "2", "1", "-2%", "two", "2%%", "nan", "1e999%", "2s", "0%", "0"])
def test_anything_else_is_no_percentage(text: str) -> None:
    with pytest.raises(InputError) as caught:
        units.parse_percent(text, name="`--precision`")
    assert caught.value.message.startswith(f"`--precision` is `{text}`, expected")
    assert caught.value.slug == "bad_percentage"


def test_a_bare_number_that_may_be_a_percentage_is_refused_with_its_spelling() -> None:
    with pytest.raises(InputError, match="write `2%` if you mean 2 percent"):
        units.parse_percent("2")
