"""Measure how far identical code moves: compare every operator with itself, several times."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import stdev

from opperf.domain.comparison import PairValue
from opperf.domain.errors import InputError
from opperf.domain.floor import Floor, NoiseRun
from opperf.domain.plan import Settings, Trial, check_most
from opperf.domain.stats.order import median
from opperf.domain.stats.significance import PairedTest
from opperf.parent import request as requests
from opperf.parent.analysis.verdict import LEAST_PAIRS, Rule
from opperf.parent.contest import Contest, header, start
from opperf.parent.crew import facts_together
from opperf.parent.planning.selection import Selection
from opperf.parent.progress import Progress, planning
from opperf.parent.request import Request
from opperf.parent.session import Session
from opperf.parent.stages import Comparing
from opperf.parent.store.machine_file import FLOORS
from opperf.parent.workers import machine
from opperf.parent.workers.package import cache_folder


def noise(
    operators: Sequence[str],
    request: Request,
    progress: Progress,
    *,
    repeats: int = 3,
    pairs: int = 5,
    tolerance: float | str = 0.02,
    labels: Mapping[str, str],
    command: Sequence[str] = (),
) -> tuple[NoiseRun, BaseException | None]:
    """Return the floors of the selection, and the exception that stopped the study or None.

    Raises `InputError` for bad input, and where floors cannot be kept.
    """
    FLOORS.prove(FLOORS.path(cache_folder(), machine.facts()))
    for name, value, least in (("--pairs", pairs, 3), ("--repeats", repeats, 1)):
        if value < least:
            raise InputError(f"`{name}` is {value}, expected a whole number >= {least}")
        check_most(name, value, "pairs")
    selection = requests.selection(operators, request, note=progress.note)
    study = Noise(requests.settings(request), requests.rule(tolerance, pairs), progress)
    with planning(progress):
        trials = study.trials(selection)
    cause: BaseException | None = None
    try:
        study.run(trials, repeats)
    except InputError:
        raise
    except BaseException as stop:  # bugs of opperf included: hours of measuring may be at stake
        cause = stop
    return study.document(labels=labels, command=command), cause


class Noise:
    """A study of identical code: `run` it, then read `document`, also after it was stopped."""

    def __init__(self, settings: Settings, rule: Rule, progress: Progress) -> None:
        self._settings = settings
        self._rule = rule
        self._progress = progress
        self._plugins: Sequence[Path] = ()
        self._rounds: list[list[Contest]] = []
        self._facts: dict[str, object] = {}
        self._start = start()

    def trials(self, selection: Selection) -> Sequence[Trial]:
        """Return what a selection means, forward where it names no direction; raises `InputError`."""
        directions, self._plugins = selection.directions or ("forward",), selection.plugins
        with Session(replace(selection, directions=directions), self._settings, self._progress) as session:
            return session.plan().trials

    def run(self, trials: Sequence[Trial], repeats: int) -> None:
        """Compare each trial with itself `repeats` times; the budget is shared out evenly."""
        budget = self._settings.budget
        settings = replace(self._settings, budget=None if budget is None else budget / repeats)
        for repeat in range(repeats):
            self._progress.note(f"round {repeat + 1} of {repeats}")
            # Identical code is compared with itself: only the user's own may be wrong in some calls.
            seeded = replace(settings, seed=settings.seed + repeat).checking_own(trials)
            comparing = Comparing(seeded, self._rule, self._progress.note, plugins=self._plugins)
            contests = [Contest(trial, trial, trial) for trial in trials]
            self._rounds.append(contests)
            try:
                comparing.run(contests)
            finally:
                self._facts = comparing.facts
                for warning in dict.fromkeys(one for contest in contests for one in contest.warnings):
                    self._progress.note(f"warning: {warning.message}")

    def document(self, *, labels: Mapping[str, str], command: Sequence[str]) -> NoiseRun:
        """Return what was found."""
        floors, unknown = [], []
        for several in zip(*self._rounds):
            floor = _floor(several, self._start.moment)
            if floor is None:
                unknown.append((several[0].key, next((one.failure for one in several if one.failure), None)))
            else:
                floors.append(floor)
        run = header(self._settings, self._start, self._facts, labels=labels, command=command)
        return NoiseRun(run, tuple(floors), tuple(unknown), self._rule.tolerance)


def _floor(several: Sequence[Contest], moment: str) -> Floor | None:
    """Return the floor that one trial's rounds show together."""
    contests = [one for one in several if one.failure is None and one.verdict is not None and one.verdict.interval]
    words = [one.verdict.verdict for one in contests if one.verdict is not None]
    return floor_of(
        several[0].key,
        [pair for one in several for pair in (*one.stage1, *one.stage2)],
        alarms=sum(word in ("slower", "faster") for word in words),
        comparisons=len(words),
        moment=moment,
        facts=facts_together([one.facts for one in several]),
    )


def store(document: NoiseRun, note: Callable[[str], None]) -> None:
    """Keep the floors for the comparisons to come on this machine."""
    if not document.floors:
        return
    path = FLOORS.path(cache_folder(), machine.facts())
    FLOORS.add(path, document.floors)
    note(f"{len(document.floors)} noise floor(s) saved in {path}")


def floor_of(
    trial: Trial,
    pairs: Sequence[PairValue],
    *,
    alarms: int,
    comparisons: int,
    moment: str,
    facts: Mapping[str, object] | None = None,
) -> Floor | None:
    """Return the floor that pairs of identical code show, or None when too few of them said anything."""
    values = [pair for pair in pairs if pair.log_ratio is not None and pair.base is not None and pair.new is not None]
    ratios = [pair.log_ratio for pair in values if pair.log_ratio is not None]
    if len(ratios) < LEAST_PAIRS:
        return None
    minima = [side["min"] for pair in values for side in (pair.base, pair.new) if side is not None]
    test = PairedTest.of(ratios)
    return Floor(
        trial=trial,
        time=median(minima),
        pairs=len(ratios),
        spread=stdev(ratios),
        moved=max(map(abs, test.interval())),
        between=math.log(max(minima) / min(minima)),
        alarms=alarms,
        comparisons=comparisons,
        measured=moment,
        facts=facts or {},
    )
