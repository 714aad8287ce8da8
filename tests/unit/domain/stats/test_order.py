"""Order statistics against NumPy and SciPy, and the coverage of the median's interval by exact counting."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from tests.each import each

from opperf.domain.stats.order import median, median_interval, quantile, relative_precision

VALUES = st.lists(st.floats(0, 1e6), min_size=1, max_size=60)


@given(VALUES, st.floats(0, 1))
def test_a_quantile_is_that_of_numpy(values: list[float], share: float) -> None:
    assert quantile(sorted(values), share) == pytest.approx(float(np.quantile(values, share)), abs=1e-9)


@given(VALUES)
def test_a_median_is_that_of_numpy(values: list[float]) -> None:
    assert median(values) == pytest.approx(float(np.median(values)), abs=1e-9)


@pytest.mark.parametrize(("share", "value"), [(0.0, 1.0), (1.0, 3.0)])
def test_the_outermost_quantiles_are_the_smallest_and_largest_value(share: float, value: float) -> None:
    assert quantile([1.0, 2.0, 3.0], share) == value


def test_no_values_have_no_quantile() -> None:
    with pytest.raises(ValueError, match="no values"):
        quantile([], 0.5)


def coverage(count: int, low: int, high: int) -> float:
    """Return how often the median of a continuous law lies between two ranks (from 0) of `count` draws."""
    law = scipy.stats.binom(count, 0.5)
    return float(law.cdf(high) - law.cdf(low))


@each("count", [6, 7, 10, 20, 40, 41, 80, 160, 1280, 2560])
def test_the_interval_of_the_median_covers_it_as_often_as_it_says(count: int) -> None:
    for confidence in (0.5, 0.9, 0.95, 0.99):
        interval = median_interval([float(n) for n in range(count)], confidence)
        if interval is None:
            assert coverage(count, 0, count - 1) < confidence
        else:
            low, high = map(int, interval)
            assert low + high == count - 1
            assert coverage(count, low, high) >= confidence - 1e-9
            # The next narrower pair of values would cover it too seldom.
            assert low + 1 > high - 1 or coverage(count, low + 1, high - 1) < confidence


@each("count", range(6))
def test_under_six_values_have_no_interval_of_95_percent(count: int) -> None:
    assert median_interval([1.0] * count) is None


def test_values_need_not_be_sorted() -> None:
    assert median_interval([6.0, 1.0, 5.0, 2.0, 4.0, 3.0]) == (1.0, 6.0)


def test_precision_is_half_the_interval_over_the_median() -> None:
    assert relative_precision([9.0, 9.5, 10.0, 10.0, 10.5, 11.0]) == pytest.approx(0.1)


@pytest.mark.parametrize("values", [[], [1.0] * 5, [0.0] * 10])
def test_there_is_no_precision_without_an_interval_or_a_positive_median(values: list[float]) -> None:
    assert relative_precision(values) is None


def test_equal_values_are_known_exactly() -> None:
    assert relative_precision([2.0] * 6) == 0.0
