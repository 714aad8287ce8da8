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
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any, TypeAlias

from opperf.comparison import PairValue
from opperf.measurement import LONG_CALL, Memory, Samples
from opperf.plan import Settings, Side, Trial
from opperf.stats.order import median, quantile
from opperf.workers.process import Worker
from opperf.workers.starting import start

#: A pair prepares a trial so many times, each time behind so much memory at most: tensors that fall on other pages
#: meet other colours of the cache, and identical code then takes another time.
PLACES, OFFSET_BYTES = 3, 8 * 1024 * 1024
#: Rounds at each place, and samples of each turn: many short rounds, not few long ones.
ROUNDS, TURN_SAMPLES = 6, 2
#: Rounds and places are fewer where they would take longer than this, in seconds, but never fewer than a median needs.
PAIR_SECONDS, LEAST_ROUNDS = 0.6, 5

#: A turn of the base and one of the new side.
Round: TypeAlias = tuple[Samples, Samples]


class Duel:
    """A pair of children, 0 the base and 1 the new side.

    `first` is the one that was started first, at random; `asked` the one that was asked last.
    """

    def __init__(
        self, base: Side, new: Side, settings: Settings, progress: Callable[[str], None], generator: random.Random
    ) -> None:
        self._settings = settings
        self._random = generator
        self._workers: list[Worker] = []
        self.asked = 0
        try:
            sides = [base, new]
            cpus = settings.cpus or shared_cpus(base, new)
            order = [0, 1] if generator.random() < 0.5 else [1, 0]
            self.first = order[0]
            started: dict[int, Worker] = {}
            for place in order:
                started[place], _ = start(sides[place], cpus=cpus, progress=progress, sharing=2)
                self._workers.append(started[place])
                started[place].pause()
            self._sides = [started[0], started[1]]
        except BaseException:
            self.close()
            raise

    @property
    def alive(self) -> bool:
        """Whether both children can be asked."""
        return all(worker.alive for worker in self._sides)

    @property
    def facts(self) -> list[Any]:
        """What base and new said of themselves."""
        return [dict(worker.facts) for worker in self._sides]

    def compare(self, base: Trial, new: Trial) -> PairValue:
        """Measure one case on both sides by turns; raises `OperatorFailure` and `WorkerFailure`."""
        places: list[list[Round]] = []
        calls: list[int | None] = [None, None]
        began = time.monotonic()
        while len(places) < PLACES and (
            sum(map(len, places)) < LEAST_ROUNDS or time.monotonic() - began < PAIR_SECONDS
        ):
            places.append(self._place((base, new), calls))
            calls = [turn.samples[0].calls for turn in places[0][0]]
        alone = all((trial.side.device, trial.side.threads) == ("cpu", 1) for trial in (base, new))
        return pair_value(places, cpu_may_stand_in=alone)

    def _place(self, trials: tuple[Trial, Trial], calls: list[int | None]) -> list[Round]:
        """Prepare both sides anew, and let them take turns."""
        handles = [self._prepare(place, trial, offset=True) for place, trial in enumerate(trials)]
        rounds: list[Round] = []
        began = 0.0
        while len(rounds) <= LEAST_ROUNDS or (
            len(rounds) < ROUNDS and time.monotonic() - began < PAIR_SECONDS / PLACES
        ):
            turns: dict[int, Samples] = {}
            for place in (0, 1) if self._random.random() < 0.5 else (1, 0):
                turns[place] = self._turn(place, handles[place], calls[place])
            if not rounds:
                began = time.monotonic()  # the first round finds the lengths of the blocks, which takes its own time
            rounds.append((turns[0], turns[1]))
        for place in (0, 1):
            self._ask(place, "release", {"handle": handles[place]})
        return rounds

    def memory(self, base: Trial, new: Trial) -> list[Memory | None]:
        """Return what one call takes on each side."""
        found = []
        few = Settings(warmup=1, runs=1, latency=False, memory=True)
        for place, trial in ((0, base), (1, new)):
            handle = {"handle": self._prepare(place, trial)}
            measured = self._ask(place, "measure", {**handle, "settings": few.to_json()})
            self._ask(place, "release", handle)
            found.append(None if measured["memory"] is None else Memory.from_json(measured["memory"]))
        return found

    def _prepare(self, place: int, trial: Trial, *, offset: bool = False) -> int:
        ahead = self._random.randrange(OFFSET_BYTES) if offset else 0
        asked = {"trial": trial.to_json(), "seed": self._settings.seed, "offset": ahead}
        asked["check"] = self._settings.check
        return int(self._ask(place, "prepare", asked)["handle"])

    def _turn(self, place: int, handle: int, calls: int | None) -> Samples:
        asked = {"handle": handle, "samples": TURN_SAMPLES, "calls": calls}
        return Samples.from_json(self._ask(place, "turn", asked))

    def _ask(self, place: int, verb: str, arguments: dict[str, Any]) -> Any:
        """Wake a child, ask it, and stop it again."""
        self.asked = place
        worker = self._sides[place]
        worker.resume()
        try:
            return worker.ask(verb, arguments, self._settings.timeout)
        finally:
            if worker.alive:
                worker.pause()

    def close(self) -> None:
        """End both children."""
        for worker in self._workers:
            if worker.alive:
                worker.resume()
                worker.close()


