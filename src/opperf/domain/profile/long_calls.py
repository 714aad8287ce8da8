"""Few calls that make up a row: what the machine or a first call did, and not the operator."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from opperf.domain.profile.event import Event

#: A call is long from so many times the median of those like it: caches and neighbours seldom make one thrice as slow,
#: while a first call, a lost processor or a page from the disk make it a hundred times so.
FAR = 10
#: More than this share of the calls are not few. A tenth of the calls, ten times as long, just make up half of a row.
FEW = 0.1
#: The share of a row's time from which they make it up: without them it would be less than half as long.
MOST = 0.5


def long_calls(events: Sequence[Event], durations: Sequence[int]) -> tuple[int, float] | None:
    """Return how many of a row's calls are long, and their share of its time, where these few make it up; else None.

    A call is long where it takes more than `FAR` times the median of the calls of its name and shapes. They make up the
    row where they are at most `FEW` of its calls and take more than `MOST` of its time.

    >>> def calls(*durations):
    ...     return [Event("sqrt", "operator", 0, one, 1, "main") for one in durations], durations
    >>> long_calls(*calls(*[1] * 99, 901))
    (1, 0.901)
    >>> long_calls(*calls(*[1] * 8, 100, 100)), long_calls(*calls(*[1] * 99, 10))
    (None, None)
    """
    alike: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for event, duration in zip(events, durations):
        alike[event.name, event.shapes].append(duration)
    # Where most of the calls took no time that the clock could see, nothing tells how long they should be.
    middles = [(group, median(group)) for group in alike.values()]
    calls_far = [one for group, middle in middles if middle for one in group if one > FAR * middle]
    if not calls_far or len(calls_far) > FEW * len(durations) or sum(calls_far) <= MOST * sum(durations):
        return None
    return len(calls_far), sum(calls_far) / sum(durations)
