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
from typing import Any

from opperf.comparison import PairValue
from opperf.measurement import Memory, Samples
from opperf.plan import Settings, Side, Trial
from opperf.stats.order import median, quantile
from opperf.workers.process import Worker
from opperf.workers.starting import start

#: Rounds of a pair for each operator, and samples of each turn: many short rounds, not few long ones.
ROUNDS, TURN_SAMPLES = 30, 2
#: Rounds are fewer where they would take longer than this, in seconds, but never fewer than a median needs.
PAIR_SECONDS, LEAST_ROUNDS = 0.6, 5


class Duel:
    """A pair of children. `first` and `second` are the trials' sides, started in random order."""

    def __init__(
        self, base: Side, new: Side, settings: Settings, progress: Callable[[str], None], generator: random.Random
    ) -> None:
        self._settings = settings
        self._random = generator
        self._workers: list[Worker] = []
        try:
            sides = [base, new]
            cpus = settings.cpus or shared_cpus(base, new)
            order = [0, 1] if generator.random() < 0.5 else [1, 0]
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
        handles = [self._prepare(place, trial) for place, trial in ((0, base), (1, new))]
        rounds: list[tuple[Samples, Samples]] = []
        began = 0.0
        while len(rounds) < LEAST_ROUNDS + 1 or (len(rounds) < ROUNDS and time.monotonic() - began < PAIR_SECONDS):
            turns: dict[int, Samples] = {}
            for place in (0, 1) if self._random.random() < 0.5 else (1, 0):
                turns[place] = self._turn(place, handles[place])
            if not rounds:
                began = time.monotonic()  # the first round finds the lengths of the blocks, which takes its own time
            rounds.append((turns[0], turns[1]))
        for place in (0, 1):
            self._ask(place, "release", {"handle": handles[place]})
        return pair_value(rounds)

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

    def _prepare(self, place: int, trial: Trial) -> int:
        prepared = self._ask(place, "prepare", {"trial": trial.to_json(), "seed": self._settings.seed})
        return int(prepared["handle"])

    def _turn(self, place: int, handle: int) -> Samples:
        return Samples.from_json(self._ask(place, "turn", {"handle": handle, "samples": TURN_SAMPLES}))

    def _ask(self, place: int, verb: str, arguments: dict[str, Any]) -> Any:
        """Wake a child, ask it, and stop it again."""
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


def pair_value(rounds: Sequence[tuple[Samples, Samples]]) -> PairValue:
    """Return what a pair says: of each round as many clean samples of one side as of the other.

    A round is over in milliseconds, so both of its turns meet the host in the same mood; the median over rounds leaves
    out those in which the mood changed. With minima over the whole pair, identical code spread several times as far.
    """
    kept: tuple[list[float], list[float]] = ([], [])
    ratios = []
    for base, new in rounds:
        clean = base.seconds(), new.seconds()
        count = min(map(len, clean))
        if count == 0 or min(map(min, clean)) <= 0:
            continue
        for side, times in zip(kept, clean):
            side.extend(times[:count])
        ratios.append(math.log(min(clean[1][:count]) / min(clean[0][:count])))
    if len(ratios) < LEAST_ROUNDS:
        return PairValue(None, None, None, len(ratios), f"{len(ratios)} rounds with undisturbed samples of both sides")
    base_values, new_values = (_values(sorted(times)) for times in kept)
    return PairValue(median(ratios), base_values, new_values, len(ratios))


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
