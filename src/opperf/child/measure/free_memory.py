"""How much memory a process may still take: what the machine has left, and what a container lets it have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

#: Where Linux says what memory is left, and what a container may have and has, in control groups of version 2 and 1.
MEMORY = Path("/proc/meminfo")
GROUPS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
)


def free_bytes() -> int | None:
    """Return the bytes that this process may still take; None where the system does not tell."""
    return min(_free(), default=None)


def _free() -> Iterator[int]:
    with suppress(OSError, ValueError, StopIteration):
        line = next(line for line in MEMORY.read_text().splitlines() if line.startswith("MemAvailable:"))
        yield 1024 * int(line.split()[1])
    for limit, used in GROUPS:
        with suppress(OSError, ValueError):  # no limit is the word `max`, or a number beyond all memory
            yield int(limit.read_text()) - int(used.read_text())
