"""Two children, one for each side, that take turns on the same CPUs.

Both stay on the same CPUs. Turns are equal, short and many, and their order is random: unequal turns biased identical
code by 3-16 %. The side that waits is stopped by a signal, so that no thread of it spins. After each switch there are
untimed calls, inside the child.
"""

from __future__ import annotations

import math
import os
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol, TypeAlias

from opperf.domain.comparison import PairValue
from opperf.domain.dataclass import dataclass
from opperf.domain.kernels import KERNELS
from opperf.domain.measurement import LONG_CALL, Measurement, Samples
from opperf.domain.message.replies import Preparation
from opperf.domain.message.requests import Measure, Prepare, R, Release, Request, Turn
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Warning
from opperf.domain.stats.order import centre, median, median_interval, quantile
from opperf.parent.workers.instructions import variables
from opperf.parent.workers.other_work import other_work
from opperf.parent.workers.process import Worker, start
from opperf.parent.workers.reference import Reference

#: Rounds of a pair, each with tensors elsewhere in memory: on other pages they meet other colours of the
#: cache, and identical code then takes another time (streaming operators of the size of a cache: by 5-15 %).
ROUNDS = 24
#: What lies between one place and the next, in bytes: anything up to sixteen pages, since the low bits of an address
#: decide what is forwarded and what conflicts.
OFFSET_BYTES = 64 * 1024
#: Least and most samples of a turn, and the seconds they should fit into: many short rounds, not few long ones.
#: Beside other work on the machine the minima of four left three fifths of the variance of those of two.
TURN_SAMPLES, MOST_SAMPLES = 2, 4
TURN_SECONDS = 0.004
#: Rounds are fewer where they would take longer than this, in seconds, but never fewer than an estimate needs.
PAIR_SECONDS, LEAST_ROUNDS = 0.6, 5
#: Rounds at most of a pair that is given patience: where rounds differ, more of them cost less than another pair.
MOST_ROUNDS = 96
#: Memory that one side may hold beside the tensors that are measured, so that the next ones lie elsewhere, in bytes.
HELD_BYTES = 512 * 1024 * 1024

#: Variables that bind threads to the CPUs that a runtime sees when it is loaded.
BINDING = ("OMP_PROC_BIND", "OMP_PLACES", "KMP_AFFINITY", "GOMP_CPU_AFFINITY")

#: What each side is called.
SIDES = ("base", "new")
#: A turn of the base and one of the new side.
Round: TypeAlias = tuple[Samples, Samples]


@dataclass(frozen=True)
class Patience:
    """How long a pair goes on beyond its rounds: for `seconds`, or until its log-ratio is known within `width`."""

    seconds: float = 0.0
    width: float = math.inf


class Opponents(Protocol):
    """Two children that are compared, 0 the base and 1 the new side; `turn` is the one that was asked last."""

    turn: int

    @property
    def alive(self) -> bool:
        """Whether both can be asked."""

    @property
    def facts(self) -> list[object]:
        """What base and new said of themselves."""

    def check(self, reference: Reference, base: Trial, new: Trial) -> None:
        """Check what both sides compute; raises `OpperfError` for one that is wrong."""

    def compare(self, base: Trial, new: Trial, patience: Patience | None = None) -> PairValue:
        """Measure one case on both sides by turns; raises `OpperfError`."""

    def memory(self, base: Trial, new: Trial) -> list[Measurement]:
        """Measure what one call takes on each side; none where that is not told."""

    def close(self) -> None:
        """End both."""


