"""When to stop: rules as objects, asked after each sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from opperf.domain.plan import Settings
from opperf.domain.stats.order import relative_precision

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


def stopping(settings: Settings) -> Stopping:
    """Return the rule that the settings ask for."""
    if settings.runs is not None:
        return Count(settings.runs)
    return Precision(settings.precision, settings.trial_budget)
