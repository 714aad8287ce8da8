"""PyTorch's `Timer`, whose times opperf takes: warmed up, in short blocks, disturbed samples left out.

Its methods keep their contracts: how often or how long the statement runs, and what comes back. PyTorch's constructor
checks and tidies what it is given; what it keeps of that is read here.
"""

from __future__ import annotations

import gc
import time
import timeit
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import cache
from typing import Any, cast

import torch
from torch.utils import benchmark

from opperf.child.backends.torch.runtime import running_backend
from opperf.child.measure import host
from opperf.child.measure.block import Block, GivenClock, ProcessClock
from opperf.child.measure.calibrate import LONG_NS, probe, warm_up
from opperf.child.measure.disturbance import ProcessCounters
from opperf.child.measure.doubts import doubts, thread_doubts
from opperf.child.measure.instructions import repeatable
from opperf.child.measure.lengths import Lengths
from opperf.child.measure.stopping import Agreeing, AtLeast, Count, Stopping
from opperf.child.worker.process import usable_cpus
from opperf.compat.torch_benchmark.counting import InstructionStats, counted
from opperf.compat.torch_benchmark.measurement import Measurement, this_process
from opperf.compat.torch_benchmark.statement import Statement
from opperf.domain.backend import Backend
from opperf.domain.call import Work, nothing
from opperf.domain.clock import Clock
from opperf.domain.errors import InputError
from opperf.domain.measurement import CountedTimes, Sample, Samples
from opperf.domain.plan import Settings
from opperf.domain.reason import Warning

#: PyTorch's tables have no unit below a nanosecond: a statement that does nothing takes this long.
SHORTEST = 1e-9
#: Clocks that a `Timer` may be given and that opperf's own stands for: all are the monotonic one, in seconds.
WALL = (benchmark.timer, timeit.default_timer, time.perf_counter)
Callback = Callable[[int, float], object]


class Timer(benchmark.Timer):  # type: ignore[misc]  # PyTorch has no types here
    """`torch.utils.benchmark.Timer`, with its arguments, by opperf's clock and rules.

    A statement in C++ is timed by PyTorch's own loop, as is one for which a subclass brings a loop; a Python warning
    says so.

    >>> timer = Timer("x + 1", globals={"x": torch.ones(8)}, label="add")
    >>> timer.timeit(100).median < 1
    True
    """

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """Run the statement `number` times after one setup, in equal blocks; what is left over is not run.

        Raises what the statement raises, and `InputError` where `number` is below 1.
        """
        if number < 1:
            raise InputError(f"`number` is {number}, expected 1 or more")
        if self._has_other_loop():
            return cast("Measurement", super().timeit(number))
        return self._measure(None, number=number)

    def blocked_autorange(self, callback: Callback | None = None, min_run_time: float = 0.2) -> Measurement:
        """Run blocks for `min_run_time` seconds at least; `callback` is told calls and seconds of each."""
        if self._has_other_loop():
            return cast("Measurement", super().blocked_autorange(callback, min_run_time))
        return self._measure(AtLeast(min_run_time), callback)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callback | None = None,
    ) -> Measurement:
        """Run blocks until the interquartile range of undisturbed ones is below `threshold` of their median."""
        if self._has_other_loop():
            seconds = {"min_run_time": min_run_time, "max_run_time": max_run_time}
            return cast("Measurement", super().adaptive_autorange(threshold, callback=callback, **seconds))
        return self._measure(Agreeing(threshold, min_run_time, max_run_time), callback)

    def collect_callgrind(
        self,
        number: int = 100,
        *,
        repeats: int | None = None,
        collect_baseline: bool = True,
        retain_out_file: bool = False,
    ) -> InstructionStats | tuple[InstructionStats, ...]:
        """Count instructions under Valgrind: PyTorch's counts by function, and opperf's number for a call.

        A tuple of `repeats`, where that is given. Raises what PyTorch's method raises.
        """
        if repeats is not None and repeats < 1:
            raise InputError(f"`repeats` is {repeats}, expected 1 or more")
        # The first file has the calls of functions since the process began, though only the statement's instructions.
        with repeatable():
            _, *collected = super().collect_callgrind(
                number, repeats=1 + (repeats or 1), collect_baseline=collect_baseline, retain_out_file=True
            )
        every = tuple(counted(stats, retains_file=retain_out_file) for stats in collected)
        return every[0] if repeats is None else every

    def _has_other_loop(self) -> bool:
        """Tell, with a warning, whether the loop is none of Python's: opperf does not stand in for it."""
        if self._timer_cls is timeit.Timer:
            return False
        loop = "a statement in C++" if self._language is benchmark.Language.CPP else f"`{self._timer_cls.__name__}`"
        warnings.warn(f"{loop} is timed by PyTorch's own loop, not by opperf's rules", stacklevel=3)
        return True

    def _measure(self, rule: Stopping | None, callback: Callback | None = None, number: int = 0) -> Measurement:
        host.fix_allocator()
        with benchmark.set_torch_threads(self._task_spec.num_threads):
            backend = _backend(self._task_spec.num_threads)
            statement = Statement(self._task_spec.stmt, self._task_spec.setup, self._space(), _wait())
            collects = gc.isenabled()
            gc.disable()
            try:
                return self._sampled(backend, statement, rule, callback, number)
            finally:
                if collects:
                    gc.enable()

    def _space(self) -> dict[str, Any]:
        return dict(benchmark.CopyIfCallgrind.unwrap_all(self._globals))

    def _sampled(
        self, backend: Backend, statement: Statement, rule: Stopping | None, callback: Callback | None, number: int
    ) -> Measurement:
        counters = ProcessCounters()
        block = Block(WORK, backend, counters, native=statement, clock=_clock(self._timer.timer))
        statement.set_up()
        changed, took = _changed(block, statement, backend)
        if rule is None:
            calls, rule = _divided(block, number, took)
        else:
            calls = _warm(block, took)
        statement.set_up()
        counters.watch()
        before, began = counters.host(), time.perf_counter()
        renews = not number and any(statement.is_set_up(name) for name in changed)
        samples = _samples(block, calls, rule, statement.set_up if renews else nothing, callback)
        more = [
            *host.doubts(before, counters.host(), time.perf_counter() - began),
            *thread_doubts(self._task_spec.num_threads, backend.threads_seen, usable_cpus()),
            *([_mutation(changed)] if changed else ()),
        ]
        counters.close()
        return self._counted(backend, samples, calls, more)

    def _counted(self, backend: Backend, samples: Samples, calls: int, more: Sequence[Warning]) -> Measurement:
        times = CountedTimes.of([samples], backend.side)
        disturbance = [] if not times.disturbed else [times.disturbance(threads=samples.has_threads)]
        return Measurement(
            number_per_run=calls,
            raw_times=[max(seconds, SHORTEST) * calls for seconds in times.pooled],
            task_spec=self._task_spec,
            discarded=times.discarded,
            clock=times.clock,
            doubts=(*doubts(samples, 0), *disturbance, *more),
            process=this_process(),
        )


