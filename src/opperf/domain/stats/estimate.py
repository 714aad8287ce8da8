"""A ratio as it is known: its logarithm, and the standard error of that."""

from __future__ import annotations

import math
from dataclasses import dataclass

from opperf.domain.stats.student import t_quantile

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
