"""One timed block: the unit of sampling.

A block calls the operator many times and waits once, at its end and inside the timed region. Operators that need
something untimed ahead of each call (inputs restored, a fresh forward, a cold cache) are timed call by call, and the
block is the sum.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from opperf.backend import Backend, Work
from opperf.measure.disturbance import Counters, clean
from opperf.measure.loop import empty_call_ns, loop
from opperf.measurement import Sample


class Block:
    """Takes samples of one piece of work. `sweep`, when given, empties the CPU cache before each call."""

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
        self._loop = loop(len(work.arguments), self._keywords, backend.collects)
        self.one_by_one = work.before is not None or sweep is not None
        shape = len(work.arguments) + len(self._keywords)
        self.single_overhead_ns = empty_call_ns(self._clock, shape, backend.collects, single=True)
        self.overhead_ns = (
            self.single_overhead_ns
            if self.one_by_one
            else empty_call_ns(self._clock, shape, backend.collects)
        )

    def scope(self) -> AbstractContextManager[Any]:
        """Return what must be open while samples are taken."""
        return self.work.scope()

    def run(self, calls: int) -> int:
        """Call the operator that often and wait for all calls; return the wall nanoseconds."""
        if self.one_by_one:
            return sum(self._single() for _ in range(calls))
        clock, work = self._clock, self.work
        start = clock.wall()
        outputs = self._loop(calls, work.function, *work.arguments, *self._values)
        self._backend.wait(outputs)
        return clock.wall() - start

    def _single(self) -> int:
        work = self.work
        arguments = work.arguments if work.before is None else work.before()
        if self._sweep is not None:
            self._sweep()
        self._backend.wait([])
        start = self._clock.wall()
        outputs = self._loop(1, work.function, *arguments, *self._values)
        self._backend.wait(outputs)
        return self._clock.wall() - start

    def sample(self, calls: int) -> Sample:
        """Take one sample of that many calls, with the disturbance seen around it."""
        before = self._counters.read()
        cpu = self._clock.cpu()
        if self._timer is not None:
            self._timer.start()
        wall_ns = self.run(calls)
        device_ns = None if self._timer is None else self._timer.stop()
        cpu_ns = self._clock.cpu() - cpu
        after = self._counters.read()
        waiting = None if before.waiting_ns is None else (after.waiting_ns or 0) - before.waiting_ns
        seen = Sample(
            calls=calls,
            wall_ns=wall_ns,
            cpu_ns=cpu_ns,
            switches=after.switches - before.switches,
            faults=after.faults - before.faults,
            waiting_ns=waiting,
            device_ns=device_ns,
        )
        return seen if clean(seen, self._threads) else Sample(**{**vars(seen), "clean": False})
