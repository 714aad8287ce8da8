"""Measure how far identical code moves: compare every operator with itself, several times.

And how often comparisons are wrong: each is also compared with itself where the truth is known and not 1.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from opperf.domain.code import own_metric
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.plan import Settings, Trial, check_most
from opperf.domain.units import plural
from opperf.parent.analysis.verdict import Rule
from opperf.parent.commands.deciding import rule_of
from opperf.parent.documents.floor import NoiseRun, Unknown
from opperf.parent.measuring.calibration import stored_floors
from opperf.parent.measuring.comparing import Comparing
from opperf.parent.measuring.contest import header, start
from opperf.parent.measuring.floors import Kind, Round, floor, suites
from opperf.parent.measuring.progress import Progress, Stoppable, planning
from opperf.parent.measuring.session import Session
from opperf.parent.planning import request as requests
from opperf.parent.planning.request import Request
from opperf.parent.planning.selection import Selection
from opperf.parent.sources.options import Judging, Studying
from opperf.parent.store.machine_file import FLOORS
from opperf.parent.workers import machine
from opperf.parent.workers.package import cache_folder

#: How often identical code is compared, and the share of extra calls, where the user does not say.
REPEATS, EFFECT = 3, 0.05
#: How long error rates are measured unless the user says otherwise, in seconds, and how often at most.
MINUTES, MOST_REPEATS = 300.0, 20
#: A round that begins when the budget is spent still has one, in seconds: it ends after its first pair.
LEAST_BUDGET = 0.001


@dataclass(frozen=True)
class Study:
    """What is compared: identical code always, the same with a share of extra calls where there is an `effect`.

    With `layout`, identical code in another layout of memory. Each so often as `repeats` says; None: as often as the
    time allows.
    """

    repeats: int | None = 3
    effect: float | None = None
    layout: bool = False

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of comparison."""
        extra = () if self.effect is None else (Kind(self.effect),)
        return (Kind(), *extra, *((Kind(elsewhere=True),) if self.layout else ()))


@dataclass(frozen=True)
class Order:
    """What is compared, when that is decided, and what to keep with it."""

    study: Study = field(default_factory=Study)
    judging: Judging = field(default_factory=Judging)
    labels: Mapping[str, str] = field(default_factory=dict)
    command: Sequence[str] = ()


def study(options: Studying) -> Study:
    """Return the study that options ask for; raises `InputError` for those that mean nothing."""
    if options.effect is not None and not options.error_rate:
        raise InputError("`--effect` needs `--error-rate`", hint="add `--error-rate`")
    share = EFFECT if options.effect is None else options.effect
    if not 0 < share < 1:
        raise InputError(f"`--effect` is {share:g}, expected more than 0% and less than 100%")
    repeats = REPEATS if options.repeats is None and not options.error_rate else options.repeats
    return Study(repeats, share if options.error_rate else None, options.layout)


def noise(
    operators: Sequence[str], request: Request, order: Order, progress: Progress
) -> tuple[NoiseRun, BaseException | None]:
    """Return the floors of the selection, and the exception that stopped the study or None.

    Raises `InputError` for bad input, and where floors cannot be kept.
    """
    FLOORS.prove(FLOORS.path(cache_folder(), machine.facts()))
    rule, study = rule_of(order.judging), order.study
    if study.repeats is not None and study.repeats < 1:
        raise InputError(f"`--repeats` is {study.repeats}, expected a whole number >= 1")
    check_most("--repeats", study.repeats or 0, "pairs")
    selection = requests.selection(operators, request, note=progress.note)
    rounds = Noise(requests.settings(request), rule, study, progress)
    with planning(progress):
        trials = rounds.trials(selection)
    if study.effect is not None:
        check_effect(study.effect, rule, trials, progress.note)
    with Stoppable() as measuring:
        rounds.run(trials)
    return rounds.document(labels=order.labels, command=order.command), measuring.cause


def check_effect(effect: float, rule: Rule, trials: Sequence[Trial], note: Callable[[str], None]) -> None:
    """Say so where an effect need not be detected; raises `InputError` where it cannot be made."""
    device = next((trial.side.device for trial in trials if trial.side.device != "cpu"), None)
    if device is not None:
        raise InputError(
            f"`--error-rate` makes extra calls on a CPU, but a side is on `{device}`", hint="measure on `--device cpu`"
        )
    if effect <= rule.tolerance:
        note(
            f"note: {effect:.3g} of extra calls is within the tolerance of {rule.tolerance:.3g}: nothing promises that "
            "it is called slower"
        )


