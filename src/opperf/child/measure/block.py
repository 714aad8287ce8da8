"""One timed block: the unit of sampling.

A block calls the operator many times and waits once, at its end and inside the timed region. Operators that need
something untimed ahead of each call (inputs restored, a fresh forward, a cold cache) are timed call by call, and the
block is the sum.

As little stands around each call as Python allows. A loop is written for each call shape (how many positional
arguments, which keywords), because the alternatives cost more than a short operator: `function(*arguments)` takes a
slower way of calling, `functools.partial` a second call.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import cache
from itertools import repeat
from keyword import iskeyword
from pathlib import Path
from time import perf_counter_ns, process_time_ns
from typing import Any

from opperf.child.measure.disturbance import Counters, clean
from opperf.domain.backend import Backend, NativeLoop, Work
from opperf.domain.clock import Clock, DeviceTimer
from opperf.domain.measurement import Sample


class ProcessClock:
    """Wall time by the monotonic clock, CPU time of every thread of this process, both in nanoseconds.

    The functions of `time` are attributes themselves: a method around them would stand in the timed region.
    """

    wall = staticmethod(perf_counter_ns)
    cpu = staticmethod(process_time_ns)


#: Turns of an empty loop that are timed together, and how often; the minimum counts. About 0.2 ms in all.
EMPTY_CALLS = 500
EMPTY_ROUNDS = 10
#: Loops of a single turn are short, so more of them are timed.
SINGLE_ROUNDS = 100


@cache
def loop(positional: int, keywords: tuple[str, ...], collect: bool) -> Callable[..., object]:
    """Return `block(calls, function, *arguments)`, which calls `function` that often.

    `arguments` are the positional ones, then the values of the keywords in order. With `collect` the block returns what
    the calls returned; without, each result is dropped at once, as in a program that overwrites its variable.

    >>> loop(2, (), True)(3, max, 1, 2)
    [2, 2, 2]
    >>> loop(1, ("from",), True)(1, dict, (), 7)
    [{'from': 7}]
    """
    if not all(name.isidentifier() for name in keywords):
        raise ValueError(f"keywords {keywords} must be identifiers")
    names = [f"a{i}" for i in range(positional)]
    values = [f"k{i}" for i in range(len(keywords))]
    # A word of Python's own, as `from`, names an argument in a dictionary only.
    reserved = {name: value for name, value in zip(keywords, values) if iskeyword(name)}
    assignments = [f"{name}={value}" for name, value in zip(keywords, values) if name not in reserved]
    arguments = ", ".join([*names, *assignments, *["**reserved"] * bool(reserved)])
    call = f"keep(function({arguments}))" if collect else f"function({arguments})"
    source = (
        f"def block({', '.join(['calls', 'function', *names, *values])}):\n"
        f"    outputs = []\n"
        f"    keep = outputs.append\n"
        f"    reserved = {{{', '.join(f'{name!r}: {value}' for name, value in reserved.items())}}}\n"
        f"    for _ in repeat(None, calls):\n"
        f"        {call}\n"
        f"    return outputs\n"
    )
    space: dict[str, Any] = {"repeat": repeat}
    exec(source, space)  # the template above holds identifiers and counted names only
    block: Callable[..., object] = space["block"]
    return block


def empty_call_ns(clock: Clock, arguments: int, collect: bool, *, single: bool = False) -> float:
    """Return what the harness adds to one call, in nanoseconds: a loop over a C function that does nothing.

    `sys.audit` returns at once without listeners and takes any number of arguments by the fast calling convention.
    Keywords count as further arguments: passing their names costs one more load. With `single`, a loop of one turn is
    timed, with all that stands between two readings of the clock.
    """
    shape = max(1, arguments)
    block = loop(shape, (), collect)
    words = ("opperf.empty", *range(shape - 1))
    calls, rounds = (1, SINGLE_ROUNDS) if single else (EMPTY_CALLS, EMPTY_ROUNDS)
    least = float("inf")
    for _ in range(rounds):
        start = clock.wall()
        block(calls, sys.audit, *words)
        least = min(least, (clock.wall() - start) / calls)
    return least


#: Turns of an empty native loop that are timed together: it takes nanoseconds, and to be started a microsecond.
NATIVE_CALLS = 20_000


def around_ns(clock: Clock, native: NativeLoop, *, single: bool = False) -> float:
    """Return what a native loop adds to one call, in nanoseconds; with `single`, to a loop of one turn."""
    calls, rounds = (1, SINGLE_ROUNDS) if single else (NATIVE_CALLS, EMPTY_ROUNDS)
    least = float("inf")
    for _ in range(rounds):
        start = clock.wall()
        native.around(calls)
        least = min(least, (clock.wall() - start) / calls)
    return least


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
    """Takes samples of one piece of work.

    `sweep`, when given, empties the last-level cache before each call, `native` makes the calls in place of Python, and
    `clock` is read in place of the backend's.
    """

    def __init__(
        self,
        work: Work,
        backend: Backend,
        counters: Counters,
        *,
        sweep: Callable[[], None] | None = None,
        native: NativeLoop | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.work = work
        self._backend = backend
        self._clock = clock or backend.clock
        self._counters = counters
        self._sweep = sweep
        self._native = native
        self._threads = backend.side.threads
        self._timer = backend.device_timer()
        self._keywords = tuple(work.keywords)
        self._values = tuple(work.keywords.values())
        #: Calls of a sample, once they were found for it; kept here when samples are taken on demand.
        self.calls: int | None = None
        self._loop = (
            loop(len(work.arguments), self._keywords, backend.collects)
            if native is None
            else lambda calls, *_: native.run(calls)
        )
        self.cold = sweep is not None
        self.one_by_one = work.before is not None or self.cold
        self.single_overhead_ns = self._empty_ns(single=True)
        self.overhead_ns = self.single_overhead_ns if self.one_by_one else self._empty_ns(single=False)

    def _empty_ns(self, *, single: bool) -> float:
        """Return what a call costs in which nothing is done."""
        if self._native is not None:
            return around_ns(self._clock, self._native, single=single)
        shape = len(self.work.arguments) + len(self._keywords)
        return empty_call_ns(self._clock, shape, self._backend.collects, single=single)

    def scope(self) -> AbstractContextManager[object]:
        """Return what must be open while samples are taken."""
        return self.work.scope()

    def run(self, calls: int) -> int:
        """Call the operator that often and wait for all calls; return the wall nanoseconds."""
        if self.one_by_one:
            return sum(self._time(1, self._prepare_call()) for _ in range(calls))
        return self._time(calls, self.work.arguments)

    def sample(self, calls: int) -> Sample:
        """Take one sample of that many calls, with the disturbance seen around what was timed."""
        if self.one_by_one:
            sample = _sum([self._watch(1, self._prepare_call()) for _ in range(calls)])
        else:
            sample = self._watch(calls, self.work.arguments)
        return replace(sample, clean=clean(sample, self._threads))

    def _prepare_call(self) -> tuple[object, ...]:
        """Do what comes untimed ahead of one call; return its arguments."""
        arguments = self.work.make_arguments()
        if self._native is not None:
            self._native.bind(arguments)
        if self._sweep is not None:
            self._sweep()
        self._backend.wait([])
        return arguments

    def _time(self, calls: int, arguments: tuple[object, ...], timer: DeviceTimer | None = None) -> int:
        clock = self._clock
        start = clock.wall()
        outputs = self._loop(calls, self.work.function, *arguments, *self._values)
        if timer is not None:
            timer.stop()  # behind the wait, the device would have been idle for as long as the host takes to return
        self._backend.wait(outputs)
        return clock.wall() - start

    def _watch(self, calls: int, arguments: tuple[object, ...]) -> Sample:
        before = self._counters.read()
        cpu = self._clock.cpu()
        if self._timer is not None:
            self._timer.start()
        wall_ns = self._time(calls, arguments, self._timer)
        cpu_ns = self._clock.cpu() - cpu
        after = self._counters.read()
        device_ns = None if self._timer is None else self._timer.elapsed()
        return Sample(
            calls=calls,
            wall_ns=wall_ns,
            cpu_ns=cpu_ns,
            switches=after.switches - before.switches,
            faults=after.faults - before.faults,
            waiting_ns=None if before.waiting_ns is None else (after.waiting_ns or 0) - before.waiting_ns,
            device_ns=device_ns,
            voluntary=after.voluntary - before.voluntary,
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
        voluntary=sum(part.voluntary for part in parts),
    )
