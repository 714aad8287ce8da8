"""The Python API that joins the stages: selection, plan, children, journal, records.

What a run must survive decides its shape. Each outcome is in the journal, on the disk, before the next trial begins;
records are made from outcomes at the end, or when the run is interrupted; the document replaces the journal only when
it stands whole.
"""

from __future__ import annotations

import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Protocol

from opperf.domain.environment import CURRENT, EnvironmentSpec
from opperf.domain.errors import EnvironmentFailure, InputError, OpperfError
from opperf.domain.files.destination import is_regular, told
from opperf.domain.floor import Floor, floor_key
from opperf.domain.outcome import Outcome
from opperf.domain.peaks import Peaks, Rate
from opperf.domain.plan import Plan, Settings, Side, Trial
from opperf.domain.reason import Reason
from opperf.domain.record import Record, Run
from opperf.parent.analysis.roofline import doubts, limit_of
from opperf.parent.analysis.shares import with_shares
from opperf.parent.analysis.summary import record
from opperf.parent.planning.cases import Asked
from opperf.parent.planning.expand import expand
from opperf.parent.planning.selection import Selection
from opperf.parent.planning.sides import frameworks, sides
from opperf.parent.planning.suites import unmeasured
from opperf.parent.store.journal import JournalWriter, journal_of, read_journal
from opperf.parent.store.known import FLOORS, RATES
from opperf.parent.store.run_file import read_run
from opperf.parent.workers import machine
from opperf.parent.workers.gpus import has_gpu
from opperf.parent.workers.interpreters import importable, settled
from opperf.parent.workers.package import cache_folder
from opperf.parent.workers.pool import Pool
from opperf.parent.workers.process import OperatorFailure


class Progress(Protocol):
    """Who is told how a run goes. Nothing is told while a sample is taken."""

    def note(self, text: str) -> None:
        """Take one line of news."""

    def plan(self, framework: str, count: int, total: int) -> None:
        """Take how many of a framework's own operators were asked for their cases; none where their list is awaited."""

    def begin(self, total: int) -> None:
        """Take the number of measurements to come."""

    def next(self, trial: Trial) -> None:
        """Take the trial that is measured now."""

    def done(self, outcome: Outcome) -> None:
        """Take what became of it."""


class Silent:
    """Tells nobody."""

    def note(self, text: str) -> None:
        """Drop it."""

    def plan(self, framework: str, count: int, total: int) -> None:
        """Drop it."""

    def begin(self, total: int) -> None:
        """Drop it."""

    def next(self, trial: Trial) -> None:
        """Drop it."""

    def done(self, outcome: Outcome) -> None:
        """Drop it."""


@dataclass
class Found:
    """What an earlier command measured already: outcomes by trial, and records that are whole."""

    run: Run | None = None
    outcomes: dict[tuple[object, ...], list[Outcome]] = field(default_factory=dict)
    records: dict[tuple[object, ...], Record] = field(default_factory=dict)


@dataclass(frozen=True)
class Options:
    """What a command asks of a run beside its selection and settings."""

    output: Path | None = None
    resume: Path | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    keep_samples: bool = True
    command: Sequence[str] = ()

    @property
    def journal(self) -> Path | None:
        """Where outcomes are kept while the run goes on; nowhere beside a device or a pipe."""
        if self.output is None:
            return None
        with told(self.output):
            return journal_of(self.output) if is_regular(self.output) else None


class Interrupted(Exception):
    """A run that was stopped: from outside, or by what nobody foresaw; `run` holds every finished record."""

    def __init__(self, run: Run, cause: BaseException) -> None:
        super().__init__(str(cause))
        self.run = run
        self.cause = cause


