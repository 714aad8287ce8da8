"""The pairs of a comparison: children are started and contests fought in them, one pair after the other or several.

All contests of the same two sides run in each pair of processes, so that imports are paid once.
"""

from __future__ import annotations

import math
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from opperf.domain.backend import Unsupported
from opperf.domain.device import NO_DEVICE
from opperf.domain.errors import InputError, OpperfError
from opperf.domain.metric import ENERGY, NO_METER
from opperf.domain.plan import Settings, Side
from opperf.domain.rapl import Rapl
from opperf.domain.registry import BUILT_IN
from opperf.parent.analysis.verdict import Rule
from opperf.parent.documents.comparison import PairValue
from opperf.parent.measuring.contest import Contest, sharing, version
from opperf.parent.measuring.job_pair import JobPair
from opperf.parent.measuring.next_pair import NextPair, cpus_beside, importing_cpus
from opperf.parent.measuring.pace import Pace
from opperf.parent.measuring.parallel import Contention, Lane, ParallelRunner, contention_of, facts_together
from opperf.parent.measuring.progress import Progress
from opperf.parent.measuring.shares import FEW_ROUNDS, by_share, is_suite, small
from opperf.parent.workers.claims import claim
from opperf.parent.workers.duel import Duel
from opperf.parent.workers.instructions import CountingDuel
from opperf.parent.workers.pair import Pair
from opperf.parent.workers.process import Worker
from opperf.parent.workers.reference import Reference
from opperf.parent.workers.rounds import Patience

#: A pair whose ratio is known within this share of the tolerance gains little by more rounds.
SHARE_OF_BAND = 0.5


