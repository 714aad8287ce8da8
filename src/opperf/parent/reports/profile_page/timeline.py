"""A profile over time: its spans and its memory as columns of whole numbers, short enough to stand in a page.

Times are nanoseconds, each told as what lies between it and the one before. The page draws the longest spans of what it
shows, so that short ones are seen where one comes close.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

from opperf.domain.dataclass import dataclass
from opperf.domain.profile.columns import shapes_text
from opperf.domain.profile.event import KINDS, Event, Profile, Reading, in_time, lanes, links, track
from opperf.domain.profile.repetition import steps
from opperf.domain.units import format_seconds
from opperf.parent.reports.profile_page.tables import plain_text
from opperf.parent.reports.text import one_line

#: Spans in the page, the longest: about 5 MB. A browser holds them easily, but draws far fewer at a time.
MOST_SPANS = 200_000
#: Maximum characters of text about spans. Calls of one operator mostly share theirs.
MOST_SAID = 8_000_000
#: Readings of one device's memory in the page.
MOST_READINGS = 50_000
#: Steps that can be chosen, spread over all of them; the others are seen in the whole profile.
MOST_STEPS = 200

#: A lane of a thread of a process.
Lane: TypeAlias = tuple[int, str, int]


@dataclass(frozen=True)
class Window:
    """A stretch of time that can be chosen: the whole profile, what came before its steps, or a step.

    Nanoseconds since 1970.
    """

    name: str
    begin: int
    end: int
    is_step: bool = False

    @property
    def title(self) -> str:
        """The name in the list to choose from."""
        return f"{self.name}, {format_seconds((self.end - self.begin) / 1e9)}"


def windows(profile: Profile) -> tuple[list[Window], int]:
    """Return the stretches that can be chosen, the whole profile first, and how many steps are left out of them."""
    begin = min((event.begin for event in profile.events), default=0)
    end = max((event.end for event in profile.events), default=0)
    if end <= begin:
        return [], 0
    in_order = sorted((step for step in steps(profile) if step.duration), key=in_time)
    sample = in_order[:: -(-len(in_order) // MOST_STEPS) or 1]
    several = len({step.process for step in in_order}) > 1
    first = min((step.begin for step in in_order), default=begin)
    return [
        Window("the whole profile", begin, end),
        *([Window("initialisation", begin, first)] if first > begin else []),
        *(
            Window(
                f"{one_line(step.name)}{f' of process {step.process}' if several else ''}", step.begin, step.end, True
            )
            for step in sample
        ),
    ], len(in_order) - len(sample)


def typical(windows: Sequence[Window]) -> int:
    """Return the place of the step of median length, since the first is rarely typical; the whole without steps."""
    places = [place for place, window in enumerate(windows) if window.is_step]
    by_length = sorted(places, key=lambda place: windows[place].end - windows[place].begin)
    return by_length[len(by_length) // 2] if by_length else 0


def drawing(profile: Profile, windows: Sequence[Window]) -> dict[str, object]:
    """Return what the page draws over time."""
    events, whats = _keep(profile.events)
    places = lanes(events)
    tops, height = _lines(events, places)
    several = len({process for process, _, _ in tops}) > 1
    threads = [f"{track(thread, lane)}{f' of {process}' if several else ''}" for process, thread, lane in tops]
    origin = min((window.begin for window in windows), default=0)
    kinds = [kind for kind in KINDS if any(event.kind == kind for event in events)]
    return {
        "windows": [[window.begin - origin, window.end - window.begin] for window in windows],
        "begin": _steps(event.begin - origin for event in events),
        "length": [event.duration for event in events],
        "line": [tops[event.process, event.thread, lane] + depth for event, (lane, depth) in zip(events, places)],
        "what": [whats[_identity(event)] for event in events],
        "allocated": _unless_empty([event.allocated for event in events]),
        "device": _unless_empty([event.device for event in events]),
        "whats": [[plain_text(what[1]), kinds.index(what[0]), _lines_below(*what)] for what in whats],
        "kinds": kinds,
        "flow": links(events),
        "threads": [plain_text(thread) for thread in threads],
        "tops": [*tops.values(), height],
        "said": _leave_out(len(profile.events) - len(events), events),
        "memory": [
            {
                "name": plain_text(f"{device} held{f' by {process}' if several else ''}"),
                "time": _steps(reading.time - origin for reading in readings),
                "held": [reading.size for reading in readings],
            }
            for (process, device), readings in _by_device(profile).items()
        ],
    }


#: The description of a span, which it is likely to share with others.
What: TypeAlias = tuple[str, str, str, tuple[tuple[int, ...], ...], str, bool]


def _identity(event: Event) -> What:
    return event.kind, event.name, event.module, event.shapes, event.phase, event.fused


def _lines_below(
    kind: str, name: str, module: str, shapes: tuple[tuple[int, ...], ...], phase: str, fused: bool
) -> str:
    """Return the lines that stand below a span's name when it is pointed at."""
    lines = [
        ", ".join(filter(None, (kind, phase, "fused" if fused else ""))),
        *([plain_text(module)] if module else []),
        *([plain_text(shapes_text(shapes))] if shapes else []),
    ]
    return "<br>".join(lines)


