"""Student's t against SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from tests.each import each

from opperf.domain.stats.significance import log_interval, t_cdf, t_quantile

FREEDOMS = [1, 2, 3, 4, 7, 11, 30, 100, 2000]


@each("freedom", FREEDOMS)
def test_the_quantile_is_that_of_scipy(freedom: int) -> None:
    probabilities = [0.001, 0.025, 0.4, 0.5, 0.6, 0.9, 0.95, 0.975, 0.995, 0.9999]
    quantiles = [t_quantile(probability, freedom) for probability in probabilities]
    assert quantiles == pytest.approx(scipy.stats.t.ppf(probabilities, freedom).tolist(), rel=1e-9, abs=1e-9)


@given(st.floats(-50, 50), st.floats(0.5, 500))
def test_the_distribution_is_that_of_scipy(value: float, freedom: float) -> None:
    # Near zero the beta function is taken so close to 1 that half of the digits are lost.
    assert t_cdf(value, freedom) == pytest.approx(float(scipy.stats.t.cdf(value, freedom)), abs=1e-8)


@pytest.mark.parametrize("probability", [0.0, 1.0, -1.0, 2.0, float("nan")])
def test_what_is_no_probability_is_refused(probability: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        t_quantile(probability, 4)


@given(st.lists(st.floats(1e-9, 1e3), min_size=3, max_size=20), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_the_interval_of_logs_is_that_of_scipy(values: list[float], confidence: float) -> None:
    result = log_interval(values, confidence)
    logs = np.log(values)
    half = (
        float(scipy.stats.t.ppf((1 + confidence) / 2, len(logs) - 1))
        * float(np.std(logs, ddof=1))
        / math.sqrt(len(logs))
    )
    assert result is not None
    assert [math.log(bound) for bound in result] == pytest.approx(
        [float(np.mean(logs)) - half, float(np.mean(logs)) + half], abs=1e-7
    )


def test_units_do_not_matter_to_the_interval() -> None:
    seconds, nanoseconds = log_interval([1.0, 1.1, 1.3]), log_interval([1e9, 1.1e9, 1.3e9])
    assert seconds is not None
    assert nanoseconds == pytest.approx([1e9 * bound for bound in seconds])


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 1.1], [1.0, 1.1, 0.0], [1.0, 1.1, -1.0]])
def test_fewer_than_three_values_or_one_that_is_not_positive_have_no_interval(values: list[float]) -> None:
    assert log_interval(values) is None


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    # 4000 draws of K = 5 lognormal processes, seed 0: 95 % give 3800, and 41 are three standard deviations.
    generator = np.random.default_rng(0)
    draws = np.exp(generator.normal(0.0, 0.1, (4000, 5)))
    result = [log_interval(list(draw)) for draw in draws]
    covering = sum(interval is not None and interval[0] <= 1.0 <= interval[1] for interval in result)
    assert abs(covering - 3800) <= 42
