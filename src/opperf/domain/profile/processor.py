"""Which part of a span its process really ran: what is left of wall time when other programs have the processors.

A span lasts from its beginning to its end, whoever ran meanwhile. What the threads of its process did is known in
slices: of the time that they could have run, the part that they ran is what a span of that time was worth.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from itertools import accumulate, pairwise

from opperf.domain.profile.event import Event, Slice


class Processor:
    """Says of spans of time which part a process ran.

    >>> processor = Processor([Slice(0, 100, 1, ran=100, waited=0), Slice(100, 200, 1, ran=20, waited=80)])
    >>> [processor.share(Event("sqrt", "operator", begin, 50, 1, "main")) for begin in (0, 75, 150)]
    [1.0, 0.6, 0.2]
    """

    def __init__(self, slices: Iterable[Slice]) -> None:
        several: dict[int, list[Slice]] = defaultdict(list)
        for piece in slices:
            several[piece.process].append(piece)
        self._ran = {process: _Sum([(one.begin, one.end, one.ran) for one in own]) for process, own in several.items()}
        self._waited = {
            process: _Sum([(one.begin, one.end, one.waited) for one in own]) for process, own in several.items()
        }

    def share(self, event: Event) -> float:
        """Return the part of the time that threads could have run in which they ran.

        It is 1 where nothing is known, and on a device, which does not share its time with the processors.
        """
        if event.process not in self._ran or event.device is not None:
            return 1.0
        ran, waited = (sums[event.process].between(event.begin, event.end) for sums in (self._ran, self._waited))
        return ran / (ran + waited) if ran + waited > 0 else 1.0


class _Sum:
    """Amounts that were spread evenly over stretches of time, summed up."""

    def __init__(self, stretches: Iterable[tuple[int, int, int]]) -> None:
        changes: dict[int, float] = defaultdict(float)
        for begin, end, amount in stretches:
            if end > begin:
                changes[begin] += amount / (end - begin)
                changes[end] -= amount / (end - begin)
        self._times = sorted(changes)
        self._rates = list(accumulate(changes[time] for time in self._times))
        lengths = [after - before for before, after in pairwise(self._times)]
        self._sums = [0.0, *accumulate(length * rate for length, rate in zip(lengths, self._rates))]

    def between(self, begin: int, end: int) -> float:
        """Return the sum within a stretch of time; for a moment, the rate."""
        if begin == end:
            return self._rate(begin)
        return max(0.0, self._until(end) - self._until(begin))

    def _until(self, time: int) -> float:
        place = bisect_right(self._times, time) - 1
        if place < 0:
            return 0.0
        return self._sums[place] + (time - self._times[place]) * self._rates[place]

    def _rate(self, time: int) -> float:
        place = bisect_right(self._times, time) - 1
        return max(0.0, self._rates[place]) if place >= 0 else 0.0
