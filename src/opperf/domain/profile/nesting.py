"""Which span of a thread lies within which other: the self time of a call is its time without its callees."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from opperf.domain.profile.event import Event


def parents(events: Sequence[Event]) -> list[int | None]:
    """Return for each span the place of the innermost one of its thread that it lies within; None at the top.

    >>> spans = [Event("a", "operator", 0, 10, 1, "main"), Event("b", "operator", 2, 3, 1, "main")]
    >>> parents(spans)
    [None, 0]
    """
    result: list[int | None] = [None] * len(events)
    for places in _threads(events):
        open_spans: list[int] = []
        for place in places:
            while open_spans and events[open_spans[-1]].end < events[place].end:
                open_spans.pop()
            while open_spans and events[open_spans[-1]].end <= events[place].begin:
                open_spans.pop()
            result[place] = open_spans[-1] if open_spans else None
            open_spans.append(place)
    return result


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


def lanes(events: Sequence[Event]) -> list[tuple[int, int]]:
    """Return for each span its lane of its thread, and how many spans of that lane are around it.

    Spans of one lane lie within each other or apart. A thread has one lane, 0, unless some of its spans partly overlap.

    >>> lanes([Event(name, "task", begin, 10 - begin, 1, "main") for name, begin in (("a", 0), ("b", 2))])
    [(0, 0), (0, 1)]
    >>> lanes([Event(name, "task", begin, 10, 1, "main") for name, begin in (("a", 0), ("b", 2))])
    [(0, 0), (1, 0)]
    """
    result = [(0, 0)] * len(events)
    for places in _threads(events):
        open_ends: list[list[int]] = []  # of the spans that are open in each lane, the innermost last
        for place in places:
            begin, end = events[place].begin, events[place].end
            for ends in open_ends:
                while ends and ends[-1] <= begin:
                    ends.pop()
            lane = next((lane for lane, ends in enumerate(open_ends) if not ends or end <= ends[-1]), len(open_ends))
            if lane == len(open_ends):
                open_ends.append([])
            result[place] = lane, len(open_ends[lane])
            open_ends[lane].append(end)
    return result


def track(thread: str, lane: int) -> str:
    """Return what a lane of a thread is called.

    >>> track("main", 0), track("main", 1)
    ('main', 'main (2)')
    """
    return thread if lane == 0 else f"{thread} ({lane + 1})"


def in_time(event: Event) -> tuple[int, int]:
    """Return the sort key of spans, by which each follows those that enclose it."""
    # Of two that begin together the longer one is outside.
    return event.begin, -event.duration


def _threads(events: Sequence[Event]) -> Iterator[list[int]]:
    """Yield the places of each thread's spans, in time."""
    threads: dict[tuple[int, str], list[int]] = defaultdict(list)
    for place, event in enumerate(events):
        threads[event.process, event.thread].append(place)
    for places in threads.values():
        yield sorted(places, key=lambda place: in_time(events[place]))
