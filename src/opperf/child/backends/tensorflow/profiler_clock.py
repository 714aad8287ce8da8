"""Samples by TensorFlow's own clock: what its profiler says its kernels took, nothing of the Python that calls them.

An operator that is called by itself costs some 15 us of Python, which a program pays once for all of its operators.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from tempfile import TemporaryDirectory
from time import perf_counter_ns
from typing import TYPE_CHECKING

import tensorflow as tf

from opperf.child.backends.common.launches import MARK
from opperf.child.backends.tensorflow.recording import operators, profile_into, spans
from opperf.child.measure.disturbance import Counters, clean
from opperf.domain.call import Work
from opperf.domain.measurement import Measurement, Sample, Samples
from opperf.domain.plan import PROFILER, Settings

if TYPE_CHECKING:
    from opperf.domain.backend import Backend

#: Default samples, of a call each, and warm-up.
RUNS, WARMUP = 50, 10


def measure(
    backend: Backend, counters: Counters, work: Work, settings: Settings, *, took: Sequence[int] = ()
) -> Measurement:
    """Measure one piece of work by the profiler: untimed calls, then `runs` samples of a call each, then memory.

    `took` are calls that were made before, in nanoseconds: they count as warm-up.
    """
    warmup = max(len(took), WARMUP if settings.warmup is None else settings.warmup)
    counters.watch()
    with work.scope():
        for _ in range(warmup - len(took)):
            _call(backend, counters, work)
        with TemporaryDirectory(prefix="opperf-tensorflow-") as folder:
            with profile_into(folder):
                # The first that the profiler sees is slow.
                calls = [_call(backend, counters, work) for _ in range(1 + (settings.runs or RUNS))]
            record = spans(folder)
    kernels = [(span.start, span.end) for span, _, _ in operators(record)]
    marks = [span for span in record if span.name == MARK]
    samples = [
        _by_kernels(call, _union(one for one in kernels if mark.start <= one[0] <= mark.end), backend.side.threads)
        for call, mark in zip(calls[1:], marks[1:], strict=True)
    ]
    memory = backend.memory(work) if settings.memory else None
    return Measurement(
        {"time": Samples(tuple(samples)), **({} if memory is None else memory.metrics())},
        facts={**work.notes, "clock": PROFILER, "sync": "operator", "warmup_calls": warmup, "calls_per_sample": 1},
    )


def _call(backend: Backend, counters: Counters, work: Work) -> Sample:
    """Make one call, which the profiler marks where it is on, and return how it went as a whole."""
    arguments = work.make_arguments()
    backend.wait(None)
    before, start = counters.read(), perf_counter_ns()
    with tf.profiler.experimental.Trace(MARK):
        backend.wait([work.function(*arguments, **work.keywords)])
    wall_ns = perf_counter_ns() - start
    return before.sample(counters.read(), 1, wall_ns, wall_ns)


def _by_kernels(call: Sample, took: int, threads: int) -> Sample:
    """Return a sample whose time is that of the kernels; CPU time would be that of the profiler itself too."""
    return replace(call, wall_ns=took, cpu_ns=took, clean=clean(call, threads))


def _union(stretches: Iterable[tuple[int, int]]) -> int:
    """Return how long at least one of some stretches of time lasted: kernels of several threads may overlap."""
    total = end = 0
    for begin, until in sorted(stretches):
        total += max(0, until - max(begin, end))
        end = max(end, until)
    return total
