"""What the calls of a suite amount to on two sides."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from opperf.domain.case import Case
from opperf.domain.plan import Side
from opperf.parent.documents.comparison import Comparison, Verdict
from opperf.parent.documents.wholes import moved_costs, parts, wholes
from opperf.parent.reports.comparison import costs_that_moved, suites

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
    (line,) = suites([compared("add", 2, 1.0, 1.5, width=0.0), compared("abs", 7, 1.0, None)])
    assert line == (
        "2 of 9 calls: 2.00 s on torch;threads=1, 3.00 s on torch;threads=2, ratio 1.500 [1.500, 1.500], "
        "slower: decided by add forward (+50.00 %)"
    )


def test_a_whole_whose_interval_holds_one_is_decided_by_nothing() -> None:
    (line,) = suites([compared("add", 2, 1.0, 1.05), compared("mul", 1, 2.0, 1.0)])
    assert line.endswith("ratio 1.025 [0.955, 1.100]")


def test_operators_that_are_no_suite_have_no_sum() -> None:
    assert wholes([compared("add", 1, 1.0, 2.0), compared("mul", 1, 2.0, 1.0)]) == ()


def test_the_parts_of_a_suite_add_up_to_the_difference_of_the_whole() -> None:
    several = [compared("add", 3, 1.0, 1.1), compared("mul", 1, 2.0, 0.9), compared("abs", 2, 1.0, None)]
    (whole,) = wholes(several)
    assert parts(several) == pytest.approx({0: 0.06, 1: -0.04})
    assert sum(parts(several).values()) == pytest.approx(whole.ratio - 1)


def test_a_whole_names_the_cases_that_decide_it() -> None:
    several = [compared("abs", 9, 1e-3, 1.5), compared("add", 3, 1.0, 1.1), compared("mul", 1, 2.0, 0.8)]
    (whole,) = wholes(several)
    assert [one.place for one in whole.decisive] == [2, 1]


def test_intervals_of_another_confidence_weigh_as_those_of_95_percent() -> None:
    sure = compared("add", 2, 1.0, 1.0)
    wider = replace(sure, verdict=replace(sure.verdict, confidence=0.999))
    (whole,), (narrower,) = wholes([sure]), wholes([wider])
    assert whole.interval is not None
    assert narrower.interval is not None
    assert math.log(narrower.interval[1]) == pytest.approx(math.log(whole.interval[1]) * 1.96 / 3.29, rel=1e-3)


def decided(operator: str, count: int, base_time: float, ratio: float) -> Comparison:
    """Return a comparison with the verdict of its ratio."""
    one = compared(operator, count, base_time, ratio)
    return replace(one, verdict=replace(one.verdict, verdict="slower" if ratio > 1 else "faster"))


def test_cost_moved_where_one_got_slower_and_others_faster_by_as_much_of_the_total() -> None:
    gained, lost, also = decided("exp", 1, 1.0, 1.5), decided("log", 3, 1.0, 0.9), decided("abs", 1, 1.0, 0.8)
    other = decided("sin", 1, 9.0, 0.5)
    assert [(one, others) for one, others in moved_costs([gained, other, lost, also])] == [(gained, [lost, also])]
    assert [*costs_that_moved([gained, lost, also])] == [
        "cost moved: exp forward takes 500 ms more, log forward and abs forward 500 ms less"
    ]
    benchmarks = [replace(one, base=replace(one.base, implementation="asv:bench")) for one in (gained, lost, also)]
    assert [*moved_costs(benchmarks)] == []


def test_cost_did_not_move_where_the_sums_differ_or_nothing_is_certain() -> None:
    assert [*moved_costs([decided("exp", 1, 1.0, 1.5), decided("log", 1, 1.0, 0.9)])] == []
    assert [*moved_costs([decided("exp", 1, 1.0, 1.5), compared("log", 1, 1.0, 0.5)])] == []
