"""One timed block: the unit of sampling.

A block calls the operator many times and waits once, at its end and inside the timed region. Operators that need
something untimed ahead of each call (inputs restored, a fresh forward, a cold cache) are timed call by call, and the
block is the sum.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path

from opperf.child.measure.disturbance import Counters, clean
from opperf.child.measure.loop import empty_call_ns, loop
from opperf.domain.backend import Backend, Work
from opperf.domain.measurement import Sample

#: What a last-level cache is taken to have where the kernel does not say.
UNKNOWN_CACHE = 64 * 1024 * 1024
UNITS = {"K": 1024, "M": 1024**2, "G": 1024**3}


def last_level_bytes(folder: Path = Path("/sys/devices/system/cpu/cpu0/cache")) -> int:
    """Return the size of the largest cache that the first CPU has, in bytes."""
    largest = 0
    with suppress(OSError):
        for size in folder.glob("index*/size"):
            match = re.fullmatch(r"(\d+)([KMG]?)", size.read_text().strip())
            if match:
                largest = max(largest, int(match[1]) * UNITS.get(match[2], 1))
    return largest or UNKNOWN_CACHE


class Sweep:
    """Twice the last-level cache of memory, read from end to end at each call.

    The pages are written once: untouched ones would all be the kernel's single page of zeros, and evict nothing.
    """

    def __init__(self, nbytes: int | None = None) -> None:
        self.nbytes = 2 * last_level_bytes() if nbytes is None else nbytes
        self._memory = bytearray(b"\x01") * self.nbytes

    def __call__(self) -> None:
        """Read all of the memory."""
        self._memory.find(b"\x00")


class Block:
    """Takes samples of one piece of work. `sweep`, when given, empties the last-level cache before each call."""

    def __init__(
        self, work: Work, backend: Backend, counters: Counters, *, sweep: Callable[[], None] | None = None
    ) -> None:
        self.work = work
        self._backend = backend
        self._clock = backend.clock
        self._counters = counters
        self._sweep = sweep
        self._threads = backend.side.threads
        self._timer = backend.device_timer()
        self._keywords = tuple(work.keywords)
        self._values = tuple(work.keywords.values())
        #: Calls of a sample, once they were found for it; kept here when samples are taken on demand.
        self.calls: int | None = None
        self._loop = loop(len(work.arguments), self._keywords, backend.collects)
        self.cold = sweep is not None
        self.one_by_one = work.before is not None or self.cold
        shape = len(work.arguments) + len(self._keywords)
        self.single_overhead_ns = empty_call_ns(self._clock, shape, backend.collects, single=True)
        self.overhead_ns = (
            self.single_overhead_ns if self.one_by_one else empty_call_ns(self._clock, shape, backend.collects)
        )

    def scope(self) -> AbstractContextManager[object]:
        """Return what must be open while samples are taken."""
        return self.work.scope()

    def run(self, calls: int) -> int:
        """Call the operator that often and wait for all calls; return the wall nanoseconds."""
        if self.one_by_one:
            return sum(self._time(1, self._ahead()) for _ in range(calls))
        return self._time(calls, self.work.arguments)

    def sample(self, calls: int) -> Sample:
        """Take one sample of that many calls, with the disturbance seen around what was timed."""
        if self.one_by_one:
            sample = _sum([self._watch(1, self._ahead()) for _ in range(calls)])
        else:
            sample = self._watch(calls, self.work.arguments)
        return replace(sample, clean=clean(sample, self._threads))

    def _ahead(self) -> tuple[object, ...]:
        """Do what comes untimed ahead of one call; return its arguments."""
        arguments = self.work.arguments if self.work.before is None else self.work.before()
        if self._sweep is not None:
            self._sweep()
        self._backend.wait([])
        return arguments

    def _time(self, calls: int, arguments: tuple[object, ...]) -> int:
        clock = self._clock
        start = clock.wall()
        outputs = self._loop(calls, self.work.function, *arguments, *self._values)
        self._backend.wait(outputs)
        return clock.wall() - start

    def _watch(self, calls: int, arguments: tuple[object, ...]) -> Sample:
        before = self._counters.read()
        cpu = self._clock.cpu()
        if self._timer is not None:
            self._timer.start()
        wall_ns = self._time(calls, arguments)
        device_ns = None if self._timer is None else self._timer.stop()
        cpu_ns = self._clock.cpu() - cpu
        after = self._counters.read()
        return Sample(
            calls=calls,
            wall_ns=wall_ns,
            cpu_ns=cpu_ns,
            switches=after.switches - before.switches,
            faults=after.faults - before.faults,
            waiting_ns=None if before.waiting_ns is None else (after.waiting_ns or 0) - before.waiting_ns,
            device_ns=device_ns,
        )


def _sum(parts: list[Sample]) -> Sample:
    """Return the sample that several make together; what no part knows, it does not know either."""

    def total(values: list[int | None]) -> int | None:
        numbers = [value for value in values if value is not None]
        return sum(numbers) if numbers else None

    return Sample(
        calls=sum(part.calls for part in parts),
        wall_ns=sum(part.wall_ns for part in parts),
        cpu_ns=sum(part.cpu_ns for part in parts),
        switches=sum(part.switches for part in parts),
        faults=sum(part.faults for part in parts),
        waiting_ns=total([part.waiting_ns for part in parts]),
        device_ns=total([part.device_ns for part in parts]),
    )
