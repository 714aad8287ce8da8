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
from typing import Any, Protocol

from opperf.child.measure.disturbance import Counters, clean
from opperf.child.measure.lengths import Lengths
from opperf.domain.backend import Backend, NativeLoop
from opperf.domain.call import Work
from opperf.domain.clock import Clock, DeviceTimer
from opperf.domain.measurement import Sample


class ProcessClock:
    """Wall time by the monotonic clock, CPU time of every thread of this process, both in nanoseconds.

    The functions of `time` are attributes themselves: a method around them would stand in the timed region.
    """

    wall = staticmethod(perf_counter_ns)
    cpu = staticmethod(process_time_ns)


class GivenClock:
    """A clock that somebody gave, in seconds, beside the CPU time of this process."""

    cpu = staticmethod(process_time_ns)

    def __init__(self, timer: Callable[[], float]) -> None:
        self._timer = timer

    def wall(self) -> int:
        """Read the clock, in nanoseconds."""
        return round(self._timer() * 1e9)


#: Turns of an empty loop that are timed together, and how often; the minimum counts. About 0.2 ms in all.
EMPTY_CALLS = 500
EMPTY_ROUNDS = 10
#: Loops of a single turn are short, so more of them are timed.
SINGLE_ROUNDS = 100


class Witness(Protocol):
    """Sees a result of each sample, that of any of its calls; which one is told to nobody before."""

    def before(self, block: Block) -> None:
        """Prepare the calls of a sample, none of which has begun."""

    def place(self, calls: int) -> int:
        """Return the place of the call, among those of a sample, whose result is kept."""

    def see(self, block: Block, place: int, sample: Sample) -> None:
        """Take note of a sample; until the next one, `block` holds the result of the call at that place."""


@cache
def keeping_loop(positional: int, keywords: tuple[str, ...]) -> Callable[..., Any]:
    """Return `block(calls, place, results, function, *arguments)`, which leaves in a list what one call returned.

    What the list holds before is dropped first: so as many results are dropped in that time as calls are made, as
    without it. To drop a large one may take a tenth of a call.

    >>> numbers, results = iter(range(9)), [None]
    >>> keeping_loop(1, ())(4, 2, results, next, numbers), next(numbers)
    ([2], 4)
    """
    names, call, reserved = _spelled(positional, keywords)
    source = (
        f"def block({', '.join(['calls', 'place', 'results', 'function', *names])}):\n"
        f"    results.clear()\n"
        f"    reserved = {reserved}\n"
        f"    for _ in repeat(None, place):\n"
        f"        {call}\n"
        f"    results.append({call})\n"
        f"    for _ in repeat(None, calls - place - 1):\n"
        f"        {call}\n"
        f"    return results\n"
    )
    return _block(source)


@cache
def loop(positional: int, keywords: tuple[str, ...], collect: bool) -> Callable[..., Any]:
    """Return `block(calls, function, *arguments)`, which calls `function` that often.

    `arguments` are the positional ones, then the values of the keywords in order. With `collect` the block returns what
    the calls returned; without, each result is dropped at once, as in a program that overwrites its variable.

    >>> loop(2, (), True)(3, max, 1, 2)
    [2, 2, 2]
    >>> loop(1, ("from",), True)(1, dict, (), 7)
    [{'from': 7}]
    """
    names, call, reserved = _spelled(positional, keywords)
    source = (
        f"def block({', '.join(['calls', 'function', *names])}):\n"
        f"    outputs = []\n"
        f"    keep = outputs.append\n"
        f"    reserved = {reserved}\n"
        f"    for _ in repeat(None, calls):\n"
        f"        {f'keep({call})' if collect else call}\n"
        f"    return outputs\n"
    )
    return _block(source)


def _spelled(positional: int, keywords: tuple[str, ...]) -> tuple[list[str], str, str]:
    """Return the parameters of a loop, its call, and the keywords of that which are words of Python's own."""
    if not all(name.isidentifier() for name in keywords):
        raise ValueError(f"keywords {keywords} must be identifiers")
    names = [f"a{i}" for i in range(positional)]
    values = [f"k{i}" for i in range(len(keywords))]
    # A word of Python's own, as `from`, names an argument in a dictionary only.
    reserved = {name: value for name, value in zip(keywords, values) if iskeyword(name)}
    assignments = [f"{name}={value}" for name, value in zip(keywords, values) if name not in reserved]
    arguments = ", ".join([*names, *assignments, *["**reserved"] * bool(reserved)])
    pairs = ", ".join(f"{name!r}: {value}" for name, value in reserved.items())
    return [*names, *values], f"function({arguments})", f"{{{pairs}}}"


def _block(source: str) -> Callable[..., object]:
    space: dict[str, Any] = {"repeat": repeat}
    exec(source, space)  # the templates above hold identifiers and counted names only
    block: Callable[..., object] = space["block"]
    return block


