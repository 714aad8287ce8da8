"""Which span of a thread lies within which other: what a call took by itself is its time without its callees'."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from opperf.profile.event import Event


def parents(events: Sequence[Event]) -> list[int | None]:
    """Return for each span the place of the innermost one of its thread that it lies within; None at the top.

    >>> spans = [Event("a", "operator", 0, 10, 1, "main"), Event("b", "operator", 2, 3, 1, "main")]
    >>> parents(spans)
    [None, 0]
    """
    found: list[int | None] = [None] * len(events)
    threads: dict[tuple[int, str], list[int]] = defaultdict(list)
    for place, event in enumerate(events):
        threads[event.process, event.thread].append(place)
    for places in threads.values():
        open_spans: list[int] = []
        # Of two that begin together the longer one is outside.
        for place in sorted(places, key=lambda place: (events[place].begin, -events[place].duration)):
            while open_spans and events[open_spans[-1]].end < events[place].end:
                open_spans.pop()
            while open_spans and events[open_spans[-1]].end <= events[place].begin:
                open_spans.pop()
            found[place] = open_spans[-1] if open_spans else None
            open_spans.append(place)
    return found


def own_times(events: Sequence[Event]) -> list[int]:
    """Return for each span its nanoseconds without those of the spans right within it.

    >>> own_times([Event("a", "operator", 0, 10, 1, "main"), Event("b", "operator", 2, 3, 1, "main")])
    [7, 3]
    """
    own = [event.duration for event in events]
    for place, parent in enumerate(parents(events)):
        if parent is not None:
            own[parent] -= events[place].duration
    return [max(0, time) for time in own]
