"""Verdicts and intervals of counted instructions."""

from __future__ import annotations

import math

import pytest

from opperf.parent.analysis.counts import FLOOR, by_counts, counting
from opperf.parent.analysis.verdict import Rule


@pytest.mark.parametrize("apart", [-0.0033, -0.0008, 0.0, 0.0001, 0.0033])
@pytest.mark.parametrize("layouts", [3, 7])
def test_the_interval_of_identical_code_holds_one_where_every_layout_says_the_same(apart: float, layouts: int) -> None:
    verdict = by_counts([apart] * layouts, counting(Rule()))
    assert verdict.interval is not None
    low, high = verdict.interval
    assert (verdict.verdict, verdict.ratio) == ("same", math.exp(apart))
    assert low < 1 < high
    assert high / low == pytest.approx((1 + FLOOR) ** 2)


def test_a_range_over_layouts_that_is_wider_stays_as_it_is() -> None:
    assert by_counts([0.01, 0.02, 0.03], counting(Rule())).interval == pytest.approx((math.exp(0.01), math.exp(0.03)))


def test_a_change_beyond_the_tolerance_leaves_out_one() -> None:
    for ratio in (-0.0051, 0.0051):
        verdict = by_counts([ratio] * 3, counting(Rule()))
        assert verdict.verdict in ("slower", "faster")
        assert verdict.interval is not None
        assert not verdict.interval[0] <= 1 <= verdict.interval[1]


def test_no_tolerance_makes_a_change_of_what_identical_code_may_lie_apart() -> None:
    verdict = by_counts([0.0033] * 3, counting(Rule(tolerance=0.001)))
    assert (verdict.verdict, verdict.reason) == ("same", "every count is within ±0.35%")