def empty_call_ns(clock: Clock, arguments: int, collect: bool, *, single: bool = False) -> float:
    """Return the harness's share of one call, in nanoseconds: a loop over a C function that does nothing.

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
    """Return the share of a native loop in one call, in nanoseconds; with `single`, to a loop of one turn."""
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

    `sweep`, when given, empties the last-level cache before each call, `native` makes the calls in place of Python,
    `clock` is read in place of the backend's, and `witness` sees results of samples.
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
        witness: Witness | None = None,
    ) -> None:
        self._witness = witness
        #: What one call of the last sample returned, for the witness.
        self.results: list[object] = []
        self.bind(work)
        self._backend = backend
        self._clock = clock or backend.clock
        self._counters = counters
        self._sweep = sweep
        self._native = native
        self._threads = backend.side.threads
        self._extra = backend.side.extra_calls
        self._timer = backend.device_timer()
        self.lengths = Lengths.of(backend)
        self._keywords = tuple(work.keywords)
        #: Calls of a sample, once they were found for it; kept here when samples are taken on demand.
        self.calls: int | None = None
        self._loop = (
            loop(len(work.arguments), self._keywords, backend.collects)
            if native is None
            else lambda calls, *_: native.run(calls)
        )
        self._keeping = self._loop if backend.collects else keeping_loop(len(work.arguments), self._keywords)
        self.cold = sweep is not None
        self.one_by_one = work.before is not None or self.cold
        beyond = 1 + self._extra  # what stands around calls stands around extra ones too
        self.single_overhead_ns = beyond * self._empty_ns(single=True)
        self.overhead_ns = self.single_overhead_ns if self.one_by_one else beyond * self._empty_ns(single=False)

    def bind(self, work: Work) -> None:
        """Take the same call, with other values for its arguments."""
        self.work = work
        self._values = tuple(work.keywords.values())

    def _empty_ns(self, *, single: bool) -> float:
        """Return the cost of a call in which nothing is done."""
        if self._native is not None:
            return around_ns(self._clock, self._native, single=single)
        shape = len(self.work.arguments) + len(self._keywords)
        return empty_call_ns(self._clock, shape, self._backend.collects, single=single)

    def scope(self) -> AbstractContextManager[object]:
        """Return the context in which samples are taken."""
        return self.work.scope()

    def run(self, calls: int) -> int:
        """Call the operator that often and wait for all calls; return the wall nanoseconds."""
        if self.one_by_one:
            return sum(self._time(1, self._prepare_call()) for _ in range(calls))
        return self._time(calls, self.work.arguments)

    def keep(self) -> None:
        """Call the operator once, and keep what it returns."""
        self._time(1, self._prepare_call(), place=0)

    def sample(self, calls: int) -> Sample:
        """Take one sample of that many calls, with the disturbance seen around what was timed.

        Calls that are timed one by one are disturbed one by one. Where half of them were left alone, or more, those are
        the sample: together they wait for the counters ten times as long as a short call takes.
        """
        place = None
        if self._witness is not None:
            self._witness.before(self)
            place = self._witness.place(calls)
            if not self.results:  # the sample drops one, as all later ones do
                self.keep()
        if self.one_by_one:
            places = (0 if call == place else None for call in range(calls))
            parts = [self._watch(1, self._prepare_call(), one) for one in places]
            left_alone = [part for part in parts if clean(part, self._threads)]
            sample = _sum(left_alone if 2 * len(left_alone) >= calls else parts)
        else:
            sample = self._watch(calls, self.work.arguments, place)
        if self._witness is not None and place is not None:
            self._witness.see(self, place, sample)
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

    def _time(
        self, calls: int, arguments: tuple[object, ...], timer: DeviceTimer | None = None, place: int | None = None
    ) -> int:
        """Return the time of calls; of the one at a `place`, the result is kept.

        On a side that makes extra calls, so many as are whole are made. For the rest, which is less than one, as much
        time as that would have taken passes: so the share is exact in each block, also where that is a single call.
        """
        clock, values = self._clock, self._values
        block: Callable[..., Any] = self._loop
        if place is not None and not self._backend.collects:
            block, arguments = self._keeping, (place, self.results, self.work.function, *arguments)
        else:
            arguments = (self.work.function, *arguments)
        extra = int(calls * self._extra)
        start = clock.wall()
        outputs: Any = block(calls + extra, *arguments, *values)
        if timer is not None:
            timer.stop()  # behind the wait, the device would have been idle for as long as the host takes to return
        self._backend.wait(outputs)
        wall_ns = clock.wall() - start
        if self._extra:
            self._backend.spin(start + round(wall_ns * calls * (1 + self._extra) / (calls + extra)))
            wall_ns = clock.wall() - start
        if place is not None:
            self.results = [outputs[place]] if self._backend.collects else outputs
        return wall_ns

    def _watch(self, calls: int, arguments: tuple[object, ...], place: int | None = None) -> Sample:
        before = self._counters.read()
        cpu = self._clock.cpu()
        if self._timer is not None:
            self._timer.start()
        wall_ns = self._time(calls, arguments, self._timer, place)
        cpu_ns = self._clock.cpu() - cpu
        after = self._counters.read()
        device_ns = None if self._timer is None else self._timer.elapsed()
        return before.sample(after, calls, wall_ns, cpu_ns, device_ns)


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