def _keep(events: Sequence[Event]) -> tuple[list[Event], dict[What, int]]:
    """Return the longest spans in order of time, and the numbers of their descriptions."""
    whats: dict[What, int] = {}
    result: list[Event] = []
    size = 0
    for event in sorted(events, key=lambda event: -event.duration)[:MOST_SPANS]:
        what = _identity(event)
        if what not in whats:
            size += len(_lines_below(*what)) + len(plain_text(event.name))
            if size > MOST_SAID:
                break
            whats[what] = len(whats)
        result.append(event)
    return sorted(result, key=in_time), whats


def _lines(events: Sequence[Event], places: Sequence[tuple[int, int]]) -> tuple[dict[Lane, int], int]:
    """Return the line that each lane begins on, lanes of a thread together, and how many lines there are."""
    heights: dict[Lane, int] = {}
    for event, (lane, depth) in zip(events, places):
        key = event.process, event.thread, lane
        heights[key] = max(heights.get(key, 0), depth + 1)
    threads = {thread: place for place, thread in enumerate(dict.fromkeys(key[:2] for key in heights))}
    tops: dict[Lane, int] = {}
    height = 0
    for key in sorted(heights, key=lambda key: (key[0], threads[key[:2]], key[2])):
        tops[key] = height
        height += heights[key]
    return tops, height


def _steps(values: Iterable[int]) -> list[int]:
    """Return the differences of consecutive values, starting from 0."""
    return [value - before for before, value in pairwise([0, *values])]


def _unless_empty(values: list[int | None]) -> list[int | None]:
    return [] if all(value is None for value in values) else values


def _leave_out(count: int, events_drawn: Sequence[Event]) -> str:
    if not count:
        return ""
    longest = format_seconds(min((event.duration for event in events_drawn), default=0) / 1e9)
    return f"{count} spans of at most {longest} are only in the profile file."


def _by_device(profile: Profile) -> dict[tuple[int, str], list[Reading]]:
    """Return the readings of each device; what was held last is held until the process was last seen."""
    ends: dict[int, int] = {}
    for event in profile.events:
        ends[event.process] = max(ends.get(event.process, 0), event.end)
    result: dict[tuple[int, str], list[Reading]] = {}
    for reading in sorted(profile.readings, key=lambda reading: reading.time):
        result.setdefault((reading.process, reading.device), []).append(reading)
    return {
        (process, device): [*_thin(readings), replace(readings[-1], time=max(readings[-1].time, ends.get(process, 0)))]
        for (process, device), readings in result.items()
    }


def _thin(readings: list[Reading]) -> list[Reading]:
    """Return readings with the most and the least of each stretch, where they are too many."""
    if len(readings) <= MOST_READINGS:
        return readings
    stretch = -(-2 * len(readings) // MOST_READINGS)
    readings_to_draw: list[Reading] = []
    for place in range(0, len(readings), stretch):
        some = readings[place : place + stretch]
        ends = (min(some, key=lambda one: one.size), max(some, key=lambda one: one.size))
        readings_to_draw += sorted(dict.fromkeys(ends), key=lambda one: one.time)
    return readings_to_draw