class Noise:
    """A study of identical code: `run` it, then read `document`, also after it was stopped."""

    def __init__(self, settings: Settings, rule: Rule, study: Study, progress: Progress) -> None:
        self._settings = settings
        self._rule = rule
        self._study = study
        self._progress = progress
        self._plugins: Sequence[Path] = ()
        self._rounds: list[Round] = []
        self._facts: dict[str, object] = {}
        self._start = start()
        self._random = random.Random(settings.seed)

    def trials(self, selection: Selection) -> Sequence[Trial]:
        """Return the trials of a selection, forward where it names no direction; raises `InputError`."""
        usual = () if selection.benchmarks_alone else ("forward",)
        directions, self._plugins = selection.directions or usual, selection.plugins
        with Session(replace(selection, directions=directions), self._settings, self._progress) as session:
            trials = session.plan().trials
        timed = [one for one in trials if own_metric(one.side.implementation, one.case.operator) is None]
        if not timed:
            raise InputError("nothing selected is timed, and a floor is how far times of identical code lie apart")
        if len(timed) < len(trials):
            left_out = plural(len(trials) - len(timed), "benchmark")
            self._progress.note(f"note: {left_out} left out that tell a number by themselves: a floor is of times")
        return timed

    def run(self, trials: Sequence[Trial]) -> None:
        """Compare each trial with itself, once for each kind in each repetition; the budget is shared out evenly.

        What is compared first is drawn: a machine that gets busier must not favour one kind.
        """
        kinds, repeats = self._study.kinds, self._study.repeats
        clock = Clock(self._settings.budget, len(kinds), repeats)
        while clock.has_time():
            for kind in self._random.sample(kinds, len(kinds)):
                self._progress.note(f"round {clock.rounds + 1}{clock.whole}: {kind}{clock.left}")
                self._round(trials, kind, clock)
                clock.count()

    def _round(self, trials: Sequence[Trial], kind: Kind, clock: Clock) -> None:
        settings = replace(self._settings, budget=clock.share())
        # Identical code is compared with itself: only the user's own may be wrong in some calls.
        seeded = replace(settings, seed=settings.seed + clock.rounds).checking_own(trials)
        # What comparisons here would say they say by the floors that they know.
        floors = {} if self._study.effect is None else stored_floors()
        comparing = Comparing(seeded, self._rule, self._progress.note, floors=floors, plugins=self._plugins)
        comparing.follow(self._progress)
        contests = [comparing.contest(*kind.contest(trial, clock.repeat), trial) for trial in trials]
        self._rounds.append(Round(kind, tuple(contests)))
        try:
            comparing.run(contests)
        finally:
            self._facts = comparing.facts
            for warning in dict.fromkeys(one for contest in contests for one in contest.warnings):
                self._progress.note(f"warning: {warning.message}")

    def document(self, *, labels: Mapping[str, str], command: Sequence[str]) -> NoiseRun:
        """Return the floors that were measured, under the header of a run."""
        floors, unknown = [], []
        trials = self._rounds[0].contests if self._rounds else ()
        for place, contest in enumerate(trials):
            measured = floor(self._rounds, place, self._start.moment)
            if measured is None:
                several = (one.contests[place].failure for one in self._rounds)
                unknown.append(Unknown(contest.key, next((failure for failure in several if failure), None)))
            else:
                floors.append(measured)
        run = header(self._settings, self._start, self._facts, labels=labels, command=command)
        whole = None if self._study.effect is None else suites(self._rounds)
        return NoiseRun(run, tuple(floors), tuple(unknown), self._rule.tolerance, whole)


class Clock:
    """How long a study goes on: for its repetitions, within its budget.

    Without a number of them, as long as another one fits into the budget, or into some minutes; one is made in any
    case, and no more than `MOST_REPEATS`.
    """

    def __init__(self, budget: float | None, kinds: int, repeats: int | None) -> None:
        self._budget, self._kinds, self._repeats = budget, kinds, repeats
        self._began = time.monotonic()
        self.rounds = 0

    @property
    def repeat(self) -> int:
        """The number of repetitions that are over."""
        return self.rounds // self._kinds

    @property
    def _elapsed(self) -> float:
        return time.monotonic() - self._began

    def has_time(self) -> bool:
        """Whether another repetition is to be made."""
        if self._repeats is not None:
            return self.repeat < self._repeats
        limit = MINUTES if self._budget is None else self._budget
        return not self.repeat or (
            self.repeat < MOST_REPEATS and self._elapsed * (self.repeat + 1) / self.repeat <= limit
        )

    def share(self) -> float | None:
        """Return the budget of the next round: what is left, shared out among the rounds that are sure to come."""
        if self._budget is None:
            return None
        sure = self._kinds * (self._repeats or self.repeat + 1) - self.rounds
        return max(LEAST_BUDGET, (self._budget - self._elapsed) / sure)

    def count(self) -> None:
        """Count a round that is over."""
        self.rounds += 1

    @property
    def whole(self) -> str:
        """How many rounds there are in all, where that is sure."""
        return "" if self._repeats is None else f" of {self._kinds * self._repeats}"

    @property
    def left(self) -> str:
        """How long the rounds to come take, by those that are over."""
        if not self.rounds:
            return ""
        if self._repeats is None:
            return f"; {self._elapsed:.0f} s so far, up to {MINUTES if self._budget is None else self._budget:.0f} s"
        seconds = self._elapsed / self.rounds * (self._kinds * self._repeats - self.rounds)
        return f"; about {seconds:.0f} s to go"


def store(document: NoiseRun, note: Callable[[str], None]) -> None:
    """Keep the floors for the comparisons to come on this machine."""
    if not document.floors:
        return
    path = FLOORS.path(cache_folder(), machine.facts())
    FLOORS.add(path, document.floors)
    note(f"{plural(len(document.floors), 'noise floor')} saved in {path}")
