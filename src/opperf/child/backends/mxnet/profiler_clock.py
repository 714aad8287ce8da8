"""Samples by MXNet's own clock: what its profiler says its operators took, nothing of what calls them.

It sees neither the Python around a call nor the waiting for its end, and so is below what a program waits for; the
engine of `measure/` sees both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter_ns
from typing import TYPE_CHECKING

from opperf.child.backends.mxnet.operator_times import seconds
from opperf.child.backends.mxnet.profile import Window, window
from opperf.child.measure.disturbance import Counters, clean
from opperf.domain.call import Work
from opperf.domain.measurement import Measurement, Sample, Samples
from opperf.domain.plan import PROFILER, Settings

if TYPE_CHECKING:
    from opperf.domain.backend import Backend

#: Operators are watched in one sample until they have taken so long: MXNet's profiler counts whole microseconds.
SAMPLE_NS = 200_000
#: Maximum calls of a sample. Opening the profiler costs more than a short operator; of so many, whole microseconds
#: leave a mean of sixteenths.
MOST_CALLS = 16
#: The first calls that are timed say how many make a sample, and are no samples: they count as warm-up.
LEAST_TRIES = 2
#: Default samples and warm-up: those of MXNet's opperf.
RUNS, WARMUP = 50, 10


def measure(
    backend: Backend, counters: Counters, work: Work, settings: Settings, *, took: Sequence[int] = ()
) -> Measurement:
    """Measure one piece of work by the profiler: untimed calls, then `runs` samples, then memory.

    `took` are calls that were made before, in nanoseconds: they count as warm-up.
    """
    warmup = max(len(took), WARMUP if settings.warmup is None else settings.warmup)
    with window() as profiler, work.scope():
        watch = _Watch(backend, counters, profiler, work)
        for _ in range(warmup - len(took) - LEAST_TRIES):
            watch.call()
        calls = watch.calls()
        counters.watch()
        samples = tuple(watch.sample(calls) for _ in range(settings.runs or RUNS))
    memory = backend.memory(work) if settings.memory else None
    return Measurement(
        {"time": Samples(samples), **({} if memory is None else memory.metrics())},
        facts={**work.notes, "clock": PROFILER, "sync": "operator", "warmup_calls": warmup, "calls_per_sample": calls},
    )


class _Watch:
    """Calls a piece of work, the profiler open around each call."""

    def __init__(self, backend: Backend, counters: Counters, profiler: Window, work: Work) -> None:
        self._backend = backend
        self._counters = counters
        self._profiler = profiler
        self._work = work
        self._nested = backend.side.engine == "naive"

    def call(self) -> None:
        """Make one uncounted call."""
        self._wait(self._work.function(*self._prepare_call(), **self._work.keywords))

    def calls(self) -> int:
        """Return the calls of a sample. The first one is longer: the profiler sets up things once."""
        if min(self.sample(1).wall_ns for _ in range(LEAST_TRIES)) > SAMPLE_NS:
            return 1
        least = min(self.sample(1).wall_ns for _ in range(3))
        return min(MOST_CALLS, max(1, SAMPLE_NS // max(1, least)))

    def sample(self, calls: int) -> Sample:
        """Return the times of the operators of a number of calls."""
        before, start = self._counters.read(), perf_counter_ns()
        for _ in range(calls):
            arguments = self._prepare_call()
            with self._profiler.open():
                result = self._work.function(*arguments, **self._work.keywords)
                self._wait(result)
            del result
        wall_ns = perf_counter_ns() - start
        block = before.sample(self._counters.read(), calls, wall_ns, wall_ns)
        took = round(seconds(self._profiler.read(), nested=self._nested) * 1e9)
        # The profiler has one clock; CPU time would be that of the profiler itself too.
        return replace(block, wall_ns=took, cpu_ns=took, clean=clean(block, self._backend.side.threads))

    def _prepare_call(self) -> tuple[object, ...]:
        arguments = self._work.make_arguments()
        self._wait(None)
        return arguments

    def _wait(self, result: object) -> None:
        self._backend.wait([result])
