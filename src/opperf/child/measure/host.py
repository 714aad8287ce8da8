"""What the machine takes of this process's CPU time during a trial, and what memory it and the C library leave.

Samples do not show it: a CPU that the hypervisor gave to another guest was, for the counters of this process, running.
"""

from __future__ import annotations

import ctypes
import os
import resource
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from opperf.domain.dataclass import dataclass
from opperf.domain.reason import Warning
from opperf.domain.units import format_seconds

#: Share of the machine's CPU time that may be stolen during a trial before its record says so.
MOST_STOLEN = 0.01
#: Where Linux says what memory is left, and what a container may have and has, in control groups of version 2 and 1.
MEMORY = Path("/proc/meminfo")
GROUPS = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
)
#: mallopt's names for its parameters, and the values where glibc's dynamic rule ends (malloc(3), mallopt(3)).
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
TRIM_THRESHOLD, MMAP_THRESHOLD = 64 * 1024 * 1024, 32 * 1024 * 1024


@dataclass(frozen=True)
class HostReading:
    """Counters at one moment, 0 where the kernel does not keep them.

    `stolen` is seconds over all CPUs, `throttled` counts thermal events of all cores, `capped` is seconds that the
    control group's quota held this process back.
    """

    stolen: float
    throttled: int
    capped: float


def read(root: Path = Path("/")) -> HostReading:
    """Return the counters now; costs about 0.1 ms, most of it the kernel's."""
    return HostReading(_stolen(root), _throttle_count(root), _cap(root))


def doubts(before: HostReading, after: HostReading, seconds: float) -> list[Warning]:
    """Return the warnings for two readings of the host, `seconds` apart."""
    result = []
    share = (after.stolen - before.stolen) / (seconds * (os.cpu_count() or 1)) if seconds > 0 else 0.0
    if share > MOST_STOLEN:
        result.append(
            Warning(
                "stolen_time",
                f"the hypervisor gave {share:.0%} of the CPU time to others",
                "use a dedicated machine, or trust the minimum more than the median",
            )
        )
    if after.throttled > before.throttled:
        result.append(
            Warning(
                "throttled",
                "a core throttled because of its temperature",
                "let the machine cool down, or lower its maximum frequency",
            )
        )
    if after.capped > before.capped:
        result.append(
            Warning(
                "cpu_quota",
                f"the container's CPU quota throttled the process for {format_seconds(after.capped - before.capped)}",
                "raise the quota",
            )
        )
    return result


def _stolen(root: Path) -> float:
    # "cpu  user nice system idle iowait irq softirq steal guest guest_nice", in ticks
    words = next(_texts(root, "proc/stat"), "").partition("\n")[0].split()
    return int(words[8]) / os.sysconf("SC_CLK_TCK") if len(words) > 8 else 0.0


def _throttle_count(root: Path) -> int:
    counts = _texts(root, "sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/core_throttle_count")
    return sum(int(count or 0) for count in counts)


def _cap(root: Path) -> float:
    for line in next(_texts(root, "sys/fs/cgroup/cpu.stat"), "").splitlines():
        name, _, value = line.partition(" ")
        if name == "throttled_usec":
            return int(value) / 1e6
    return 0.0


def _texts(root: Path, pattern: str) -> Iterator[str]:
    return map(_head, _paths(root, pattern))


def _head(path: Path) -> str:
    """Return the first 4 KiB of a file: no counter needs more, and `Path.read_text` takes twice as long."""
    with suppress(OSError):
        file = os.open(path, os.O_RDONLY)
        try:
            return os.read(file, 4096).decode()
        finally:
            os.close(file)
    return ""


@cache
def _paths(root: Path, pattern: str) -> tuple[Path, ...]:
    """Return the files of a pattern; many virtual machines and containers lack some."""
    return tuple(root.glob(pattern))


def free_bytes() -> int | None:
    """Return the bytes that this process may still take; None where the system does not tell."""
    return min(_free(), default=None)


def _free() -> Iterator[int]:
    with suppress(OSError, ValueError, StopIteration):
        line = next(line for line in MEMORY.read_text().splitlines() if line.startswith("MemAvailable:"))
        yield 1024 * int(line.split()[1])
    for limit, usage in GROUPS:
        with suppress(OSError, ValueError):  # no limit is the word `max`, or a number beyond all memory
            yield int(limit.read_text()) - int(usage.read_text())


def fix_allocator() -> bool:
    """Hold glibc's thresholds still, so that a trial does not depend on what was freed before it.

    Returns whether that worked; other C libraries have no such rule.
    """
    with suppress(AttributeError, OSError):
        mallopt = ctypes.CDLL(None).mallopt
        return bool(mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD)) and bool(mallopt(M_TRIM_THRESHOLD, TRIM_THRESHOLD))
    return False


def private_bytes() -> int:
    """Return the bytes in memory that are this process's own, libraries not counted; 0 where the system does not tell.

    Source: proc(5), `/proc/self/statm`.
    """
    with suppress(OSError, ValueError, IndexError), open("/proc/self/statm", encoding="ascii") as file:
        _, resident, shared = (int(pages) for pages in file.read().split()[:3])
        return (resident - shared) * resource.getpagesize()
    return 0