class Duel:
    """A pair of children, 0 the base and 1 the new side.

    `first` is the one that was started first, at random; `turn` the one that was asked last.
    """

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
    ) -> None:
        """Start both. `children` holds them while they start, for whoever may have to end them meanwhile."""
        self._settings = settings
        self._random = generator
        self._workers: list[Worker] = [] if children is None else children
        self._warnings: dict[Warning, None] = {}
        #: What the results of each side were checked against, by its name.
        self._checks: dict[str, list[str]] = {}
        self.turn = 0
        #: Whether both sides show their kernels, so that a case is decided by the time of those.
        self._of_kernels = False
        try:
            sides = [base, new]
            cpus = settings.cpus or shared_cpus(base, new)
            order = self._order()
            self.first = order[0]
            workers: dict[int, Worker] = {}
            # Nothing is timed yet, so the second imports on CPUs of its own where there are any.
            apart = starting_cpus(base, new, settings.cpus)
            begin = partial(
                start,
                progress=progress,
                sharing=2 * max(1, settings.jobs),
                plugins=plugins,
                greet=False,
                variables=variables(settings),
            )
            for place, where in zip(order, (cpus, apart or cpus)):
                workers[place], _ = begin(sides[place], cpus=where)
                self._workers.append(workers[place])
            for worker in self._workers:
                worker.greet()
            if apart is not None and cpus is not None:
                workers[order[1]].stay_on(cpus)
            for worker in self._workers:
                worker.pause()
            self._sides = [workers[0], workers[1]]
        except BaseException:
            for worker in self._workers:
                worker.kill()
            raise

    @property
    def alive(self) -> bool:
        """Whether both children can be asked."""
        return all(worker.alive for worker in self._sides)

    @property
    def facts(self) -> list[object]:
        """What base and new said of themselves."""
        return [dict(worker.facts) for worker in self._sides]

    def compare(self, base: Trial, new: Trial, patience: Patience | None = None) -> PairValue:
        """Measure one case on both sides by turns; raises `OperatorFailure` and `WorkerFailure`."""
        rounds = self._rounds(base, new, patience or Patience())
        alone = all(trial.side.is_one_cpu for trial in (base, new))
        warnings, self._warnings = tuple(self._warnings), {}
        checked = {side: "; ".join(dict.fromkeys(facts)) for side, facts in self._checks.items()}
        value = pair_value(rounds, cpu_may_stand_in=alone)
        return replace(value, warnings=warnings, checked=checked, clock=KERNELS if self._of_kernels else value.clock)

    def interval(self, base: Trial, new: Trial) -> tuple[float, float] | None:
        """Return the interval of the log-ratio of new to base in these two processes, None where too little is clean.

        Other processes may differ by more. Raises as `compare` does.
        """
        return _interval(self._rounds(base, new, Patience()))

    def _rounds(self, base: Trial, new: Trial, patience: Patience) -> list[Round]:
        rounds: list[Round] = []
        calls: list[int | None] = [None, None]
        samples = TURN_SAMPLES
        offsets: list[dict[int, int]] = []
        few = max(1, HELD_BYTES // max(1, 2 * base.case.input_bytes, 2 * new.case.input_bytes))
        began = 0.0
        while not enough(rounds, time.monotonic() - began, patience):
            preparations = {
                place: self._prepare(place, (base, new)[place], elsewhere=True, first=not rounds)
                for place in self._order()
            }
            handles = {place: preparation.handle for place, preparation in preparations.items()}
            offsets.append(handles)
            if not rounds:
                for place, preparation in preparations.items():
                    self._note_check(place, preparation.facts)
                self._of_kernels = all(preparation.kernels for preparation in preparations.values())
                if base.case == new.case:  # a side may have element types of its own
                    self._warnings |= dict.fromkeys(other_work(preparations[0], preparations[1]))
            turns = {place: self._turn(place, handles[place], calls[place], samples) for place in self._order()}
            if not rounds:
                began = time.monotonic()  # the first round finds the lengths of the blocks, which takes its own time
                if not self._of_kernels:
                    calls = [turns[place].samples[0].calls for place in (0, 1)]
                samples = samples_of_a_turn([turns[place] for place in (0, 1)])
            rounds.append((turns[0], turns[1]))
            if len(offsets) > few:
                self._release(offsets.pop(0))
        for handles in offsets:
            self._release(handles)
        return rounds

    def check(self, reference: Reference, base: Trial, new: Trial) -> None:
        """Check what both sides compute; raises `OperatorFailure` for one that is wrong."""
        self._checks = {}
        for place, trial in ((0, base), (1, new)):
            self._note_check(place, reference.check(trial, partial(self._ask, place)))

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

    def _prepare(self, place: int, trial: Trial, *, elsewhere: bool = False, first: bool = False) -> Preparation:
        offset = 1 + self._random.randrange(OFFSET_BYTES) if elsewhere else 0
        settings = self._settings
        request = Prepare(trial, settings.seed, settings.check_of(trial.side), offset, kernels=first, results=first)
        return self._ask(place, request)

    def _turn(self, place: int, handle: int, calls: int | None, samples: int) -> Samples:
        sampling = self._ask(place, Turn(handle, samples, calls, self._of_kernels))
        for warning in sampling.warnings:
            self._warnings[replace(warning, message=f"{SIDES[place]}: {warning.message}")] = None
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
        """End both children."""
        for worker in self._workers:
            if worker.alive:
                worker.resume()
                worker.close()


def enough(rounds: Sequence[Round], seconds: float, patience: Patience) -> bool:
    """Return whether a pair has enough rounds after these seconds.

    What rounds say decides by how far they differ alone, whichever side is slower: that cannot favour either.
    """
    if len(rounds) <= LEAST_ROUNDS or (len(rounds) < ROUNDS and seconds < PAIR_SECONDS):
        return False
    return len(rounds) >= MOST_ROUNDS or seconds >= patience.seconds or _is_narrow(rounds, patience.width)


def _is_narrow(rounds: Sequence[Round], width: float) -> bool:
    """Whether the interval of the median of the rounds' log-ratios is no wider than this on either side."""
    interval = _interval(rounds)
    return interval is not None and interval[1] - interval[0] <= 2 * width


def _interval(rounds: Sequence[Round]) -> tuple[float, float] | None:
    """Return the interval of the median of the rounds' log-ratios."""
    every = (_minima((base.seconds(), new.seconds()), ([], [])) for base, new in rounds)
    return median_interval([minima[1] - minima[0] for minima in every if minima is not None])


def samples_of_a_turn(turns: Sequence[Samples]) -> int:
    """Return how many samples a turn has on either side, given the first turn of each."""
    longest = max(min(sample.wall_ns for sample in turn.samples) for turn in turns) / 1e9
    return min(MOST_SAMPLES, max(TURN_SAMPLES, int(TURN_SECONDS / longest) if longest > 0 else MOST_SAMPLES))


def pair_value(rounds: Sequence[Round], *, cpu_may_stand_in: bool = False, least: float = LONG_CALL) -> PairValue:
    """Return what a pair says: of each round as many clean samples of one side as of the other.

    A round is over in milliseconds, so both of its turns meet a host of the same speed. Its ratio holds what the places
    of the tensors do to either side; the centre of all rounds evens that out, and is hardly moved by those in which the
    speed changed. With minima over the whole pair, identical code spread several times as far.

    A call of one thread that takes over 2 ms, the `least`, hardly escapes a busy neighbour: without enough clean
    rounds, CPU time of all samples stands in, unless the calls of either side wait.
    """
    value = _value([(one[0].seconds(), one[1].seconds()) for one in rounds], "wall")
    if value.log_ratio is None and cpu_may_stand_in and _long(rounds, least):
        if not all(_whole(turns).only_compute for turns in zip(*rounds)):
            return replace(
                value, reason=f"{value.reason}, and CPU time cannot replace the wall time of calls that wait"
            )
        every = [(one[0].cpu_seconds(clean_only=False), one[1].cpu_seconds(clean_only=False)) for one in rounds]
        value = _value(every, "cpu")
    if value.base is None or value.new is None:
        return value
    base, new = ({"faults": _faults(turns)} for turns in zip(*rounds))
    return replace(value, base={**value.base, **base}, new={**value.new, **new})


def _faults(turns: Sequence[Samples]) -> float:
    """Return the page faults of a call, in the middle of the samples of a side."""
    return median([sample.faults / sample.calls for turn in turns for sample in turn.samples])


def _whole(turns: Iterable[Samples]) -> Samples:
    """Return all samples that one side took in its turns."""
    return Samples(tuple(sample for turn in turns for sample in turn.samples))


def _long(rounds: Sequence[Round], least: float) -> bool:
    """Whether each call of both sides takes long."""
    return all(median(turn.seconds(clean_only=False)) >= least for one in rounds for turn in one)


def _value(rounds: Sequence[tuple[list[float], list[float]]], clock: str) -> PairValue:
    """Return the value of rounds of times, base and new, in seconds."""
    pairs: tuple[list[float], list[float]] = ([], [])
    minima = [logs for one in rounds if (logs := _minima(one, pairs)) is not None]
    if len(minima) < LEAST_ROUNDS:
        return PairValue(None, None, None, len(minima), f"{len(minima)} rounds with undisturbed samples of both sides")
    # The ratio and the level of the rounds each have their centre; the times are those that lie so far apart there.
    ratio, level = centre([new - base for base, new in minima]), centre([(new + base) / 2 for base, new in minima])
    base_values, new_values = (
        {"turn": math.exp(level + half), **_values(sorted(times))}
        for half, times in zip((-ratio / 2, ratio / 2), pairs)
    )
    return PairValue(ratio, base_values, new_values, len(minima), clock=clock)


def _minima(one: Sequence[list[float]], minima: tuple[list[float], list[float]]) -> tuple[float, float] | None:
    """Return the logs of the minima of a round's turns, and keep the times that they are from."""
    count = min(map(len, one))
    if count == 0 or min(map(min, one)) <= 0:
        return None
    for side, times in zip(minima, one):
        side.extend(times[:count])
    return math.log(min(one[0][:count])), math.log(min(one[1][:count]))


def shared_cpus(base: Side, new: Side) -> tuple[int, ...] | None:
    """Return the CPUs that both sides stay on: as many as the more threaded one has threads, the last ones there are.

    On CPUs of their own, two identical children met different neighbours: their log-ratios spread by up to 22 %. The
    first CPUs serve more interrupts than the last.
    """
    if not hasattr(os, "sched_getaffinity"):
        return None
    usable = sorted(os.sched_getaffinity(0))
    return tuple(usable[-max(base.threads, new.threads) :])


def starting_cpus(base: Side, new: Side, cpus: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """Return the CPUs that the second child imports its framework on, before it joins the first; None for the same.

    Importing a framework is most of the time of a pair, and no part of what is measured. A framework counts its CPUs
    at import, so they are as many as those of the comparison, and next to them: what is read then lies in the memory
    of the same node. Where the user chose CPUs, or binds threads to them, a child starts where it stays.
    """
    count = max(base.threads, new.threads)
    bound = any(name in {**os.environ, **side.variables} for side in (base, new) for name in BINDING)
    if cpus is not None or bound or not hasattr(os, "sched_getaffinity"):
        return None
    usable = sorted(os.sched_getaffinity(0))
    apart = usable[-2 * count : -count]
    if len(apart) < count or len({_node(cpu) for cpu in usable[-2 * count :]}) > 1:
        return None
    return tuple(apart)


def _node(cpu: int) -> str | None:
    """Return the node of memory that a CPU belongs to, None where the system does not tell."""
    return next((path.name for path in Path(f"/sys/devices/system/cpu/cpu{cpu}").glob("node[0-9]*")), None)


def _values(in_order: list[float]) -> dict[str, float]:
    return {"min": in_order[0], "median": quantile(in_order, 0.5), "p90": quantile(in_order, 0.9)}
