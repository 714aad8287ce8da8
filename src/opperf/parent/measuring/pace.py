"""How far a live comparison is, and how long the rest may take: a bar, or lines for each pair and between.

What is left is what each open comparison has still planned, at what a pair of it took so far; a verdict may come
before, and what stands out is measured again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from opperf.domain.units import plural
from opperf.parent.measuring.contest import Contest
from opperf.parent.measuring.progress import Progress, Silent
from opperf.parent.reports.text import one_line, subject

#: Seconds between two lines within a pair.
LINE_EVERY = 10.0


class Pace:
    """Says which pair is measured, and how long the rest may take.

    `jobs` comparisons are measured at once, of all `contests`; `progress` may have a bar for them.
    """

    def __init__(self, note: Callable[[str], None]) -> None:
        """Say nothing yet."""
        self.jobs = 1
        self.contests: Sequence[Contest] = ()
        self.progress: Progress = Silent()
        self._note = note
        self._head = ""
        self._total = self._count = 0
        self._line_at = time.monotonic()

    def begin(self, contests: Sequence[Contest], pair: int, most: int, *, again: bool) -> None:
        """Say that a pair of these contests begins; `again`, to confirm what stood out."""
        self._total, self._count = len(contests), 0
        self._head = f"{'confirming: ' if again else ''}pair {pair} of {most}"
        self._say(plural(len(contests), "comparison"))

    def next(self, contest: Contest) -> None:
        """Say which contest of the pair is measured: on a bar at once, else now and then."""
        name = one_line(f"{subject(contest.key.case, contest.base.side)} {contest.key.direction}")
        is_shown = self._show(f"{self._head}: {name}")
        if not is_shown and time.monotonic() - self._line_at >= LINE_EVERY:
            self._say(f"{self._count} of {plural(self._total, 'comparison')} measured, now {name}")
        self._count += 1

    def close(self) -> None:
        """Take the bar away."""
        self.progress.close()

    def _say(self, text: str) -> None:
        self._line_at = time.monotonic()
        if not self._show(f"{self._head}: {text}"):
            left = self._left()
            self._note(f"{self._head}: {text}{f', {left} more' if left else ''}")

    def _show(self, text: str) -> bool:
        """Show a bar of the pairs of all contests, and return whether there is one."""
        open_pairs = sum(one.missing for one in self.contests if not one.decided)
        done = sum(one.pairs for one in self.contests)
        return self.progress.compare(text, done, done + open_pairs, self._left())

    def _left(self) -> str:
        """Say how long the rest may take; nothing before anything was measured."""
        measured = [one for one in self.contests if one.pairs]
        if not measured:
            return ""
        of_a_pair = sum(one.seconds / one.pairs for one in measured) / len(measured)
        seconds = sum(
            one.missing * (one.seconds / one.pairs if one.pairs else of_a_pair)
            for one in self.contests
            if not one.decided
        )
        return f"up to about {_duration(seconds / self.jobs)}"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
