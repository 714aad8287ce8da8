"""Paired tests, false discoveries, and intervals of shares, against scipy and by hand."""

from __future__ import annotations

import math

import pytest
import scipy
from hypothesis import assume, given
from hypothesis import strategies as st

from opperf.domain.stats.significance import Estimate, PairedTest, clopper_pearson, discoveries, wilson

RATIOS = st.lists(st.floats(-0.5, 0.5), min_size=3, max_size=15).filter(lambda values: max(values) - min(values) > 1e-3)


@given(RATIOS)
def test_the_p_value_is_that_of_scipy(ratios: list[float]) -> None:
    assert PairedTest.of(ratios).p_value() == pytest.approx(scipy.stats.ttest_1samp(ratios, 0).pvalue, abs=1e-8)


@given(RATIOS)
def test_the_interval_is_that_of_scipy(ratios: list[float]) -> None:
    low, high = PairedTest.of(ratios).interval(0.95)
    expected = scipy.stats.ttest_1samp(ratios, 0).confidence_interval(0.95)
    assert low == pytest.approx(expected.low, abs=1e-7)
    assert high == pytest.approx(expected.high, abs=1e-7)


def test_pairs_that_agree_to_the_last_digit_have_an_answer() -> None:
    assert PairedTest.of([0.05] * 5).p_value() == pytest.approx(0, abs=1e-12)
    assert PairedTest.of([0.0] * 5).p_value() == 1


def test_one_pair_is_no_test() -> None:
    with pytest.raises(ValueError, match="two pairs"):
        PairedTest.of([0.1])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(0.01, 0.5))
def test_discoveries_are_those_of_scipy(p_values: list[float], rate: float) -> None:
    adjusted = scipy.stats.false_discovery_control(p_values, method="bh")
    assume(min(abs(adjusted - rate)) > 1e-9)  # on the edge, rounding decides
    assert discoveries(p_values, rate) == [bool(value <= rate) for value in adjusted]


@pytest.mark.parametrize(("successes", "trials"), [(0, 400), (2, 400), (200, 400), (399, 400)])
def test_the_wilson_interval_is_that_of_scipy(successes: int, trials: int) -> None:
    expected = scipy.stats.binomtest(successes, trials).proportion_ci(0.95, method="wilson")
    low, high = wilson(successes, trials)
    assert low == pytest.approx(expected.low, abs=1e-6)
    assert high == pytest.approx(expected.high, abs=1e-6)


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (1, 1), (0, 400), (9, 10), (200, 400), (399, 400)])
def test_the_exact_interval_of_a_share_is_that_of_scipy(successes: int, trials: int) -> None:
    expected = scipy.stats.binomtest(successes, trials).proportion_ci(0.95, method="exact")
    low, high = clopper_pearson(successes, trials)
    assert low == pytest.approx(expected.low, abs=1e-9)
    assert high == pytest.approx(expected.high, abs=1e-9)


def test_the_exact_interval_of_very_many_trials_is_wilsons() -> None:
    many = 10**18
    assert clopper_pearson(many // 2, many) == wilson(many // 2, many)


def test_the_ends_of_an_interval_that_says_nothing_stay_numbers() -> None:
    low, high = Estimate.of(1e40, (5e-324, 1.7e308), 0.01).interval(0.9999)
    assert 0 < low < high < math.inf