def pair_value(places: Sequence[Sequence[Round]], *, cpu_may_stand_in: bool = False) -> PairValue:
    """Return what a pair says: of each round as many clean samples of one side as of the other.

    A round is over in milliseconds, so both of its turns meet the host in the same mood; the median over the rounds of
    a place leaves out those in which the mood changed, and the mean over places evens out what the place in memory
    does. With minima over the whole pair, identical code spread several times as far.

    A call of one thread that takes over 2 ms hardly escapes a busy neighbour: without enough clean rounds, CPU time of
    all samples stands in.
    """
    clean = [[tuple(turn.seconds() for turn in one) for one in rounds] for rounds in places]
    found = _value(clean, "wall")
    if found.log_ratio is None and cpu_may_stand_in and _long(places):
        return _value(
            [[tuple(turn.cpu_seconds(clean_only=False) for turn in one) for one in rounds] for rounds in places], "cpu"
        )
    return found


def _long(places: Sequence[Sequence[Round]]) -> bool:
    """Whether each call of both sides takes long."""
    turns = [turn for rounds in places for one in rounds for turn in one]
    return all(median(turn.seconds(clean_only=False)) > LONG_CALL for turn in turns)


def _value(places: Sequence[Sequence[Sequence[list[float]]]], clock: str) -> PairValue:
    """Return the value of rounds of times, base and new, in seconds."""
    kept: tuple[list[float], list[float]] = ([], [])
    medians, count = [], 0
    for rounds in places:
        ratios = [ratio for one in rounds if (ratio := _ratio(one, kept)) is not None]
        medians += [median(ratios)] if ratios else []
        count += len(ratios)
    if count < LEAST_ROUNDS:
        return PairValue(None, None, None, count, f"{count} rounds with undisturbed samples of both sides")
    base_values, new_values = (_values(sorted(times)) for times in kept)
    return PairValue(fmean(medians), base_values, new_values, count, clock=clock)


def _ratio(one: Sequence[list[float]], kept: tuple[list[float], list[float]]) -> float | None:
    """Return the log-ratio of a round by the minima of its turns, and keep the times that it is from."""
    count = min(map(len, one))
    if count == 0 or min(map(min, one)) <= 0:
        return None
    for side, times in zip(kept, one):
        side.extend(times[:count])
    return math.log(min(one[1][:count]) / min(one[0][:count]))


def shared_cpus(base: Side, new: Side) -> tuple[int, ...] | None:
    """Return the CPUs that both sides stay on: as many as the more threaded one has threads, the last ones there are.

    On CPUs of their own, two identical children met different neighbours: their log-ratios spread by up to 22 %. The
    first CPUs serve more interrupts than the last.
    """
    if not hasattr(os, "sched_getaffinity"):
        return None
    usable = sorted(os.sched_getaffinity(0))
    return tuple(usable[-max(base.threads, new.threads) :])


def _values(ordered: list[float]) -> dict[str, float]:
    return {"min": ordered[0], "median": quantile(ordered, 0.5), "p90": quantile(ordered, 0.9)}
