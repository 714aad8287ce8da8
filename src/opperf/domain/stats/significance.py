"""Is it different? Tests on paired log-ratios, many operators at once, several looks.

The unit is a pair of processes: one log-ratio for each. Samples within a process are no further evidence, since they
share its memory layout, its page colours and its luck.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import fmean, stdev

from opperf.domain.dataclass import dataclass
from opperf.domain.stats.order import CONFIDENCE


def t_cdf(value: float, freedom: float) -> float:
    """Return the probability that Student's t with `freedom` degrees is below `value`.

    Through the regularised incomplete beta function (Abramowitz and Stegun 26.7.1 and 26.5.8).

    >>> round(t_cdf(2.0, 10), 6)
    0.963306
    """
    square = value * value
    if square < freedom:  # near the centre the tail is nearly a half, and what is far from it would be lost
        inner = 0.5 * _incomplete_beta(0.5, freedom / 2, square / (freedom + square))
        return 0.5 + inner if value > 0 else 0.5 - inner
    tail = 0.5 * _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + square))
    return 1 - tail if value > 0 else tail


@lru_cache(maxsize=1024)
def t_quantile(probability: float, freedom: float) -> float:
    """Return the value below which Student's t with `freedom` degrees lies with this probability.

    >>> round(t_quantile(0.975, 4), 4)
    2.7764
    """
    if not 0 < probability < 1:
        raise ValueError(f"probability is {probability}, expected a number between 0 and 1")
    if probability < 0.5:
        return -t_quantile(1 - probability, freedom)
    low, high = 0.0, 1.0
    while t_cdf(high, freedom) < probability:
        low, high = high, high * 2
    for _ in range(200):  # bisection: each step halves the interval, and 60 reach the last bit
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if t_cdf(middle, freedom) < probability else (low, middle)
    return (low + high) / 2


def log_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float] | None:
    """Return the t-interval of the geometric mean of positive values; None with fewer than three.

    Times differ by factors, so the logs are what is nearly normal.

    >>> [round(bound, 3) for bound in log_interval([1.0, 1.1, 1.2])]
    [0.875, 1.376]
    """
    if len(values) < 3 or min(values) <= 0:
        return None
    logs = [math.log(value) for value in values]
    half = t_quantile((1 + confidence) / 2, len(logs) - 1) * stdev(logs) / math.sqrt(len(logs))
    return math.exp(fmean(logs) - half), math.exp(fmean(logs) + half)


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Return I_x(a, b), by the continued fraction of Numerical Recipes 6.4 (Lentz's method)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(a, b, x) / a
    return 1 - front * _beta_fraction(b, a, 1 - x) / b


def _beta_fraction(a: float, b: float, x: float) -> float:
    tiny = 1e-300
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or tiny)
    result = d
    for m in range(1, 500):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / ((1 + term * d) or tiny)
            c = (1 + term / c) or tiny
            result *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return result


#: Spread that a t-test is given when all pairs agree to the last digit (a virtual clock): it must not divide by zero.
LEAST_SPREAD = 1e-12


@dataclass(frozen=True)
class PairedTest:
    """What paired log-ratios say of their mean: the mean, its standard error, and the degrees of freedom."""

    mean: float
    error: float
    freedom: int

    @classmethod
    def of(cls, ratios: Sequence[float]) -> PairedTest:
        """Return the test of log-ratios; at least two are needed.

        >>> test = PairedTest.of([0.04, 0.05, 0.06])
        >>> round(test.mean, 3), round(test.p_value(), 4)
        (0.05, 0.0131)
        """
        if len(ratios) < 2:
            raise ValueError("a paired test needs two pairs")
        spread = max(stdev(ratios), LEAST_SPREAD)
        return cls(fmean(ratios), spread / math.sqrt(len(ratios)), len(ratios) - 1)

    @classmethod
    def of_trimmed_mean(cls, ratios: Sequence[float], share: float) -> PairedTest:
        """Return the test of the trimmed mean, without this share of the ratios at either end; three must remain.

        Yuen, Biometrika 61 (1974), 165-170: the error is that of the ratios with each end drawn in to what is left. One
        pair that met something else then widens the interval little, where it rules a plain t-test.

        >>> test = PairedTest.of_trimmed_mean([0.0, 0.01, 0.02, 0.03, 0.9], 0.2)
        >>> round(test.mean, 3), test.freedom
        (0.02, 2)
        """
        ordered, count = sorted(ratios), len(ratios)
        ends = int(share * count)
        inner = ordered[ends : count - ends]
        if len(inner) < 3:
            raise ValueError("a trimmed test needs three pairs between its ends")
        drawn_in = [inner[0]] * ends + inner + [inner[-1]] * ends
        error = max(stdev(drawn_in), LEAST_SPREAD) / ((1 - 2 * ends / count) * math.sqrt(count))
        return cls(fmean(inner), error, len(inner) - 1)

    def p_value(self) -> float:
        """Return how likely a mean this far from zero would be if both sides were equal (two-sided)."""
        return 2 * (1 - t_cdf(abs(self.mean) / self.error, self.freedom))

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """Return the interval of the mean."""
        half = t_quantile((1 + confidence) / 2, self.freedom) * self.error
        return self.mean - half, self.mean + half


def discoveries(p_values: Sequence[float], rate: float) -> list[bool]:
    """Return which of several tests to believe so that at most a share `rate` of them is false.

    Benjamini and Hochberg, J. R. Statist. Soc. B 57 (1995), 289-300.

    >>> discoveries([0.001, 0.04, 0.03, 0.9], 0.1)
    [True, True, True, False]
    """
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    discoveries_end = 0
    for rank, i in enumerate(order, 1):
        if p_values[i] <= rate * rank / len(p_values):
            discoveries_end = rank
    places = set(order[:discoveries_end])
    return [i in places for i in range(len(p_values))]


def wilson(successes: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the interval of a share (Wilson, J. Am. Statist. Assoc. 22 (1927), 209-212).

    >>> [round(bound, 3) for bound in wilson(2, 400)]
    [0.001, 0.018]
    """
    if trials == 0:
        return 0.0, 1.0
    z = t_quantile((1 + confidence) / 2, 1e7)
    share = successes / trials
    centre = share + z * z / (2 * trials)
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)


