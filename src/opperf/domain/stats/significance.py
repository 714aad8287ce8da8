"""Is it different? Tests on paired log-ratios, many operators at once, several looks.

The unit is a pair of processes: one log-ratio for each. Samples within a process are no further evidence, since they
share its memory layout, its page colours and its luck.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from opperf.domain.stats.student import t_cdf, t_quantile

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
    def trimmed(cls, ratios: Sequence[float], share: float) -> PairedTest:
        """Return the test of the trimmed mean, without this share of the ratios at either end; three must remain.

        Yuen, Biometrika 61 (1974), 165-170: the error is that of the ratios with each end drawn in to what is left. One
        pair that met something else then widens the interval little, where it rules a plain t-test.

        >>> test = PairedTest.trimmed([0.0, 0.01, 0.02, 0.03, 0.9], 0.2)
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

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
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
    believed = 0
    for rank, i in enumerate(order, 1):
        if p_values[i] <= rate * rank / len(p_values):
            believed = rank
    places = set(order[:believed])
    return [i in places for i in range(len(p_values))]


def wilson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
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


#: The error of a comparison whose pairs agree to the last digit, as on a virtual clock: a weight must stay a number.
LEAST_ERROR = 1e-6


@dataclass(frozen=True)
class Estimate:
    """A log-ratio and its standard error."""

    log_ratio: float
    error: float

    @classmethod
    def of(cls, ratio: float, interval: tuple[float, float], confidence: float = 0.95) -> Estimate:
        """Return the estimate that a ratio and its interval state, the interval taken as that of a normal variable.

        An interval from few pairs is wider than that for the same spread, so the error is rather too large.
        """
        return cls(math.log(ratio), max(math.log(interval[1] / interval[0]) / 2 / _sigmas(confidence), LEAST_ERROR))

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the interval of the ratio.

        >>> [round(bound, 3) for bound in Estimate(0.05, 0.01).interval()]
        [1.031, 1.072]
        """
        half = _sigmas(confidence) * self.error
        return math.exp(self.log_ratio - half), math.exp(self.log_ratio + half)


def _sigmas(confidence: float) -> float:
    return t_quantile((1 + confidence) / 2, 1e7)
