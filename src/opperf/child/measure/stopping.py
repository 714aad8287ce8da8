"""When samples are enough: after so many, when the median is known well, or when they agree; or after so long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from opperf.domain.dataclass import dataclass
from opperf.domain.plan import Settings
from opperf.domain.stats.order import median, quantile, relative_precision

#: Precision is looked at only at these counts of samples: a look after every sample stops at a lucky moment.
FIRST_LOOK = 20
#: Fewer samples say nothing of spread. Where even these would take four budgets, three must do.
LEAST = 10
LEAST_OF_SLOW = 3
#: The cap, for operators so noisy that precision is never reached within the budget.
MOST = 20 * 2**7


class Stopping(Protocol):
    """A rule that ends the sampling of a trial."""

    def finished(self, clean: Sequence[float], count: int, elapsed: float) -> bool:
        """Whether to stop, given the clean times, the number of samples taken and the seconds since the first."""


@dataclass(frozen=True)
class Count:
    """Stop after a number of samples."""

    samples: int

    def finished(self, clean: Sequence[float], count: int, elapsed: float) -> bool:
        """Whether that many samples are taken."""
        return count >= self.samples


@dataclass
class Precision:
    """Stop when the median is known well enough, or when the time is up.

    The interval of the median is looked at with 20, 40, 80... clean samples.
    """

    precision: float
    budget: float
    look: int = FIRST_LOOK

    def finished(self, clean: Sequence[float], count: int, elapsed: float) -> bool:
        """Whether the precision is reached at a look, or the budget is spent."""
        if count >= MOST:
            return True
        if elapsed >= self.budget:
            return count >= LEAST or (count >= LEAST_OF_SLOW and elapsed >= 4 * self.budget)
        if len(clean) < self.look:
            return False
        self.look *= 2
        precision = relative_precision(clean)
        return precision is not None and precision <= self.precision


@dataclass(frozen=True)
class AtLeast:
    """Sample for so many seconds at least, and until the samples say something of spread."""

    seconds: float

    def finished(self, clean: Sequence[float], count: int, elapsed: float) -> bool:
        """Whether both are reached; few samples are enough where they take long."""
        return elapsed >= self.seconds and (count >= LEAST or (count >= LEAST_OF_SLOW and elapsed >= 4 * self.seconds))


@dataclass(frozen=True)
class Agreeing:
    """Sample until the interquartile range of clean samples is below a share of their median, or `most` seconds."""

    threshold: float
    seconds: float
    most: float

    def finished(self, clean: Sequence[float], count: int, elapsed: float) -> bool:
        """Whether the samples agree, or the time is up."""
        if elapsed > self.most:
            return True
        if elapsed < self.seconds or len(clean) < LEAST_OF_SLOW + 1:
            return False
        ordered = sorted(clean)
        return quantile(ordered, 0.75) - quantile(ordered, 0.25) < self.threshold * median(ordered)


def stopping(settings: Settings) -> Stopping:
    """Return the rule that the settings ask for."""
    if settings.runs is not None:
        return Count(settings.runs)
    return Precision(settings.precision, settings.trial_budget)