class Session:
    """One run, from its selection to its records. Use it as a context: its children end with it."""

    def __init__(self, selection: Selection, settings: Settings, progress: Progress | None = None) -> None:
        self._selection = selection
        self._settings = settings
        self._progress: Progress = progress or Silent()
        self._pool = Pool(settings, self._progress.note, selection.plugins)
        self._floors: Mapping[tuple[object, ...], Floor] = {}
        self._rates: Sequence[Rate] = ()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *trouble: Any) -> None:
        self._pool.__exit__(*trouble)

    def plan(self) -> Plan:
        """Return the trials; raises `InputError` for what cannot be understood."""
        chosen = self.sides()
        plan = self.expanded(self._selection, chosen)
        for note in unmeasured(self._selection, {side.framework for side in chosen}):
            self._progress.note(f"note: {note}")
        return plan

    def sides(self) -> tuple[Side, ...]:
        """Return where the selection is measured; raises `InputError` for what cannot be understood."""
        names = frameworks(self._selection, importable())
        named = CURRENT in map(EnvironmentSpec.parse, self._selection.environments)
        chosen = [settled_side(side, named=named) for side in sides(self._selection, names)]
        if not self._selection.devices and has_gpu():
            chosen = [replace(side, device=self._best_device(side)) for side in chosen]
        return tuple(dict.fromkeys(chosen))

    def expanded(self, selection: Selection, sides: Sequence[Side]) -> Plan:
        """Return the trials of any selection on some of the session's sides; raises `InputError`."""
        return expand(selection, self._settings, sides, self._pool, progress=self._progress.plan)

    @property
    def asked(self) -> Asked:
        """The sides' children, for what only a framework knows."""
        return self._pool

    def _best_device(self, side: Side) -> str:
        try:
            return self._pool.worker(side).devices[0]
        except (OpperfError, OperatorFailure):  # its trials will fail, each with the reason
            return side.device

    def run(self, plan: Plan, options: Options) -> Run:
        """Measure a plan; raises `Interrupted` with what is finished when it is stopped."""
        found = _found(options.resume, plan.settings)
        self._floors, self._rates = stored_floors(), stored_rates()
        run = _header(plan, options, found)
        journal = None if options.journal is None else self._journal(options.resume, options.journal, run, found)
        try:
            self._measure(plan, found, journal)
        except BaseException as stop:
            raise Interrupted(self._finish(run, plan, found, options), stop) from stop
        finally:
            if journal is not None:
                journal.close()
        return self._finish(run, plan, found, options)

    def _journal(self, resume: Path | None, path: Path, run: Run, found: Found) -> JournalWriter:
        """Open the journal, with what was found in it already; one that nobody asked to resume is set aside."""
        if path.exists() and (resume is None or journal_of(resume).resolve() != path.resolve()):
            aside = path.with_name(f"{path.name}.{time.time_ns()}")
            path.rename(aside)
            self._progress.note(f"an earlier run did not finish; its journal is kept as {aside.name}")
        outcomes = [outcome for several in found.outcomes.values() for outcome in several]
        return JournalWriter(path, run, outcomes, found.records.values())

    def _measure(self, plan: Plan, found: Found, journal: JournalWriter | None) -> None:
        """Measure what is missing: all trials in one process of each side, then all in the next."""
        ahead = [
            (trial, process)
            for process in range(plan.settings.processes)
            for trial in plan.trials
            if trial.key not in found.records
            and not any(known.process == process for known in found.outcomes.get(trial.key, ()))
        ]
        self._progress.begin(len(ahead))
        started = time.monotonic()
        current = 0
        for trial, process in ahead:
            if process != current:
                self._pool.close()
                current = process
            self._progress.next(trial)
            outcome = self._outcome(trial, process, found, time.monotonic() - started)
            found.outcomes.setdefault(trial.key, []).append(outcome)
            if journal is not None:
                journal.add(outcome)
            self._progress.done(outcome)
        self._pool.close()

    def _outcome(self, trial: Trial, process: int, found: Found, elapsed: float) -> Outcome:
        """Measure one trial, unless its fate is known or the command's time is up."""
        earlier = found.outcomes.get(trial.key, [])
        bad = next((outcome for outcome in earlier if outcome.status != "ok"), None)
        if bad is not None:
            return replace(bad, process=process)
        budget = self._settings.budget
        if budget is not None and elapsed > budget:
            spent = f"the budget of {budget:g} s was spent before it"
            reason = Reason("budget", spent, "give more `--budget`, or `--resume`")
            return Outcome(trial, process, "skipped", reason=reason)
        return self._pool.measure(trial, process)

    def _finish(self, run: Run, plan: Plan, found: Found, options: Options) -> Run:
        """Return the run with a record for each trial that has an outcome; of the plan first, then what was there."""
        keys = dict.fromkeys([*(trial.key for trial in plan.trials), *found.records, *found.outcomes])
        records = []
        for key in keys:
            if key in found.records:
                records.append(found.records[key])
            elif key in found.outcomes:
                outcomes = sorted(found.outcomes[key], key=lambda outcome: outcome.process)
                made = record(outcomes[0].trial, outcomes, plan.settings, keep_samples=options.keep_samples)
                records.append(self._beside(made))
        suite = self._selection.whole_suite
        if suite is not None:
            records = with_shares(records)
        environment = {
            "machine": run.environment.get("machine"),
            **({} if suite is None else {"suite": suite.header()}),
            "frameworks": [
                {"framework": facts.framework, "environment": facts.environment, "python": facts.python, **facts.said}
                for facts in self._pool.facts.values()
            ]
            or run.environment.get("frameworks", []),
        }
        return replace(run, records=tuple(records), environment=environment)

    def _beside(self, made: Record) -> Record:
        """Return the record with what is known of this machine: its noise floor, and how fast it can be."""
        if made.time is None:
            return made
        floor = self._floors.get(floor_key(made.trial))
        known: dict[str, Any] = {} if floor is None else {"noise_floor": floor.between}
        side = made.trial.side
        limit = limit_of(made, Peaks.of(self._rates, side.device, side.threads))
        if limit is not None:
            known["roofline"] = vars(limit)
            made = replace(made, warnings=(*made.warnings, *doubts(made, limit)))
        return replace(made, facts={**made.facts, **known}) if known else made


