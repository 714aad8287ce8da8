"""Allocations and releases as MXNet's profiler counts them, read from the file that it writes.

It adds a counter event at each, while it runs with `profile_memory`. Releases while it does not run are not counted,
and so the counter creeps up: only the steps from its last known value mean anything. That value is the process's own,
whichever file it was read from. A pattern finds the events, because from the second dump on the file is not JSON.
"""

from __future__ import annotations

import re
from operator import itemgetter

from opperf.domain.dataclass import dataclass

#: Time stamp, device and value of one counter event, and the thread that it comes from.
EVENT = re.compile(
    r'"ph": "C",\s*"ts": (\d+),\s*"args": \{ "Memory: ([^"]+)": (\d+) \}(?:,\s*"pid": \d+,\s*"tid": (\d+))?'
)

#: Time stamp and value of the last event that was read, by device.
_last: dict[str, tuple[int, int]] = {}


@dataclass(frozen=True)
class Change:
    """An allocation (bytes above zero) or a release (below) on a device (`cpu/0`).

    `time` is in microseconds since 1970; `thread` is as MXNet numbers it.
    """

    time: int
    device: str
    thread: str
    size: int


def changes(text: str) -> list[Change]:
    """Return the allocations and releases since the last reading, in the order of time."""
    result: list[Change] = []
    times = {device: time for device, (time, _) in _last.items()}  # the file still holds the events of earlier readings
    events = [(int(time), device, int(value), thread) for time, device, value, thread in EVENT.findall(text)]
    for time, device, value, thread in sorted(events, key=itemgetter(0)):
        if time > times.get(device, 0):
            _, before = _last.get(device, (0, 0))
            result.append(Change(time, device, thread, value - before))
            _last[device] = time, value
    return result


def steps(text: str) -> dict[str, list[int]]:
    """Return the bytes of each allocation and release since the last reading, by device."""
    by_device: dict[str, list[int]] = {}
    for change in changes(text):
        by_device.setdefault(change.device, []).append(change.size)
    return by_device


def peak(changes: list[int]) -> int:
    """Return the most bytes that the steps held together.

    What was there before them may be let go among them: that makes no room for the rest.

    >>> peak([-100, 40, 60, -40])
    100
    """
    live = most = 0
    for change in changes:
        live = max(0, live + change)
        most = max(most, live)
    return most


def allocated_bytes(changes: list[int]) -> int:
    """Return the bytes of all allocations together.

    >>> allocated_bytes([40, -40, 60])
    100
    """
    return sum(change for change in changes if change > 0)