class Pairs(ABC):
    """The pairs of one command; whoever derives from it says by which rule a contest is decided."""

    def __init__(
        self,
        settings: Settings,
        note: Callable[[str], None],
        plugins: Sequence[Path] = (),
        duel: Callable[..., Pair] = Duel,
    ) -> None:
        """Start nothing yet; `plugins` have the user's own operators."""
        self.settings = settings
        self.facts: dict[str, object] = {}
        self._note, self._plugins = note, plugins
        self._duel = partial(duel, plugins=plugins) if plugins else duel
        self._begins_ahead = duel == Duel  # others start in their turn
        self._reference = Reference(settings, note)
        self._random = random.Random(settings.seed)
        self._is_suite = self._by_whole = False
        self._small: set[int] = set()
        self._began = time.monotonic()
        self._contention: Contention | None = None
        self._next = NextPair(self._begin)
        self._pace = Pace(note)

    @abstractmethod
    def _rule_of(self, contest: Contest) -> Rule:
        """Return the rule by which a contest is decided."""

    def follow(self, progress: Progress) -> None:
        """Show how far the pairs are on the bar of a command, where that has one."""
        self._pace.progress = progress

    def _prepare(self, contests: Sequence[Contest]) -> None:
        """Find out where pairs may run, and what kind of contests these are.

        Raises `InputError` where another command measures on the same device.
        """
        if self.settings.jobs != 1:
            threads = max((side.threads for one in contests for side in (one.base.side, one.new.side)), default=1)
            self._contention = contention_of(self.settings, threads, self._note)
            self._pace.jobs = len(self._contention.leases)
        self._pace.contests = contests
        self._is_suite = is_suite(contests)
        trials = [(contest.base, contest.new) for contest in contests]
        if self._begins_ahead:
            cpus = importing_cpus(trials, self.settings, self._note)
            self._next = NextPair(self._begin, cpus, partial(cpus_beside, trials, self.settings))
        sides = {trial.side.process: trial.side for both in trials for trial in both}.values()
        self._check_counter(sides)
        claim(sides, shared=self.settings.share_device, note=self._note)

    def _check_counter(self, sides: Iterable[Side]) -> None:
        """Raise `InputError` where the CPU has no counter of energy; of a GPU, and by a plugin, a child tells that."""
        on_cpu = any(side.device == "cpu" and side.framework in BUILT_IN - {"null"} for side in sides)
        if self.settings.metric == ENERGY and on_cpu:
            try:
                Rapl()
            except Unsupported as error:
                raise self._without_counter(str(error), error.hint) from error

    def _without_counter(self, message: str, hint: str | None) -> InputError:
        return InputError(f"`--metric {self.settings.metric}`: {message}", hint=hint)

    def _close(self) -> None:
        """End what was started ahead, and the reference."""
        self._pace.close()
        self._next.close()
        self._reference.close()

    def _pairs(
        self,
        looks: Sequence[tuple[Contest, int]],
        stage: Callable[[Contest], list[PairValue]],
        *,
        counted: bool = False,
    ) -> None:
        """Measure until each contest has its number of pairs; contests of the same two sides share processes."""
        groups: dict[tuple[object, ...], list[tuple[Contest, int]]] = {}
        for contest, pairs in looks:
            groups.setdefault((contest.base.side.process, contest.new.side.process), []).append((contest, pairs))
        for group in groups.values():
            while not self.spent():
                behind = [one for one, pairs in group if one.failure is None and len(stage(one)) < pairs]
                if not behind:
                    break
                most = max(pairs for _, pairs in group)
                done = stage(behind[0])
                self._pace.begin(behind, len(done) + 1, most, again=done is behind[0].stage2)
                if self._contention is not None and not counted:
                    self._side_by_side(self._contention, behind, stage)
                    continue
                goes_on = not counted and any(one in behind and pairs - len(stage(one)) > 1 for one, pairs in group)
                for contests in [behind] if counted else sharing(behind):
                    self._pair(contests, stage, counted=counted, goes_on=goes_on)

    def _side_by_side(
        self, together: Contention, contests: list[Contest], stage: Callable[[Contest], list[PairValue]]
    ) -> None:
        """Let every contest be fought once, several at a time; a pair stays on the CPUs of its job."""
        jobs = len(together.leases)

        def lane(cpus: tuple[int, ...]) -> Lane[Contest, None]:
            settings = replace(self.settings, cpus=cpus, jobs=jobs)

            def begin(contest: Contest, children: list[Worker]) -> Pair:
                sides = contest.base.side, contest.new.side
                return self._duel(*sides, settings, self._note, self._random, children=children)

            def fight(duel: Pair, contest: Contest, starting: float) -> None:
                self._record_facts(duel, [contest])
                if contest is order[0] or not self.spent():
                    self._measure_pair(duel, contest, stage, starting * jobs / len(contests), reference)

            reference = self._reference.for_job(settings)
            return JobPair(begin, fight, reference, self._refuse)

        order = self._in_turn(contests)
        runner: ParallelRunner[Contest, None] = ParallelRunner(
            together, lane, lambda contest: (contest.base, contest.new)
        )
        with closing(runner.finished(order)) as several:
            for one in several:
                one.work.facts = facts_together([one.work.facts, {"jobs": one.jobs}])

    def _begin(self, base: Side, new: Side, **more: Any) -> Pair:
        return self._duel(base, new, self.settings, self._note, self._random, **more)

    def _pair(
        self,
        contests: list[Contest],
        stage: Callable[[Contest], list[PairValue]],
        *,
        counted: bool = False,
        goes_on: bool = False,
    ) -> None:
        """Start two children and let every contest be fought in them once.

        Those that are `counted` keep their order, as a count depends on what the memory held before. Where it `goes_on`
        with another pair of the same sides, that may start meanwhile.
        """
        base, new = contests[0].base.side, contests[0].new.side
        began = time.monotonic()
        try:
            if counted:
                duel = self._begin_counting(base, new, len(contests[0].counts))
                starting = time.monotonic() - began
            else:
                duel = self._begin_timing(contests, goes_on=goes_on)
                starting = self._next.starting
        except OpperfError as error:
            self._refuse(error)
            for contest in contests:
                contest.failure = str(error).partition("\n")[0]
            return
        starting /= len(contests)
        with closing(duel):
            self._record_facts(duel, contests)
            if goes_on:
                self._next.begin(base, new)
            for contest in contests if counted else self._in_turn(contests):
                self._measure_pair(duel, contest, stage, starting, self._reference)
                # The next pair has fresh children for what is left.
                if (contest.failure is not None and not duel.alive) or self.spent():
                    break

    def _refuse(self, error: OpperfError) -> None:
        """Raise `InputError` where nothing can be compared as it was asked for, such as on a device that is not here.

        What was compared by then is worth more than that word: then it is a failure of these contests alone.
        """
        if any(one.pairs for one in self._pace.contests):
            return
        if isinstance(error, InputError):
            raise error
        if error.slug in NO_DEVICE:
            raise InputError(error.message, hint=error.hint, slug=NO_DEVICE[0]) from error

    def _begin_timing(self, contests: Sequence[Contest], *, goes_on: bool) -> Pair:
        """Return a pair for contests, whose reference starts with it."""
        self._reference.begin(*(trial for contest in contests for trial in (contest.base, contest.new)))
        return self._next.take(contests[0].base.side, contests[0].new.side, goes_on=goes_on)

    def _begin_counting(self, base: Side, new: Side, layout: int) -> Pair:
        return CountingDuel(base, new, self.settings, self._note, layout=layout, plugins=self._plugins)

    def _in_turn(self, contests: Sequence[Contest]) -> list[Contest]:
        """Return contests in the order of a pair: by shares in a suite, else a random one."""
        self._small = small(contests) if self._by_whole else set()
        return by_share(contests) if self._is_suite else self._random.sample(contests, len(contests))

    def _record_facts(self, duel: Pair, contests: Sequence[Contest]) -> None:
        """Keep what the children of a pair say of themselves."""
        self.facts = {"base": duel.facts[0], "new": duel.facts[1]}
        for contest in contests:
            contest.versions = (version(duel.facts[0]), version(duel.facts[1]))

    def _measure_pair(
        self,
        duel: Pair,
        contest: Contest,
        stage: Callable[[Contest], list[PairValue]],
        starting: float,
        reference: Reference,
    ) -> None:
        """Measure a contest once; where rounds differ, for as long as its share of starting the children took."""
        began = time.monotonic()
        self._pace.next(contest)
        rounds, rule = FEW_ROUNDS if id(contest) in self._small else None, self._rule_of(contest)
        width = rule.band * SHARE_OF_BAND if rule.precision is None else math.log1p(rule.precision)
        patience = Patience(max(0.0, min(starting, self._left())), width, rounds, rule.sampling)
        try:
            duel.check(reference, contest.base, contest.new)
            stage(contest).append(duel.compare(contest.base, contest.new, patience))
            base, new = contest.base.side, contest.new.side
            # Memory is counted in another way in another framework or mode.
            alike = (base.framework, base.mode) == (new.framework, new.mode)
            if not contest.memory and alike and contest.metric in ("time", "instructions"):
                contest.memory = duel.memory(contest.base, contest.new)
        except OpperfError as error:
            if error.slug == NO_METER:  # of the machine, so that nothing else can be measured either
                raise self._without_counter(error.message, error.hint) from error
            contest.fail(error, duel.turn)
        contest.seconds += time.monotonic() - began + starting

    def spent(self) -> bool:
        """Whether the command's budget is spent."""
        return self._left() < 0

    def _left(self) -> float:
        """Return the seconds that are left of the command's budget."""
        budget = math.inf if self.settings.budget is None else self.settings.budget
        return budget - (time.monotonic() - self._began)