#: From here on Wilson's interval and the exact one are the same in all digits that anybody reads.
MOST_EXACT = 1_000_000


def clopper_pearson(successes: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the exact interval of a share (Clopper and Pearson, Biometrika 26 (1934), 404-413).

    It holds the share at least as often as it says, for few trials too, where Wilson's does so on average only.

    >>> [round(bound, 3) for bound in clopper_pearson(0, 10)], [round(bound, 3) for bound in clopper_pearson(9, 10)]
    ([0.0, 0.308], [0.555, 0.997])
    """
    if trials > MOST_EXACT:
        return wilson(successes, trials, confidence)
    successes = min(successes, trials)  # a file may say anything
    tail, others = (1 - confidence) / 2, trials - successes
    low = _beta_quantile(tail, successes, others + 1) if successes > 0 else 0.0
    high = _beta_quantile(1 - tail, successes + 1, others) if others > 0 else 1.0
    return low, high


def _beta_quantile(probability: float, a: float, b: float) -> float:
    """Return the value below which a beta variable lies with this probability, by bisection to the last bit."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _incomplete_beta(a, b, middle) < probability else (low, middle)
    return (low + high) / 2


#: The error of a comparison whose pairs agree to the last digit, as on a virtual clock: a weight must stay a number.
LEAST_ERROR = 1e-6
#: The error of one that says nothing: the ends of its interval must stay numbers.
LARGEST_ERROR = 50.0


@dataclass(frozen=True)
class Estimate:
    """A log-ratio and its standard error."""

    log_ratio: float
    error: float

    @classmethod
    def of(cls, ratio: float, interval: tuple[float, float], confidence: float = CONFIDENCE) -> Estimate:
        """Return the estimate that a ratio and its interval state, the interval taken as that of a normal variable.

        An interval from few pairs is wider than that for the same spread, so the error is rather too large.
        """
        error = (math.log(interval[1]) - math.log(interval[0])) / 2 / _sigmas(confidence)
        return cls(math.log(ratio), min(max(error, LEAST_ERROR), LARGEST_ERROR))

    def interval(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """Return the interval of the ratio.

        >>> [round(bound, 3) for bound in Estimate(0.05, 0.01).interval()]
        [1.031, 1.072]
        """
        half = _sigmas(confidence) * self.error
        return math.exp(self.log_ratio - half), math.exp(self.log_ratio + half)


def _sigmas(confidence: float) -> float:
    return t_quantile((1 + confidence) / 2, 1e7)
