"""What points of a space cost: single looks in one process, and turns of two points in a pair of processes.

Every answer is in the ledger, under the case and the question, so that a search that was stopped goes on from there:
with the same seed it asks the same questions again.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Optional, TypeAlias

from opperf.catalog import Operator
from opperf.domain.case import Case
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import OpperfError
from opperf.domain.message.requests import Measure, Prepare, Turn
from opperf.domain.peaks import Peaks
from opperf.domain.plan import TIMED, UNCHECKED, Settings, Trial
from opperf.parent.commands.explore.space import Point, Space
from opperf.parent.store.search_journal import SearchJournal, check_shares, read_rows
from opperf.parent.workers import gpus
from opperf.parent.workers.claims import claim
from opperf.parent.workers.duel import Duel
from opperf.parent.workers.pool import Pool

#: What is looked for, and what a point costs then.
OBJECTIVES: Mapping[str, str] = {
    "cliff": "time, compared with neighbours",
    "memory": "peak memory, compared with neighbours",
    "slower-than": "time, compared with another side",
    "peak-share": "time, compared with the machine's limit",
}
#: A line of the journal: a question, and the answer.
_Entry: TypeAlias = tuple[str, Optional[list[float]]]
#: Samples of one look.
SAMPLES = 5
#: Looks that tell how far the cost of one point moves, and how far each may lie from it.
LOOKS = 3


class Ledger:
    """Answers by their questions, kept in a file beside the results, line by line, where there is one."""

    def __init__(self, path: Path | None, earlier: Path | None, topics: Sequence[str]) -> None:
        """Write to `path`; begin with what `earlier` holds.

        Raises `InputError` for a file that is no ledger, and for one that has an answer to none of these topics.
        """
        rows = () if earlier is None else read_rows(earlier, "explore", _Entry)
        self.answers: dict[str, list[float] | None] = {question: answer for _, (question, answer) in rows}
        shares = not self.answers or any(question.endswith(tuple(topics)) for question in self.answers)
        check_shares(shares, earlier)
        self._file = SearchJournal(path, self.answers.items())

    def ask(self, question: str, measure: Callable[[], list[float] | None]) -> list[float] | None:
        """Return the answer to a question, measured where it is not known."""
        if question not in self.answers:
            self.answers[question] = measure()
            self._file.add((question, self.answers[question]))
        return self.answers[question]


@dataclass(frozen=True)
class Question:
    """What is asked of each case: an objective on a side, beside another side or the machine's limits."""

    trial: Trial
    objective: str = "cliff"
    against: Trial | None = None
    peaks: Peaks | None = None
    definition: Operator | None = None

    @property
    def trials(self) -> list[Trial]:
        """The trial of the side, and of the one beside it."""
        return [self.trial, *([] if self.against is None else [self.against])]

    @property
    def topic(self) -> str:
        """What the questions of a search end with in the ledger."""
        sides = [trial.side.key for trial in self.trials]
        return f" {self.objective} {self.trial.case.operator} {self.trial.direction} {sides}"


