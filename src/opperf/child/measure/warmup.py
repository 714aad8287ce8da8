"""Warm-up: calls that nobody counts, until times no longer fall."""

from __future__ import annotations

from dataclasses import dataclass, field

#: Times have settled when the best of the last blocks is no better than the best before them by more than this.
FALLING = 0.02
#: The blocks that are compared with the ones before.
WINDOW = 3
#: Blocks after which warm-up ends in any case, and the share of the trial's budget that it may take.
MOST_BLOCKS = 200
MOST_OF_BUDGET = 0.3


@dataclass
class Settling:
    """Watches the times of warm-up blocks.

    The minimum is watched, since it falls while caches, allocators and branch predictors learn and a disturbed block
    cannot lower it.
    """

    budget: float
    times: list[float] = field(default_factory=list)

    def add(self, seconds: float) -> None:
        """Take the time of one call in the next block."""
        self.times.append(seconds)

    def settled(self, elapsed: float) -> bool:
        """Whether to begin sampling."""
        if len(self.times) >= MOST_BLOCKS or elapsed >= MOST_OF_BUDGET * self.budget:
            return len(self.times) >= 1
        if len(self.times) < 2 * WINDOW:
            return False
        return min(self.times[-WINDOW:]) >= (1 - FALLING) * min(self.times[:-WINDOW])
