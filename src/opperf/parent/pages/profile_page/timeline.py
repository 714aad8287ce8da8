"""A profile over time: stretches that can be chosen, and its spans and memory as Perfetto reads them, packed."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from opperf.domain.dataclass import dataclass
from opperf.domain.profile.chrome import epoch_of, text
from opperf.domain.profile.event import Event, Profile, Reading, in_time
from opperf.domain.profile.repetition import steps
from opperf.domain.units import format_seconds
from opperf.parent.reports.text import one_line

#: Spans in the page, the longest: about 5 MB. A browser holds and draws as many.
MOST_SPANS = 200_000
#: Maximum characters of names of spans and their modules.
MOST_SAID = 40_000_000
#: Readings of one device's memory in the page.
MOST_READINGS = 50_000
#: Steps that can be chosen, spread over all of them; the others are seen in the whole profile.
MOST_STEPS = 200


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
    in_order = _in_order(profile)
    sample = in_order[:: -(-len(in_order) // MOST_STEPS) or 1]
    has_processes = len({step.process for step in in_order}) > 1
    first = min((step.begin for step in in_order), default=begin)
    return [
        Window("the whole profile", begin, end),
        *([Window("initialisation", begin, first)] if first > begin else []),
        *(
            Window(
                f"{one_line(step.name)}{f' of process {step.process}' if has_processes else ''}",
                step.begin,
                step.end,
                True,
            )
            for step in sample
        ),
    ], len(in_order) - len(sample)


def windows_of_both(before: Profile, after: Profile) -> tuple[list[tuple[Window, Window]], int]:
    """Return the stretches of two profiles to look at beside each other, and how many pairs of steps are left out.

    The whole profiles come first, then the step of median length of each, then steps by their number.
    """
    profiles = before, after
    wholes = [windows(profile)[0][:1] for profile in profiles]
    if not all(wholes):
        return [], 0
    sequences = [
        [Window(f"step {place}", step.begin, step.end, True) for place, step in enumerate(_in_order(profile))]
        for profile in profiles
    ]
    pairs = [*zip(sequences[0], sequences[1])]
    sample = pairs[:: -(-len(pairs) // MOST_STEPS) or 1]
    median_steps = [
        replace(sequence[typical(sequence)], name="the median step of each") for sequence in sequences if pairs
    ]
    return [
        (wholes[0][0], wholes[1][0]),
        *pairwise(median_steps),
        *sample,
    ], len(pairs) - len(sample)


def _in_order(profile: Profile) -> list[Event]:
    return sorted((step for step in steps(profile) if step.duration), key=in_time)


def typical(windows: Sequence[Window]) -> int:
    """Return the place of the step of median length, since the first is rarely typical; the whole without steps."""
    places = [place for place, window in enumerate(windows) if window.is_step]
    by_length = sorted(places, key=lambda place: windows[place].end - windows[place].begin)
    return by_length[len(by_length) // 2] if by_length else 0


@dataclass(frozen=True)
class Trace:
    """The timeline as opperf writes a profile, packed for a page, its first time, and a sentence on spans it lacks."""

    content: str
    epoch: int
    left_out: str


def trace_of(profile: Profile) -> Trace:
    """Return the timeline of a page.

    Stacks and what threads did between spans are left to the profile file: nothing of the page shows them over time.
    """
    events = _longest(profile.events)
    short = replace(
        profile,
        events=tuple(replace(event, stack=()) if event.stack else event for event in events),
        readings=tuple(_thin(profile.readings)),
        slices=(),
    )
    trace = b"".join(part.encode("utf-8", "backslashreplace") for part in text(short))
    content = base64.b64encode(gzip.compress(trace, mtime=0)).decode("ascii")
    return Trace(content, epoch_of(short), _leave_out(len(profile.events) - len(events), events))


def _longest(events: Sequence[Event]) -> list[Event]:
    result: list[Event] = []
    size = 0
    for event in sorted(events, key=lambda event: -event.duration)[:MOST_SPANS]:
        size += len(event.name) + len(event.module)
        if size > MOST_SAID:
            break
        result.append(event)
    return result


def _leave_out(count: int, events_drawn: Sequence[Event]) -> str:
    if not count:
        return ""
    longest = format_seconds(min((event.duration for event in events_drawn), default=0) / 1e9)
    return f"{count} spans of at most {longest} are only in the profile file."


def _thin(readings: Sequence[Reading]) -> list[Reading]:
    """Return readings, of each device with the most and the least of each stretch where they are too many."""
    devices: dict[tuple[int, str], list[Reading]] = {}
    for reading in sorted(readings, key=lambda reading: reading.time):
        devices.setdefault((reading.process, reading.device), []).append(reading)
    result: list[Reading] = []
    for of_device in devices.values():
        stretch = -(-2 * len(of_device) // MOST_READINGS) if len(of_device) > MOST_READINGS else 1
        for place in range(0, len(of_device), stretch):
            some = of_device[place : place + stretch]
            ends = (min(some, key=lambda one: one.size), max(some, key=lambda one: one.size))
            result += sorted(dict.fromkeys(ends), key=lambda one: one.time)
    return result
