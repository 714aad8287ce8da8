"""Who is told how a command goes, while it measures."""

from __future__ import annotations

from typing import Protocol

from opperf.domain.outcome import Outcome
from opperf.domain.plan import Trial


class Progress(Protocol):
    """Who is told how a run goes. Nothing is told while a sample is taken."""

    def note(self, text: str) -> None:
        """Take one line of news."""

    def plan(self, framework: str, count: int, total: int) -> None:
        """Take how many of a framework's own operators were asked for their cases; none where their list is awaited."""

    def begin(self, total: int) -> None:
        """Take the number of measurements to come."""

    def next(self, trial: Trial) -> None:
        """Take the trial that is measured now."""

    def done(self, outcome: Outcome) -> None:
        """Take what became of it."""


class Silent:
    """Tells nobody."""

    def note(self, text: str) -> None:
        """Drop it."""

    def plan(self, framework: str, count: int, total: int) -> None:
        """Drop it."""

    def begin(self, total: int) -> None:
        """Drop it."""

    def next(self, trial: Trial) -> None:
        """Drop it."""

    def done(self, outcome: Outcome) -> None:
        """Drop it."""
