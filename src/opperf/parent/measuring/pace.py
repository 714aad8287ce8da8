"""How far a live comparison is, and how long the rest may take: a bar, or lines for each pair and between.

Two times are said: until the next look, when verdicts may come, and the most that may follow: what each open comparison
has still planned, at what a pair of it took so far. What stands out is measured again, which nobody knows before.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from statistics import fmean

from opperf.domain.stats.order import median
from opperf.domain.units import plural
from opperf.parent.measuring.contest import Contest
from opperf.parent.measuring.progress import LINE_EVERY, Progress, Silent
from opperf.parent.reports.text import case_text, one_line, subject

#: From this number of comparisons on there is a first answer, long before the verdicts, which names so many.
MANY, MOST_NAMED = 20, 5


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
        # By identity, of the contests of this pair: all of them, and those that are still ahead.
        self._together: set[int] = set()
        self._ahead: set[int] = set()
        self._pair = self._most = 0
        self._line_at = time.monotonic()

    def begin(self, contests: Sequence[Contest], pair: int, most: int, *, again: bool) -> None:
        """Say that a pair of these contests begins; `again`, to confirm what stood out."""
        self._together, self._ahead = set(map(id, contests)), set(map(id, contests))
        self._pair, self._most = pair, most
        self._head = f"{'confirming: ' if again else ''}pair {pair} of {most}"
        self._say(plural(len(contests), "comparison"))

    def next(self, contest: Contest) -> None:
        """Say which contest of the pair is measured: on a bar at once, else now and then."""
        name = one_line(f"{subject(contest.key.case, contest.base.side)} {contest.key.direction}")
        is_shown = self._show(f"{self._head}: {name}")
        if not is_shown and time.monotonic() - self._line_at >= LINE_EVERY:
            count, total = len(self._together - self._ahead), plural(len(self._together), "comparison")
            self._say(f"{count} of {total} measured, now {name}")
        self._ahead.discard(id(contest))

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
        """Say how long the rest may take; nothing after the first alone, which pays for the start of the children."""
        costs = [one.seconds / one.pairs for one in self.contests if one.pairs]
        if not costs or (len(costs) == 1 < len(self.contests)):
            return ""
        usual = median(costs)

        def seconds(pairs: Callable[[Contest], int]) -> float:
            each = (one.seconds / one.pairs if one.pairs else usual for one in open_contests)
            return sum(cost * pairs(one) for cost, one in zip(each, open_contests)) / self.jobs

        open_contests = [one for one in self.contests if not one.decided]
        look = seconds(self._until_look)
        to_the_end = seconds(lambda one: one.missing)
        if look >= to_the_end:
            return f"up to about {_duration(to_the_end)}"
        return f"about {_duration(look)} to pair {self._most}, up to {_duration(to_the_end)}"

    def _until_look(self, contest: Contest) -> int:
        """Return how many pairs a contest has until the next look, this one included where it is ahead."""
        return self._most - self._pair + (id(contest) in self._ahead) if id(contest) in self._together else 0


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def first_answer(contests: Sequence[Contest], band: Callable[[Contest], float]) -> str | None:
    """Say which of many comparisons differ most so far, by more than their `band`; None where they are few.

    It is no verdict: what was selected for being far off is nearer in fresh pairs.
    """
    ratios = [(fmean(one.ratios1), one) for one in contests if one.ratios1 and not one.decided]
    if len(ratios) < MANY:
        return None
    beyond = sorted(((ratio, one) for ratio, one in ratios if abs(ratio) > band(one)), key=lambda pair: -abs(pair[0]))
    names = ", ".join(f"{_name(one)} {math.exp(ratio):.2f}" for ratio, one in beyond[:MOST_NAMED])
    more = f", the most: {names}" if names else ""
    return f"not confirmed yet: {len(beyond)} of {plural(len(ratios), 'comparison')} beyond the tolerance{more}"


def _name(contest: Contest) -> str:
    case = contest.key.case
    arguments = case_text(case)
    return one_line(subject(case, contest.base.side) + (f"({arguments})" if arguments else ""))
