"""How far a live comparison is, and how long the rest may take: a line for each pair, and now and then one between.

What is left is what each open comparison has still planned, at what a pair of it took so far; a verdict may come
before, and what stands out is measured again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from opperf.domain.units import plural
from opperf.parent.measuring.contest import Contest
from opperf.parent.reports.text import one_line, subject

#: Seconds between two lines within a pair.
LINE_EVERY = 10.0


class Pace:
    """Says which pair is measured, and how long the rest may take."""

    def __init__(self, note: Callable[[str], None], *, jobs: int = 1) -> None:
        """Say nothing yet; `jobs` comparisons are measured at once."""
        self._note, self._jobs = note, jobs
        self._head = ""
        self._total = self._count = 0
        self._contests: Sequence[Contest] = ()
        self._line_at = time.monotonic()

    def begin(self, contests: Sequence[Contest], pair: int, most: int, *, again: bool) -> None:
        """Say that a pair of these contests begins; `again`, to confirm what stood out."""
        self._contests, self._total, self._count = contests, len(contests), 0
        self._head = f"{'confirming: ' if again else ''}pair {pair} of {most}"
        self._say(plural(len(contests), "comparison"))

    def next(self, contest: Contest) -> None:
        """Say now and then which contest of the pair is measured."""
        if time.monotonic() - self._line_at >= LINE_EVERY:
            name = f"{subject(contest.key.case, contest.base.side)} {contest.key.direction}"
            self._say(f"{self._count} of {plural(self._total, 'comparison')} measured, now {one_line(name)}")
        self._count += 1

    def _say(self, text: str) -> None:
        self._line_at = time.monotonic()
        self._note(f"{self._head}: {text}{self._left()}")

    def _left(self) -> str:
        """Say how long the rest may take; nothing before anything was measured."""
        measured = [one for one in self._contests if one.pairs]
        if not measured:
            return ""
        of_a_pair = sum(one.seconds / one.pairs for one in measured) / len(measured)
        seconds = sum(
            one.missing * (one.seconds / one.pairs if one.pairs else of_a_pair)
            for one in self._contests
            if not one.decided
        )
        return f", up to about {_duration(seconds / self._jobs)} more"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
