"""What MXNet's profiler writes into its file, as spans.

* Begin and end of a span stand one after the other, in whole microseconds since 1970. So the time of a single short
  operator is rounded, by less than 1 us up or down; totals are those of MXNet's own summary, which adds up the same.
* What they are, their names tell (`domain/profile/mxnet_names.py`).
* A pattern finds the events, because from the second dump on the file is not JSON.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from opperf.child.backends.mxnet.allocations import Change, allocated_bytes, peak
from opperf.domain.profile.event import Event, Reading, parents
from opperf.domain.profile.mxnet_names import is_backward, is_fused, kind_of_span

#: Name, category, phase, time stamp and thread of one event; a frame of the program is between brackets.
EVENT = re.compile(
    r'"name": "([^\n]*)",\n\s*"cat": "([^\n]*)",\n\s*"ph": "([BEbe()])",\s*"ts": (\d+),\s*(?:"id": \d+,\s*)?'
    r'"pid": \d+,\s*"tid": (\d+)'
)
BEGINS = frozenset("Bb(")


def spans(text: str, process: int) -> list[Event]:
    """Return the spans in the order of the file; threads are as MXNet numbers them."""
    events: list[Event] = []
    begin = 0
    for name, category, phase, stamp, thread in EVENT.findall(text):
        time = int(stamp) * 1000
        if phase in BEGINS:
            begin = time
        elif kind := kind_of_span(name, category, phase):
            fused, backward = (is_fused(name), is_backward(name)) if kind == "operator" else (False, False)
            events.append(Event(name, kind, begin, time - begin, process, thread, backward=backward, fused=fused))
    return events


def with_memory(events: Sequence[Event], readings_of_memory: Iterable[Change]) -> list[Event]:
    """Return the spans, operators with the bytes that their thread allocated while they ran.

    Where one operator ends and the next begins in the same microsecond, what was allocated then is the next one's.
    """
    operators = [event for event in events if event.kind == "operator"]
    above = parents(operators)
    begins: dict[str, list[int]] = defaultdict(list)
    # Of two that begin together the longer one is outside.
    for place in sorted(range(len(operators)), key=lambda place: (operators[place].begin, -operators[place].duration)):
        begins[operators[place].thread].append(place)
    allocations: dict[int, list[int]] = defaultdict(list)
    for change in readings_of_memory:
        time = change.time * 1000
        places = begins.get(change.thread, [])
        before = bisect_right(places, time, key=lambda place: operators[place].begin)
        inner = places[before - 1] if before else None
        while inner is not None:
            if time <= operators[inner].end:
                allocations[inner].append(change.size)
            inner = above[inner]
    pairs = (
        replace(operator, allocated=allocated_bytes(allocations[place]), peak=peak(allocations[place]))
        for place, operator in enumerate(operators)
    )
    return _put_back(events, pairs)


def with_modules(events: Sequence[Event], modules: Sequence[Event]) -> list[Event]:
    """Return the spans, operators with the innermost of the modules that they ran in."""
    operators = [event for event in events if event.kind == "operator"]
    pairs = (
        operator if place is None else replace(operator, module=modules[place].name)
        for operator, place in zip(operators, _enclosing_spans(operators, modules))
    )
    return _put_back(events, pairs)


def with_shapes(events: Sequence[Event], calls: Sequence[Event]) -> list[Event]:
    """Return the spans, operators with the shapes that they were called with: each that ran alone in a call."""
    operators = [event for event in events if event.kind == "operator"]
    places = _enclosing_spans(operators, calls)
    ran = Counter(places)
    pairs = (
        operator if place is None or ran[place] > 1 else replace(operator, shapes=calls[place].shapes)
        for operator, place in zip(operators, places)
    )
    return _put_back(events, pairs)


def _enclosing_spans(inner: Sequence[Event], outer: Sequence[Event]) -> list[int | None]:
    """Return for each of the inner spans the place of the innermost of the outer ones that it lies within."""
    above = parents([*outer, *inner])
    places: list[int | None] = []
    for place in range(len(outer), len(above)):
        up = above[place]
        while up is not None and up >= len(outer):
            up = above[up]
        places.append(up)
    return places


def _put_back(events: Iterable[Event], operators: Iterator[Event]) -> list[Event]:
    """Return the spans with other operators in the places of theirs."""
    return [next(operators) if event.kind == "operator" else event for event in events]


def readings(allocations: Iterable[Change], began: int, process: int) -> list[Reading]:
    """Return how many bytes were held over time, of those that were allocated since it `began`: none at first."""
    totals: dict[str, int] = {}
    result: list[Reading] = []
    for change in allocations:
        device = change.device
        if device not in totals:
            result.append(Reading(began, process, device, 0))
        # What was there before may be let go: that makes no room for the rest.
        totals[device] = max(0, totals.get(device, 0) + change.size)
        result.append(Reading(change.time * 1000, process, device, totals[device]))
    return result
