"""Two children, one for each side, that take turns on the same CPUs.

Both stay on the same CPUs. Turns are equal, short and many, and their order is random: unequal turns biased identical
code by 3-16 %. The side that waits is stopped by a signal, so that no thread of it spins. After each switch there are
untimed calls, inside the child.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from opperf.domain.code import own_metric
from opperf.domain.errors import InputError, OperatorFailure
from opperf.domain.kernels import DEVICE_METRICS, KERNELS
from opperf.domain.measurement import Measurement, Quantity, Samples
from opperf.domain.message.replies import Preparation
from opperf.domain.message.requests import Measure, Prepare, R, Release, Request, Turn, WatchKernels
from opperf.domain.metric import NO_METER, Metric, compared_metric
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Reason, Warning
from opperf.domain.stats.order import median
from opperf.domain.units import BYTE
from opperf.parent.documents.comparison import PairValue
from opperf.parent.workers import placement
from opperf.parent.workers.instructions import variables
from opperf.parent.workers.other_work import other_device, other_work
from opperf.parent.workers.pair import Pair
from opperf.parent.workers.pair_cpus import shared_cpus, starting_cpus
from opperf.parent.workers.process import Launch, Worker
from opperf.parent.workers.reference import Reference
from opperf.parent.workers.rounds import (
    LEAST_ROUNDS,
    TURN_SAMPLES,
    Patience,
    Round,
    enough,
    pair_value,
    rounds_interval,
    samples_of_a_turn,
)
from opperf.parent.workers.source import Source, share_import
from opperf.parent.workers.starting import start

#: Memory that one side may hold beside the tensors that are measured, so that the next ones lie elsewhere, in bytes.
HELD_BYTES = 512 * 1024 * 1024
#: Seconds that both sides may take to make what a round is measured on. What takes longer, as the `setup` of a
#: benchmark may, is made for two rounds, and the others have what the second had.
MAKING_SECONDS = 0.5

#: How often a pair measures each side by a metric other than the time that is not exact, the first time to warm up:
#: many short turns, as clocks and temperatures drift. And the samples that it takes of the time beside it.
METRIC_ROUNDS, METRIC_RUNS = 5, 3
#: NVML's compute mode of a GPU that lets in one process.
EXCLUSIVE = 3
#: What each side is called.
SIDES = ("base", "new")


class Duel(Pair):
    """A pair that is timed; `first` is the side that was started first, at random."""

    def __init__(
        self,
        base: Side,
        new: Side,
        settings: Settings,
        progress: Callable[[str], None],
        generator: random.Random,
        *,
        plugins: Sequence[Path] = (),
        children: list[Worker] | None = None,
        ahead: Sequence[tuple[int, ...]] = (),
    ) -> None:
        """Start both. `children` holds them while they start, for whoever may have to end them meanwhile.

        Those that start `ahead` of their turn import on CPUs of their own each, until `gather` is called.
        """
        self._settings = settings
        self._random = generator
        self._workers: list[Worker] = [] if children is None else children
        self._warnings: dict[Warning, None] = {}
        #: What the results of each side were checked against, by its name.
        self._checks: dict[str, list[str]] = {}
        #: Whether both sides show their kernels, so that a case is decided by the time of those.
        self._of_kernels = False
        try:
            sides = [base, new]
            self._cpus = cpus = settings.cpus or shared_cpus(base, new)
            order = self._order()
            self.first = order[0]
            workers: dict[int, Worker] = {}
            # Nothing is timed yet, so the second imports on CPUs of its own where there are any.
            apart = starting_cpus(base, new, settings.cpus)
            source = Source() if share_import(base, new) else None
            own = {**placement.variables(sides), **variables(settings)}
            launch = Launch(plugins=plugins, variables=own, source=source, sharers=2)
            sharing, cache = 2 * max(1, settings.jobs), settings.compile_cache
            begin = partial(start, progress=progress, sharing=sharing, greet=False, compile_cache=cache)
            self._importing_on = tuple(ahead) or (cpus, cpus if source else apart or cpus)
            for place, where in zip(order, self._importing_on):
                workers[place], _ = begin(sides[place], replace(launch, cpus=where))
                self._workers.append(workers[place])
            self._sides = [workers[0], workers[1]]
        except BaseException:
            self._kill()
            raise
        if not ahead:
            self.gather()

    def gather(self) -> None:
        """Wait until both have imported their frameworks, and hold them where they are measured."""
        if not self._importing_on:
            return
        try:
            for worker in self._workers:
                self._greet(worker)
            self._placement = placement.together([worker.facts for worker in self._sides])
            for worker, where in zip(self._workers, self._importing_on):
                if self._cpus is not None and where != self._cpus:
                    worker.stay_on(self._cpus)
            for worker in self._workers:
                worker.pause()
        except BaseException:
            self._kill()
            raise
        self._importing_on = ()

    def _greet(self, worker: Worker) -> None:
        """Wait for a child's hello; raises `InputError` where its GPU does not let it in beside the other one."""
        try:
            worker.greet()
        except OperatorFailure as failure:
            gpus = [one.facts.get("gpu") for one in self._workers]
            if any(isinstance(gpu, Mapping) and gpu.get("mode") == EXCLUSIVE for gpu in gpus):
                text = "the GPU serves one process at a time (its compute mode), and a comparison has two on it"
                raise InputError(text, hint="`nvidia-smi --compute-mode=DEFAULT`", slug="gpu_exclusive") from failure
            raise

    def _kill(self) -> None:
        for worker in self._workers:
            worker.kill()

    @property
    def workers(self) -> Sequence[Worker]:
        """The children of base and new."""
        return self._sides

    def compare(self, base: Trial, new: Trial, patience: Patience | None = None) -> PairValue:
        """Measure one case on both sides by turns; raises `OperatorFailure` and `WorkerFailure`."""
        alone = all(trial.side.is_one_cpu for trial in (base, new))
        by_itself = own_metric(base.side.implementation, base.case.operator)
        metric = compared_metric(
            by_itself if by_itself is not None and self._settings.metric == "time" else self._settings.metric
        )
        if metric.name == "time":
            rounds = self._rounds(base, new, patience or Patience(), cpu_may_stand_in=alone)
            value = replace(pair_value(rounds, cpu_may_stand_in=alone), placement=self._placement)
        else:
            value = self._metric_value((base, new), metric)
        warnings = (*other_device(*(worker.facts for worker in self._sides)), *self._warnings)
        self._warnings = {}
        checked = {side: "; ".join(dict.fromkeys(facts)) for side, facts in self._checks.items()}
        return replace(value, warnings=warnings, checked=checked, clock=KERNELS if self._of_kernels else value.clock)

    def _metric_value(self, trials: tuple[Trial, Trial], metric: Metric) -> PairValue:
        """Measure both sides in turn, in random order; return what the pair says by another metric than the time."""
        levels: tuple[list[Quantity], list[Quantity]] = ([], [])
        latency, memory = metric.name == "latency", metric.unit is BYTE
        few = replace(self._settings, warmup=1, runs=METRIC_RUNS, latency=latency, memory=memory)
        preparations = self._preparations(trials, (0, 0), first=True)
        for place, preparation in preparations.items():
            self._note_check(place, preparation.facts)
        rounds = 1 if metric.compared == "exact" or metric.once else METRIC_ROUNDS
        for _ in range(rounds):
            for place in self._order():
                levels[place].append(self._level(place, preparations[place], few, metric))
        self._release({place: preparation.handle for place, preparation in preparations.items()})
        values = [tuple(one.value for one in both) for both in zip(*levels)][rounds > 1 :]  # the first warms up
        base, new = (median(side) for side in zip(*values))
        resolution = max(one.resolution for side in levels for one in side)
        # Nothing is as much as nothing, but nothing has a ratio to it.
        positive = all(min(both) > 0 for both in values)
        ratio = median([math.log(new / base) for base, new in values]) if positive else 0.0 if base == new else None
        no_ratio = "there is no ratio of numbers that are not above zero"
        reason = None if ratio is not None else no_ratio if metric.once else f"only one side takes {metric.words}"
        sides = ({metric.name: base}, {metric.name: new})
        unit = levels[1][0].unit
        return PairValue(ratio, *sides, len(values), reason, metric=metric.name, resolution=resolution, unit=unit)

    def _level(self, place: int, preparation: Preparation, settings: Settings, metric: Metric) -> Quantity:
        """Return the value of a metric on a side; raises `OperatorFailure` where it has no such."""
        measurement = self._ask(place, Measure(preparation.handle, settings))
        if preparation.watched and metric.name in DEVICE_METRICS:
            watched = self._ask(place, WatchKernels(preparation.handle, METRIC_RUNS))
            measurement = watched.added_to(measurement)
        level = measurement.level(metric.name)
        if level is not None:
            self._note_warnings(place, (one for one in measurement.warnings if one.slug.startswith(metric.name)))
            return level
        missing = next((one for one in measurement.warnings if one.slug == NO_METER), None)
        text = f"{SIDES[place]}: `{metric.name}` is not measured here" if missing is None else missing.message
        hint = None if missing is None else missing.hint
        self.turn = 0  # without a value on both sides there is nothing to compare with, and nothing that failed
        raise OperatorFailure(Reason("no_metric" if missing is None else NO_METER, text, hint), skipped=True)

    def _note_warnings(self, place: int, warnings: Iterable[Warning]) -> None:
        for warning in warnings:
            self._warnings[replace(warning, message=f"{SIDES[place]}: {warning.message}")] = None

    def interval(self, base: Trial, new: Trial) -> tuple[float, float] | None:
        """Return the interval of the log-ratio of new to base in these two processes, None where too little is clean.

        Other processes may differ by more. Raises as `compare` does.
        """
        # Fewer rounds have no interval, however long a call is.
        return rounds_interval(self._rounds(base, new, Patience(), least=LEAST_ROUNDS + 1))

    def _rounds(
        self, base: Trial, new: Trial, patience: Patience, *, cpu_may_stand_in: bool = False, least: int = 1
    ) -> list[Round]:
        rounds: list[Round] = []
        calls: list[int | None] = [None, None]
        samples = TURN_SAMPLES
        prepared: list[dict[int, int]] = []  # the handles of rounds whose tensors stay, so that the next lie elsewhere
        most = max(1, HELD_BYTES // max(1, 2 * base.case.input_bytes, 2 * new.case.input_bytes))
        began, is_made_anew = 0.0, True
        first: dict[int, Preparation] = {}
        is_enough = partial(enough, patience=patience, cpu_may_stand_in=cpu_may_stand_in)
        while len(rounds) < least or not is_enough(rounds, time.monotonic() - began):
            if is_made_anew:
                seeds = placement.seeds(self._placement, self._random)
                preparations = self._preparations((base, new), seeds, first=not rounds)
                prepared.append({place: preparation.handle for place, preparation in preparations.items()})
                first = first or preparations
                if any(preparations[place].size - first[place].size > HELD_BYTES for place in (0, 1)):
                    most = max(1, min(most, len(prepared) - 1))
                # What the first has made, all others may find: a `setup_cache`, or a module that is imported.
                is_made_anew = not rounds or _making_seconds(preparations) < MAKING_SECONDS
            if not rounds:
                self._note_preparations(preparations, same_case=base.case == new.case)
            turns = {place: self._turn(place, prepared[-1][place], calls[place], samples) for place in self._order()}
            if not rounds:
                began = time.monotonic()  # the first round finds the lengths of the blocks, which takes its own time
                if not self._of_kernels:
                    calls = [turns[place].samples[0].calls for place in (0, 1)]
                samples = samples_of_a_turn((turns[0], turns[1]))
            rounds.append((turns[0], turns[1]))
            if is_made_anew and len(prepared) > most:  # a test goes on to its end when anything else is asked
                self._release(prepared.pop(0))
        for handles in prepared:
            self._release(handles)
        return rounds

    def _note_preparations(self, preparations: Mapping[int, Preparation], *, same_case: bool) -> None:
        """Keep what both sides say before the first round; each may have element types, and so a case, of its own."""
        for place, preparation in preparations.items():
            self._note_check(place, preparation.facts)
        # No process is looked at by a profiler whose calls are then timed.
        self._of_kernels = all(preparation.watched for preparation in preparations.values()) and all(
            self._shows_kernels(place, preparation.handle) for place, preparation in preparations.items()
        )
        if same_case:
            self._warnings |= dict.fromkeys(other_work(preparations[0], preparations[1]))

    def _shows_kernels(self, place: int, handle: int) -> bool:
        return "device" in self._ask(place, WatchKernels(handle, 1, cold=False)).metrics

    def check(self, reference: Reference, base: Trial, new: Trial) -> None:
        """Check what both sides compute; raises `OperatorFailure` for one that is wrong."""
        self._checks = {}
        for place, trial in ((0, base), (1, new)):
            self._note_check(place, reference.check(trial, partial(self._ask, place)))
        facts = reference.check_beside(base, new, partial(self._ask, 0), partial(self._ask, 1))
        self._note_check(1, facts)

    def _note_check(self, place: int, facts: Mapping[str, object]) -> None:
        if "checked" in facts:
            self._checks.setdefault(SIDES[place], []).append(str(facts["checked"]))

    def _order(self) -> tuple[int, int]:
        """Return both sides in random order."""
        return (0, 1) if self._random.random() < 0.5 else (1, 0)

    def _release(self, handles: dict[int, int]) -> None:
        for place, handle in handles.items():
            self._ask(place, Release(handle))

    def memory(self, base: Trial, new: Trial) -> list[Measurement]:
        """Measure what one call takes on each side."""
        peaks = []
        few = Settings(warmup=1, runs=1, latency=False, memory=True)
        for place, trial in ((0, base), (1, new)):
            handle = self._prepare(place, trial).handle
            peaks.append(self._ask(place, Measure(handle, few)))
            self._ask(place, Release(handle))
        return peaks

    def _prepare(self, place: int, trial: Trial, *, offset: int = 0, first: bool = False) -> Preparation:
        settings = self._settings
        request = Prepare(trial, settings.seed, settings.check_of(trial.side), offset, results=first)
        return self._ask(place, request)

    def _preparations(
        self, trials: tuple[Trial, Trial], seeds: Sequence[int], *, first: bool
    ) -> dict[int, Preparation]:
        """Have both sides prepare, in random order; what the base cannot do is its answer, whoever is asked first."""
        preparations: dict[int, Preparation] = {}
        for place in self._order():
            try:
                preparations[place] = self._prepare(place, trials[place], offset=seeds[place], first=first)
            except OperatorFailure:
                if place == 1 and not preparations:
                    self._prepare(0, trials[0], offset=seeds[0], first=first)
                    self.turn = place
                raise
        return preparations

    def _turn(self, place: int, handle: int, calls: int | None, samples: int) -> Samples:
        sampling = self._ask(place, Turn(handle, samples, calls, self._of_kernels))
        self._note_warnings(place, sampling.warnings)
        return sampling.samples

    def _ask(self, place: int, request: Request[R]) -> R:
        """Wake a child, ask it, and stop it again."""
        self.turn = place
        worker = self._sides[place]
        worker.resume()
        try:
            return worker.ask(request, self._settings.timeout)
        finally:
            if worker.alive:
                worker.pause()

    def close(self) -> None:
        """End both children; one that imports hears nothing."""
        if self._importing_on:
            self._kill()
        for worker in self._workers:
            if worker.alive:
                worker.resume()
                worker.close()


def _making_seconds(preparations: Mapping[int, Preparation]) -> float:
    """Return how long both sides took to make what a round is measured on."""
    return math.fsum(preparation.spent.get("inputs", 0.0) for preparation in preparations.values())
