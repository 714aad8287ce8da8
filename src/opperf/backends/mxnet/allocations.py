"""Allocations and releases as MXNet's profiler counts them, read from the file that it writes.

It adds a counter event at each, while it runs with `profile_memory`. Releases while it does not run are not counted,
and so the counter creeps up: only the steps from its last known value mean anything. That value is the process's own,
whichever file it was read from. A pattern finds the events, because from the second dump on the file is not JSON.
"""

from __future__ import annotations

import re
from operator import itemgetter

#: Time stamp, device and value of one counter event.
EVENT = re.compile(r'"ph": "C",\s*"ts": (\d+),\s*"args": \{ "Memory: ([^"]+)": (\d+) \}')

#: Time stamp and value of the last event that was read, by device.
_last: dict[str, tuple[int, int]] = {}


def steps(text: str) -> dict[str, list[int]]:
    """Return the allocations (above zero) and releases (below) since the last reading: bytes, by device (`cpu/0`)."""
    found: dict[str, list[int]] = {}
    events = [(int(time), device, int(value)) for time, device, value in EVENT.findall(text)]
    for time, device, value in sorted(events, key=itemgetter(0)):
        seen, before = _last.get(device, (0, 0))
        if time > seen or device in found:  # the file still holds the events of earlier readings
            found.setdefault(device, []).append(value - before)
            _last[device] = time, value
    return found


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


def allocated(changes: list[int]) -> int:
    """Return the bytes of all allocations together.

    >>> allocated([40, -40, 60])
    100
    """
    return sum(change for change in changes if change > 0)
