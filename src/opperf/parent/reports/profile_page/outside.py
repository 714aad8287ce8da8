"""Where the time went in which no operator ran: in what else was seen, or in nothing that was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from opperf.domain.profile.event import Event, Profile
from opperf.domain.units import format_percent, format_seconds

#: The layers that time is divided into: of spans at one time, the first of these gets it.
LAYERS = {
    "operators": ("operator", "kernel"),
    "calls of the framework's interface": ("api",),
    "work of the framework's own": ("task",),
    "modules, between their operators": ("module",),
    "steps, outside of modules": ("step",),
}
#: Maximum number of processes to describe.
MOST = 4


def outside(profile: Profile) -> list[str]:
    """Return a sentence for each process on how long operators ran, and what the rest of the time was."""
    processes: dict[int, list[Event]] = {}
    for event in profile.events:
        processes.setdefault(event.process, []).append(event)
    several = len(processes) > 1
    return [
        _sentence(events, f"process {number}: " if several else "") for number, events in [*processes.items()][:MOST]
    ]


def _sentence(events: Sequence[Event], whose: str) -> str:
    whole = max(event.end for event in events) - min(event.begin for event in events)
    parts, before = [], 0
    kinds: set[str] = set()
    for name, own in LAYERS.items():
        kinds.update(own)
        covered = union((event.begin, event.end) for event in events if event.kind in kinds)
        parts.append((name, covered - before))
        before = covered
    parts.append(("not recorded: Python, other libraries, waiting", whole - before))
    (_, ran), *rest = parts
    words = [f"{format_seconds(time / 1e9)} ({format_percent(time / whole)}) in {name}" for name, time in rest if time]
    first = f"{whose}operators ran in {format_seconds(ran / 1e9)} of {format_seconds(whole / 1e9)}"
    if not whole:
        return f"{first}."
    return f"{first} ({format_percent(ran / whole)}){'; the rest: ' if words else ''}{', '.join(words)}."


def union(stretches: Iterable[tuple[int, int]]) -> int:
    """Return how long at least one of some stretches lasted.

    >>> union([(0, 4), (2, 6), (8, 9)])
    7
    """
    total, until = 0, 0
    for begin, end in sorted(stretches):
        total += max(0, end - max(begin, until))
        until = max(until, end)
    return total