#: What a block is of: the statement makes the calls.
WORK = Work(nothing, (), {}, nullcontext)


def _samples(
    block: Block, calls: int, rule: Stopping, prepare: Callable[[], None], callback: Callback | None
) -> Samples:
    samples: list[Sample] = []
    clean: list[float] = []
    elapsed = 0.0
    while not rule.finished(clean, len(samples), elapsed):
        began = time.perf_counter()
        prepare()
        elapsed += time.perf_counter() - began
        sample = block.sample(calls)
        elapsed += sample.wall_ns / 1e9
        samples.append(sample)
        if sample.clean:
            clean.append(sample.wall_ns / calls)
        if callback is not None:
            callback(calls, sample.wall_ns / 1e9)
    return Samples(tuple(samples), block.overhead_ns)


def _changed(block: Block, statement: Statement, backend: Backend) -> tuple[tuple[str, ...], int]:
    """Return the names whose contents a second call changes, and how long that took, in nanoseconds.

    The first one may make what later ones keep.
    """
    block.run(1)
    watch = statement.watch(backend)
    took = block.run(1)
    return watch.changed(), took


def _divided(block: Block, number: int, took: int) -> tuple[int, Stopping]:
    """Return the calls of a block, and how many blocks of them a number of calls makes; warms up as PyTorch does."""
    ahead = number // 100 - 2
    each = block.run(ahead) / ahead if ahead > 0 else took
    blocks = max(1, number // Lengths().calls(each, output_bytes=0, holds=False))
    return number // blocks, Count(blocks)


def _warm(block: Block, took: int) -> int:
    """Find the calls of a block, and warm up; a call that takes long has done both."""
    if took >= LONG_NS:
        return 1
    calls = probe(block, output_bytes=0, holds=False)
    warm_up(block, calls, Settings().trial_budget)
    return calls


def _mutation(names: Sequence[str]) -> Warning:
    listing = ", ".join(f"`{name}`" for name in names)
    return Warning(
        "mutates",
        f"each call changes {listing}, so the next one finds other values",
        "`opperf.time(function, argument, ...)` puts arguments back before each call",
    )


@cache
def _backend(threads: int) -> Backend:
    """Return the backend of this process; called while PyTorch has so many threads."""
    return running_backend("cpu")


def _wait() -> Callable[[], None]:
    """Choose the wait for an accelerator, if there is one: its work belongs to the block that started it."""
    accelerator = getattr(torch, "accelerator", None) or torch.cuda
    return accelerator.synchronize if accelerator.is_available() else nothing


def _clock(timer: Callable[[], float]) -> Clock:
    return ProcessClock() if timer in WALL else GivenClock(timer)