def stored_floors() -> dict[tuple[object, ...], Floor]:
    """Return the noise floors that `opperf noise` measured on this machine."""
    return FLOORS.read(FLOORS.path(cache_folder(), machine.facts()))


def stored_rates() -> tuple[Rate, ...]:
    """Return how fast copies and products ran that `opperf doctor --peaks` measured on this machine."""
    return tuple(RATES.read(RATES.path(cache_folder(), machine.facts())).values())


def settled_side(side: Side, *, named: bool = False) -> Side:
    """Return the side with the environment that is really used: a preset where the framework does not import here.

    Where `current` was `named` by the user, no other is: raises `EnvironmentFailure`.
    """
    spec = EnvironmentSpec.parse(side.environment)
    chosen = settled(spec, side.framework)
    if named and spec == CURRENT != chosen:
        raise EnvironmentFailure(
            f"`--environment current` is `{sys.executable}`, and {side.framework} does not import there",
            hint=f"leave `--environment` out, and opperf builds `{side.framework}`; or name a Python that has it: "
            "`--environment python=PATH`",
            slug="framework_missing",
        )
    return replace(side, environment=chosen.text)


def _header(plan: Plan, options: Options, found: Found) -> Run:
    """Return the run without its records; a run that is resumed keeps its id and its start."""
    earlier = found.run
    return Run(
        id=earlier.id if earlier else uuid.uuid4().hex[:12],
        started=earlier.started if earlier else datetime.now(timezone.utc).isoformat(timespec="seconds"),
        command=tuple(options.command or sys.argv),
        settings=plan.settings,
        labels={**(earlier.labels if earlier else {}), **options.labels},
        environment={"machine": machine.facts()},
    )


def _found(resume: Path | None, settings: Settings) -> Found:
    """Read what a result file or its journal holds; raises `InputError` when it was measured by other settings.

    A journal lies there only when the run has not finished, and then it holds all that the file can: the file may be
    of an earlier run, or in a format that cannot be read again.
    """
    if resume is None:
        return Found()
    found = Found()
    journal = journal_of(resume)
    if not resume.exists() and not journal.exists():
        raise InputError(f"`{resume}` and its journal do not exist", hint="leave `--resume` out to begin a run")
    if not journal.exists():
        found.run = read_run(resume)
        found.records = {known.trial.key: known for known in found.run.records if not _is_open(known, settings)}
        _same_settings(found.run.settings, settings, resume)
        return found
    kept = read_journal(journal)
    _same_settings(kept.run.settings, settings, journal)
    found.run = kept.run
    found.records = {known.trial.key: known for known in kept.records}
    for outcome in kept.outcomes:
        if not (outcome.reason is not None and outcome.reason.slug == "budget"):
            found.outcomes.setdefault(outcome.trial.key, []).append(outcome)
            found.records.pop(outcome.trial.key, None)  # outcomes say more than the record made from them
    return found


def _is_open(known: Record, settings: Settings) -> bool:
    """Whether a record stands for a trial that was not reached, or not in every process, and is to be measured now."""
    if known.reason is not None:
        return known.reason.slug in ("budget", "not_run")
    return known.time is not None and known.time.processes < settings.processes


def _same_settings(then: Settings, now: Settings, path: Path) -> None:
    differing = then.differences(now)
    if differing:
        told = ", ".join(f"{name} was {getattr(then, name)} and is {getattr(now, name)}" for name in differing)
        raise InputError(
            f"{path}: measured with other settings: {told}",
            hint="resume with the same settings, or write to another file",
            slug="other_settings",
        )


def read_results(path: Path) -> Run:
    """Return what a result file holds, or what the journal of a run that ended early amounts to."""
    if path.suffix != ".journal":
        return read_run(path)
    kept = read_journal(path)
    grouped: dict[tuple[object, ...], list[Outcome]] = {}
    for outcome in kept.outcomes:
        grouped.setdefault(outcome.trial.key, []).append(outcome)
    made = tuple(record(several[0].trial, several, kept.run.settings) for several in grouped.values())
    return replace(kept.run, records=(*kept.records, *made))
