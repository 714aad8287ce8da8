"""The order of a trial: warm up, find the block length, sample until a rule says stop, then latency and memory.

What a device did is looked at apart from that: what a profiler has watched launches more slowly from then on. The
result holds every sample. The code that reads them makes summaries.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

from opperf.child.measure import energy, host, kernels
from opperf.child.measure.block import Block, Sweep, Witness
from opperf.child.measure.calibrate import LONG_NS, MOST_OF_BUDGET, probe, settle, warm_up
from opperf.child.measure.disturbance import Counters
from opperf.child.measure.doubts import believed, doubts
from opperf.child.measure.gpu import doubts as gpu_doubts
from opperf.child.measure.gpu import gpu_of
from opperf.child.measure.growth import Growth
from opperf.child.measure.lengths import LONGEST_NS
from opperf.child.measure.stopping import Count, Stopping, stopping
from opperf.domain.backend import Backend, KernelWatch, NativeLoop, Unsupported
from opperf.domain.call import Work
from opperf.domain.kernels import KernelTimes
from opperf.domain.measurement import Measurement, Quantity, Sample, Samples
from opperf.domain.metric import ENERGY
from opperf.domain.plan import Part, Settings
from opperf.domain.reason import Warning

#: Single calls that the latency is made of, unless `--runs` says otherwise.
LATENCY_CALLS = 20
#: Calls before memory is measured: MXNet allocates scratch space in each of the first four, and keeps it.
CALLS_BEFORE_MEMORY = 4
#: The budget that warm-up before the first turn of a comparison has its share of, in seconds.
TURN_WARMUP = 0.2
#: Calls of a sample of a comparison that holds kernels against kernels, and those that go ahead of a turn under the
#: profiler: while that starts, the device idles.
KERNEL_CALLS, KERNEL_CALLS_AHEAD = 4, 8


class Engine:
    """Measures pieces of work with one backend."""

    def __init__(self, backend: Backend, counters: Counters) -> None:
        self._backend = backend
        self._counters = counters

    def measure(
        self,
        work: Work,
        settings: Settings,
        *,
        output_bytes: int,
        took: Sequence[int] = (),
        part: Part | None = None,
        native: NativeLoop | None = None,
        witness: Witness | None = None,
    ) -> Measurement:
        """Measure one piece of work, and by the same rules what it takes in a `native` loop.

        `output_bytes` is what one call returns, `took` the nanoseconds of calls made before: they count as warm-up.
        As a `part` of a whole, work that takes little of it gets little time. A `witness` sees results of the samples.
        """
        clock = self._backend.clock
        seconds: dict[str, float] = {}
        sweep = self._cold() if settings.cache == "cold" else None
        block = Block(work, self._backend, self._counters, sweep=sweep, witness=witness)
        with block.scope(), _no_garbage_collection(), _stage(seconds, "warmup", clock.wall):
            calls, warmed, probed, settings = self._warm(block, settings, output_bytes, took, part)
        self._counters.watch()
        growth = self._growth() if settings.memory else None
        before, gpu = self._counters.host(), gpu_of(self._backend.side.device) or self._backend.monitor()
        gpu_before: Mapping[str, int] = {} if gpu is None else gpu.read()
        with block.scope(), _no_garbage_collection(), _stage(seconds, "samples", clock.wall):
            time, calls = self._time(block, calls, settings, output_bytes, probed=probed)
        host_warnings = host.doubts(before, self._counters.host(), seconds["samples"])
        gpu_after = {} if gpu is None else gpu.read()
        time, hidden = believed(time)
        metrics: dict[str, Samples | Quantity] = {"time": time, **work.metrics}
        if native is not None:
            with _stage(seconds, "native", clock.wall):
                metrics["time_native"] = self._without_python(work, native, settings, sweep, part)
        if settings.latency:
            with block.scope(), _no_garbage_collection(), _stage(seconds, "latency", clock.wall):
                metrics["latency"] = self._latency(block, time, calls, settings)
        more_facts: dict[str, object] = {}
        more_warnings: tuple[Warning, ...] = ()
        if settings.metric == ENERGY:
            with block.scope(), _no_garbage_collection(), _stage(seconds, ENERGY, clock.wall):
                energy_metrics, more_facts, more_warnings = self._energy(block, calls)
            metrics |= energy_metrics
        if settings.memory:
            warm_calls = warmed + sum(sample.calls for sample in time.samples)
            with _stage(seconds, "memory", clock.wall):
                if growth is not None:
                    with block.scope():
                        metrics["memory_kept"], leaks = growth.after(block, time.samples, settings.trial_budget)
                    more_warnings = (*more_warnings, *leaks)
                metrics |= self._memory(block, CALLS_BEFORE_MEMORY - warm_calls, time.samples[-1])
        return Measurement(
            metrics,
            facts={
                **work.notes,
                "sync": "call" if block.one_by_one else "block",
                "cache": settings.cache,
                "warmup_calls": warmed,
                "calls_per_sample": calls,
                **more_facts,
                **({"gpu": {"before": gpu_before, "after": gpu_after}} if gpu_before or gpu_after else {}),
            },
            warnings=(
                *doubts(time, output_bytes),
                *hidden,
                *host_warnings,
                *gpu_doubts(gpu_before, gpu_after, seconds["samples"]),
                *more_warnings,
            ),
            spent=seconds,
        )

    def kernels(self, work: Work, calls: int | None = None, *, cold: bool = True) -> KernelTimes:
        """Watch what the device does for calls; nothing that is timed may follow in this process.

        Raises `Unsupported` where the framework shows no kernels.
        """
        watch = self._backend.kernel_watch()
        if watch is None:
            raise Unsupported(f"{self._backend.name} shows no kernels", slug="no_kernels_seen")
        sweep = self._backend.cache_sweep if cold else lambda: None
        return kernels.measure(watch, work, calls or kernels.CALLS, sweep, self._backend.clock.wall)

    def _energy(self, block: Block, calls: int) -> tuple[dict[str, Quantity], dict[str, object], tuple[Warning, ...]]:
        """Return the energy of a call, facts and doubts; without a meter the doubt is the reason."""
        try:
            meter = self._backend.energy_meter() or energy.meter_of(self._backend.side.device)
            reading = energy.read(block, calls, meter, self._backend.clock.wall)
        except Unsupported as unsupported:
            return {}, {}, (Warning(unsupported.slug, str(unsupported), unsupported.hint),)
        return {ENERGY: reading.energy}, {ENERGY: reading.facts}, reading.warnings

    def _without_python(
        self, work: Work, native: NativeLoop, settings: Settings, sweep: Callable[[], None] | None, part: Part | None
    ) -> Samples:
        block = Block(work, self._backend, self._counters, sweep=sweep, native=native)
        with block.scope(), _no_garbage_collection():
            calls, _, probed, settings = self._warm(block, settings, 0, (), part)
            return self._time(block, calls, settings, 0, probed=probed)[0]

    def block(self, work: Work, witness: Witness | None = None) -> Block:
        """Return a block of that work, to be sampled on demand."""
        return Block(work, self._backend, self._counters, witness=witness)

    def turn(self, block: Block, samples: int, *, output_bytes: int, watch: KernelWatch | None = None) -> Samples:
        """Take a turn of an interleaved comparison: untimed calls until the switch is forgotten, then samples.

        With a `watch` the samples are how long the device was busy. Where the first turn finds that a call takes long,
        one sample is the turn.
        """
        with block.scope(), _no_garbage_collection():
            is_first = block.calls is None
            if not (is_first and self._find_length(block, output_bytes)):
                settle(block)
        if watch is not None:
            calls = watch(block.work, KERNEL_CALLS_AHEAD + samples * KERNEL_CALLS)[KERNEL_CALLS_AHEAD:]
            pieces = [calls[first : first + KERNEL_CALLS] for first in range(0, len(calls), KERNEL_CALLS)]
            return Samples(tuple(kernels.block_sample(piece) for piece in pieces))
        with block.scope(), _no_garbage_collection():
            timed = [block.sample(block.calls or 1)]
            if not is_first or timed[0].wall_ns < LONG_NS:
                timed += [block.sample(block.calls or 1) for _ in range(samples - 1)]
            return Samples(tuple(timed), block.overhead_ns)

    def _find_length(self, block: Block, output_bytes: int) -> bool:
        """Find the calls of a block, and warm up; return whether the probes took as long as a warm-up may."""
        clock = self._backend.clock
        began = clock.wall()
        block.calls = probe(block, output_bytes=output_bytes, holds=self._backend.collects)
        is_warm = (clock.wall() - began) / 1e9 >= MOST_OF_BUDGET * TURN_WARMUP
        if not is_warm:
            warm_up(block, block.calls, TURN_WARMUP)
        self._counters.watch()
        return is_warm

    def _cold(self) -> Callable[[], None]:
        """Return a function that empties the device's last-level cache; raises `Unsupported` where there is none."""
        sweep = self._backend.cache_sweep()
        if sweep is None and self._backend.side.device != "cpu":
            raise Unsupported(
                f"{self._backend.name} does not report the size of the device's cache, so it cannot be emptied",
                slug="no_cold_cache",
                hint="leave out `--cache cold`",
            )
        return sweep or _sweep()

    def _warm(
        self, block: Block, settings: Settings, output_bytes: int, took: Sequence[int], part: Part | None
    ) -> tuple[int, int, bool, Settings]:
        """Return the calls of a block, how many calls went before the first sample, and whether any was a probe.

        The settings that come with them have the budget that the work deserves.
        """
        warm_calls, least = len(took), min(took, default=0)
        ahead = (settings.warmup or 0) - warm_calls
        if ahead > 0:
            least = block.run(ahead) // ahead
            warm_calls += ahead
        # Where calls are counted, none is spent on what those before it have told: a call longer than a block is one.
        # Nor is one that takes long where few are asked for, or where it is one of many operators.
        few = settings.warmup is not None or settings.runs is not None or part is not None
        probed = not few or least < (LONGEST_NS if settings.warmup is not None else LONG_NS)
        calls = probe(block, output_bytes=output_bytes, holds=self._backend.collects) if probed else 1
        if part is not None:
            if probed:
                least = block.run(calls) // calls
                warm_calls += calls
            settings = replace(settings, trial_budget=part.budget(settings.trial_budget, least / 1e9))
        if settings.warmup is None and probed:
            warm_calls += warm_up(block, calls, settings.trial_budget)
        return calls, warm_calls, probed, settings

    def _time(
        self, block: Block, calls: int, settings: Settings, output_bytes: int, *, probed: bool
    ) -> tuple[Samples, int]:
        """Return the samples and the calls of each; where no probe was made, the first sample is looked at as one."""
        first: tuple[Sample, ...] = ()
        if not probed:
            first = (block.sample(calls),)
            holds = self._backend.collects
            if block.lengths.calls(first[0].wall_ns, output_bytes=output_bytes, holds=holds) > calls:
                # Only the calls before it were long: they compiled, or loaded what is loaded once.
                first, calls = (), probe(block, output_bytes=output_bytes, holds=holds)
        return Samples(self._sample(block, calls, stopping(settings), first), block.overhead_ns), calls

    def _sample(self, block: Block, calls: int, rule: Stopping, first: Sequence[Sample] = ()) -> tuple[Sample, ...]:
        """Take samples until the rule says stop; `first` are those that were taken already."""
        samples = list(first)
        times = [_nanoseconds(sample) for sample in samples if sample.clean]
        start = self._backend.clock.wall()
        while not rule.finished(times, len(samples), (self._backend.clock.wall() - start) / 1e9):
            sample = block.sample(calls)
            samples.append(sample)
            if sample.clean:
                times.append(_nanoseconds(sample))
        return tuple(samples)

    def _latency(self, block: Block, time: Samples, calls: int, settings: Settings) -> Samples:
        """Time single calls; if a block is one call, its samples are reused."""
        if calls == 1:
            return time.by_the_host()
        single = self._sample(block, 1, Count(settings.runs or LATENCY_CALLS))
        return Samples(single, block.single_overhead_ns).by_the_host()

    def _growth(self) -> Growth | None:
        """Return a watch on growing memory: the device's where tensors lie there; None where nobody tells."""
        live = self._backend.live_memory()
        if live is not None:
            return Growth(lambda: self._backend.live_memory() or 0, "live tensors of the device")
        return Growth(self._counters.memory, "the process's own memory") if self._counters.memory() else None

    def _memory(self, block: Block, ahead: int, last: Sample) -> Mapping[str, Quantity]:
        """Look at what one call takes, after some uncounted ones, unless they take long."""
        if 0 < ahead * last.wall_ns / last.calls < LONG_NS:
            with block.scope():
                block.run(ahead)
        memory = self._backend.memory(block.work)
        return {} if memory is None else memory.metrics()


def _nanoseconds(sample: Sample) -> float:
    """Return the time of a call by the clock that counts: a device's, where it has one."""
    return (sample.wall_ns if sample.device_ns is None else sample.device_ns) / sample.calls


@cache
def _sweep() -> Sweep:
    return Sweep()


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def _stage(seconds: dict[str, float], name: str, wall: Callable[[], int]) -> Iterator[None]:
    start = wall()
    try:
        yield
    finally:
        seconds[name] = seconds.get(name, 0.0) + (wall() - start) / 1e9