class Bench:
    """Measures points for a search. Use it as a context: its children end with it."""

    def __init__(
        self,
        space: Space,
        question: Question,
        settings: Settings,
        note: Callable[[str], None],
        ledger: Ledger,
        *,
        plugins: Sequence[Path] = (),
        until: float = math.inf,
    ) -> None:
        """Start nothing yet; after `until`, on the monotonic clock, all is spent."""
        self._space, self._question = space, question
        self._settings, self._note, self._plugins = settings, note, plugins
        self._ledger, self._began, self._until = ledger, time.monotonic(), until
        self.failure: str | None = None
        self._random = random.Random(settings.seed)
        self._pools = {trial.side.process: Pool(settings, note, plugins) for trial in question.trials}
        self._duel: Duel | None = None

    def __enter__(self) -> Bench:
        sides = [trial.side for trial in self._question.trials]
        gpus.check_devices((side.framework, side.device) for side in sides)
        claim(sides, shared=self._settings.share_device, note=self._note)
        return self

    def __exit__(self, *trouble: object) -> None:
        for pool in self._pools.values():
            pool.__exit__(None, None, None)
        self._end_duel()

    def check_devices(self) -> None:
        """Raise `InputError` where a side does not find its device."""
        for trial in self._question.trials:
            self._pools[trial.side.process].check_devices([trial.side])

    def _end_duel(self) -> None:
        if self._duel is not None:
            self._duel.close()
            self._duel = None

    def spent(self, share: float = 1.0) -> bool:
        """Whether this share of the time is over."""
        return math.isfinite(self._until) and time.monotonic() > self._began + share * (self._until - self._began)

    def accepts(self, case: Case) -> bool:
        """Whether the side measures a case."""
        return self._ask("cost", case, lambda: self._cost(case)) is not None

    def cost(self, point: Point) -> float | None:
        """Return the cost of a point in one look; None where it cannot be measured."""
        case = self._space.case(point)
        answer = None if case is None else self._ask("cost", case, lambda: self._cost(case))
        return None if answer is None else answer[0]

    def excess(self, point: Point, nearby: Point) -> tuple[float, float] | None:
        """Return the interval of the log-ratio of two points' costs, by turns; memory is counted, so it is a number."""
        case, neighbour = self._space.case(point), self._space.case(nearby)
        if case is None or neighbour is None:
            return None
        if self._question.objective == "memory":
            costs = self.cost(point), self.cost(nearby)
            return None if None in costs else (math.log((costs[0] or 1) / (costs[1] or 1)),) * 2
        trial = self._question.trial
        base, new = replace(trial, case=neighbour), replace(trial, case=case)
        return _pair(self._ask(f"turns {neighbour.id}", case, lambda: self._turns(base, new)))

    def level(self, point: Point) -> tuple[float, float] | None:
        """Return the interval of the log of a point's cost: by turns with the other side, or of several looks."""
        case = self._space.case(point)
        if case is None:
            return None
        against = self._question.against
        if against is not None:
            base, new = replace(against, case=case), replace(self._question.trial, case=case)
            return _pair(self._ask("turns", case, lambda: self._turns(base, new)))
        return _pair(self._ask("looks", case, lambda: self._several(case)))

    def _ask(self, what: str, case: Case, measure: Callable[[], list[float] | None]) -> list[float] | None:
        return self._ledger.ask(f"{what} {case.id}{self._question.topic}", measure)

    def _several(self, case: Case) -> list[float] | None:
        costs = [cost[0] for _ in range(LOOKS) if (cost := self._cost(case)) is not None]
        return [math.log(min(costs)), math.log(max(costs))] if len(costs) == LOOKS else None

    def _cost(self, case: Case) -> list[float] | None:
        question = self._question
        if question.objective == "memory":
            return self._look(replace(question.trial, case=case), memory=True)
        mine = self._look(replace(question.trial, case=case))
        if mine is None:
            return None
        if question.against is not None:
            theirs = self._look(replace(question.against, case=case))
            return None if theirs is None else [mine[0] / theirs[0]]
        if question.peaks is not None and question.definition is not None:
            least = self.least_time(case)
            return None if least is None else [mine[0] / least]
        return mine

    def least_time(self, case: Case) -> float | None:
        """Return the least time that a case takes at the machine's limits, in seconds."""
        question = self._question
        tensor = next(case.tensors(), None)
        if question.peaks is None or question.definition is None or tensor is None:
            return None
        flops = question.definition.flop_count(case, question.trial.direction) or 0
        nbytes = question.definition.byte_count(case, question.trial.direction)
        limit = None if nbytes is None else question.peaks.limit(flops=flops, nbytes=nbytes, dtype=tensor.dtype)
        return None if limit is None else limit.seconds

    def fresh(self, case: Case, processes: int) -> list[float]:
        """Return the cost of a case in each of some fresh processes; fewer where one cannot say."""
        costs = []
        for _ in range(processes):
            for pool in self._pools.values():
                pool.close()
            costs += self._cost(case) or []
        return costs

    def _look(self, trial: Trial, *, memory: bool = False) -> list[float] | None:
        """Measure a case once: the least of some samples, or the peak of memory; None where it cannot be measured."""
        settings = self._settings
        try:
            worker = self._pools[trial.side.process].worker(trial.side)
            # Of operators that are not the user's own, a search measures thousands of cases and checks none.
            check = TIMED if settings.check_of(trial.side) == TIMED and not memory else UNCHECKED
            prepare = Prepare(trial, settings.seed, check=check, memory_limit=settings.memory_limit)
            with worker.prepared(prepare, settings.timeout) as preparation:
                if memory:
                    few = Settings(warmup=1, runs=1, latency=False, memory=True)
                    peak = worker.ask(Measure(preparation.handle, few), settings.timeout).quantity("memory_peak")
                    return None if peak is None else [peak.value]
                samples = worker.ask(Turn(preparation.handle, SAMPLES), settings.timeout).samples
        except OpperfError as error:  # a case that fails or crashes is no point of the search
            self.failure = error.message.partition("\n")[0]
            return None
        times = samples.seconds() or samples.seconds(clean_only=False)
        return [min(times)] if times and min(times) > 0 else None

    def _turns(self, base: Trial, new: Trial) -> list[float] | None:
        """Measure two trials by turns in one pair of processes."""
        try:
            if self._duel is None or not self._duel.alive:
                self._end_duel()
                self._duel = Duel(base.side, new.side, self._settings, self._note, self._random, plugins=self._plugins)
            interval = self._duel.interval(base, new)
        except OpperfError:
            return None
        return None if interval is None else [*interval]


def _pair(answer: Sequence[float] | None) -> tuple[float, float] | None:
    return None if answer is None else (answer[0], answer[1])
