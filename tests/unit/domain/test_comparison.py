"""What the calls of a suite amount to on two sides."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from opperf.domain.case import Case
from opperf.domain.comparison import Comparison, Verdict, wholes
from opperf.domain.plan import Side
from opperf.parent.reports.comparison import suites

BASE, NEW = Side("torch"), Side("torch", threads=2)


def compared(operator: str, count: int, base_time: float, ratio: float | None, width: float = 0.1) -> Comparison:
    """Return a comparison whose interval is `width` wide on either side, as a log-ratio."""
    bounds = None if ratio is None else (ratio * math.exp(-width), ratio * math.exp(width))
    base, new = (replace(side, implementation=operator) for side in (BASE, NEW))
    verdict = Verdict("inconclusive", ratio, bounds, "", 5)
    return Comparison(Case(operator), "forward", base, new, verdict, base_time=base_time, count=count)


def test_calls_count_as_often_as_they_occur() -> None:
    (whole,) = wholes([compared("add", 3, 1.0, 2.0), compared("mul", 1, 2.0, 1.0)])
    assert (whole.calls, whole.of, whole.base_time, whole.new_time, whole.ratio) == (4, 4, 5.0, 8.0, 1.6)
    assert (whole.base, whole.new) == (BASE, NEW)


def test_errors_of_cases_are_independent() -> None:
    (whole,) = wholes([compared("add", 2, 1.0, 1.0), compared("mul", 1, 2.0, 1.0)])
    assert whole.interval is not None
    assert math.log(whole.interval[1]) == pytest.approx(0.1 / math.sqrt(2))
    assert math.log(whole.interval[0]) == pytest.approx(-0.1 / math.sqrt(2))


def test_what_was_not_measured_on_both_sides_is_counted_and_left_out() -> None:
    (whole,) = wholes([compared("add", 2, 1.0, 1.5), compared("abs", 7, 1.0, None)])
    assert (whole.calls, whole.of, whole.ratio) == (2, 9, 1.5)
    assert suites([compared("add", 2, 1.0, 1.5, width=0.0), compared("abs", 7, 1.0, None)]) == [
        "2 of 9 calls: 2.00 s on torch;threads=1, 3.00 s on torch;threads=2, ratio 1.500 [1.500, 1.500]"
    ]


def test_operators_that_are_no_suite_have_no_sum() -> None:
    assert wholes([compared("add", 1, 1.0, 2.0), compared("mul", 1, 2.0, 1.0)]) == ()
