"""One run: its selection, plan, children, journal and records.

What a run must survive decides its shape. Each outcome is in the journal, on the disk, before the next trial begins;
records are made from outcomes at the end, or when the run is interrupted; the document replaces the journal only when
it stands whole.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import OpperfError
from opperf.domain.files.destination import explain_errors, is_regular
from opperf.domain.measurement import Outcome
from opperf.domain.node import Node
from opperf.domain.peaks import Peaks, Rate
from opperf.domain.plan import INSTRUCTIONS, Plan, Settings, Side, Trial
from opperf.domain.record import Record, Run
from opperf.parent.analysis.summary import doubts, limit_of, record, with_shares
from opperf.parent.documents.environment import CURRENT, EnvironmentSpec
from opperf.parent.documents.floor import Floor, floor_key
from opperf.parent.measuring.calibration import stored_floors, stored_rates
from opperf.parent.measuring.processes import in_processes, lasts, one_by_one, out_of_time
from opperf.parent.measuring.progress import Progress, Silent
from opperf.parent.planning.benchmarks import settings_notes
from opperf.parent.planning.cases import ChildAnswers
from opperf.parent.planning.expand import expand
from opperf.parent.planning.selection import Selection
from opperf.parent.planning.side_text import frameworks, sides
from opperf.parent.planning.suites import unmeasured
from opperf.parent.planning.values import notes
from opperf.parent.store.documents import Earlier, earlier_work
from opperf.parent.store.journal import JournalWriter, journal_of
from opperf.parent.workers import gpus, machine
from opperf.parent.workers.claims import claim
from opperf.parent.workers.instructions import check
from opperf.parent.workers.interpreters import importable, settled_side
from opperf.parent.workers.passwords import own_command
from opperf.parent.workers.pool import Pool

if TYPE_CHECKING:
    from opperf.parent.measuring.fleet.dispatch import Fleet
    from opperf.parent.measuring.jobs import Jobs


@dataclass(frozen=True)
class Options:
    """The options of a run besides its selection and settings."""

    output: Path | None = None
    resume: Path | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    keep_samples: bool = True
    command: Sequence[str] = ()

    @property
    def journal(self) -> Path | None:
        """Where outcomes are kept during the run; nowhere if the output is a device or a pipe."""
        if self.output is None:
            return None
        with explain_errors(self.output):
            return journal_of(self.output) if is_regular(self.output) else None


class Interrupted(Exception):
    """A run that was stopped, from outside or by an unexpected error; `run` holds every finished record."""

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
        self._elsewhere: Fleet | None = None
        self._jobs: Jobs | None = None
        self._floors: Mapping[tuple[object, ...], Floor] = {}
        self._rates: Sequence[Rate] = ()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *trouble: Any) -> None:
        self._pool.__exit__(*trouble)

    def plan(self) -> Plan:
        """Return the trials; raises `InputError` for bad input."""
        sides = self.sides()
        plan = self.plan_of(self._selection, sides)
        own = (*settings_notes(self._selection, sides), *unmeasured(self._selection, {one.framework for one in sides}))
        for note in (*own, *notes(self._selection.values, (trial.case for trial in plan.trials))):
            self._progress.note(f"note: {note}")
        return plan

    def sides(self) -> tuple[Side, ...]:
        """Return where the selection is measured; raises `InputError` for bad input."""
        names = frameworks(self._selection, importable())
        names_current = CURRENT in map(EnvironmentSpec.parse, self._selection.environments)
        result = [
            settled_side(side, self._selection.libraries, self._selection.packages, explicit=names_current)
            for side in sides(self._selection, names)
        ]
        if self._selection.wants_best_device or (not self._selection.devices and gpus.has_gpu()):
            result = [replace(side, device=self._best_device(side)) for side in result]
        if self._settings.clock == INSTRUCTIONS:
            check(result)
        return tuple(dict.fromkeys(result))

    def plan_of(self, selection: Selection, sides: Sequence[Side]) -> Plan:
        """Return the trials of any selection on some of the session's sides; raises `InputError`."""
        progress = self._progress
        return expand(selection, self._settings, sides, self._pool, progress=progress.plan, note=progress.note)

    @property
    def answers(self) -> ChildAnswers:
        """The sides' children, which answer questions about frameworks."""
        return self._pool

    def _best_device(self, side: Side) -> str:
        try:
            return self._pool.looking_worker(side).devices[0]
        except OpperfError:  # its trials will fail, each with the reason
            return side.device

    def run(self, plan: Plan, options: Options, elsewhere: Fleet | None = None) -> Run:
        """Measure a plan, here or `elsewhere`; raises `Interrupted` with what is finished when it is stopped.

        Raises `InputError` where another command measures on the same device, and where no side finds its own.
        """
        if elsewhere is None:
            claim(_sides(plan), shared=plan.settings.share_device, note=self._progress.note)
        self._elsewhere = elsewhere
        self._jobs = self._jobs_of(plan) if elsewhere is None else None
        if elsewhere is None and self._jobs is None and options.resume is None and plan.trials:
            self._pool.begin(plan.trials[0])
        history = earlier_work(options.resume, plan.settings)
        if elsewhere is None and not (history.outcomes or history.records):
            self.check_devices(plan)
        self._floors, self._rates = stored_floors(), stored_rates()
        run = _header(plan, options, history)
        journal = None if options.journal is None else self._journal(options.resume, options.journal, run, history)
        try:
            if elsewhere is None:
                self._measure(plan, history, journal)
            else:
                self._gather(plan, history, journal, elsewhere)
        except BaseException as stop:
            raise Interrupted(self._finish(run, plan, history, options), stop) from stop
        finally:
            if journal is not None:
                journal.close()
        return self._finish(run, plan, history, options)

    def check_devices(self, plan: Plan) -> None:
        """Raise `InputError` where no side of a plan finds its device: then nothing can be measured."""
        self._pool.check_devices(_sides(plan))

    def _jobs_of(self, plan: Plan) -> Jobs | None:
        """Return the runner that measures a plan side by side, None for a single job; raises `InputError`."""
        if plan.settings.jobs == 1:
            return None
        from opperf.parent.measuring.jobs import jobs

        return jobs(plan, self._pool, self._progress.note)

    def _journal(self, resume: Path | None, path: Path, run: Run, history: Earlier) -> JournalWriter:
        """Open the journal, with the records it already has; one that is not to be resumed is set aside."""
        if path.exists() and (resume is None or journal_of(resume).resolve() != path.resolve()):
            aside = path.with_name(f"{path.name}.{time.time_ns()}")
            path.rename(aside)
            self._progress.note(f"an earlier run did not finish; its journal is now {aside.name}")
        outcomes = [outcome for several in history.outcomes.values() for outcome in several]
        return JournalWriter(path, run, outcomes, history.records.values())

    def _measure(self, plan: Plan, history: Earlier, journal: JournalWriter | None) -> None:
        """Measure what is missing: all trials in one process of each side, then all in the next."""
        ahead = [
            (trial, process)
            for trial, process in in_processes(plan.trials, plan.settings)
            if trial.key not in history.records
            and not any(past.process == process for past in history.outcomes.get(trial.key, ()))
        ]
        self._progress.begin(len(ahead))
        start = time.monotonic()
        last = lasts(ahead) if self._jobs is None else set()

        def measure(pool: Pool, trial: Trial, process: int) -> Outcome:
            if self._jobs is None:  # else that is told when it is over: several are measured at once
                self._progress.next(trial)
            is_last = (trial.key, process) in last
            return self._outcome(pool, trial, process, history, time.monotonic() - start, is_last=is_last)

        if self._jobs is None:
            outcomes = one_by_one(ahead, self._pool, measure)
        else:
            past = [outcome for outcomes in history.outcomes.values() for outcome in outcomes]
            outcomes = self._jobs.outcomes(ahead, past, measure)
        with closing(outcomes):
            for outcome in outcomes:
                _keep([outcome], history, journal)
                if self._jobs is not None:
                    self._progress.next(outcome.trial)
                self._progress.done(outcome)
        self._pool.close()

    def _gather(self, plan: Plan, history: Earlier, journal: JournalWriter | None, elsewhere: Fleet) -> None:
        """Have everything measured that is missing, and keep it as it comes."""
        nodes: dict[tuple[object, ...], list[Node]] = {}
        whole = {key for key, several in history.outcomes.items() if len(several) >= plan.settings.processes}
        for key in [key for key in history.outcomes if key not in whole]:
            del history.outcomes[key]  # the other processes of a trial may be measured on another node
        for trial, node in [
            *((one.trial, one.details.node) for one in history.records.values()),
            *((several[0].trial, several[0].node) for several in history.outcomes.values()),
        ]:
            nodes.setdefault(trial.key, []).append(node or Node("", ""))
        self._progress.begin(sum(trial.key not in nodes for trial in plan.trials) * plan.settings.processes)
        for outcomes in elsewhere.outcomes(plan.trials, plan.settings, lambda trial: nodes.get(trial.key, ())):
            _keep(outcomes, history, journal)
            for outcome in outcomes:
                self._progress.done(outcome)

    def _outcome(
        self, pool: Pool, trial: Trial, process: int, history: Earlier, elapsed: float, *, is_last: bool
    ) -> Outcome:
        """Measure one trial, the last of its child or not, unless its fate is known or the command's time is up."""
        earlier = history.outcomes.get(trial.key, [])
        bad = next((outcome for outcome in earlier if outcome.status != "ok"), None)
        if bad is not None:
            return replace(bad, process=process)
        budget = self._settings.budget
        if budget is not None and elapsed > budget:
            return out_of_time(trial, process, f"{budget:g} s")
        return pool.measure(trial, process, is_last=is_last)

    def _finish(self, run: Run, plan: Plan, history: Earlier, options: Options) -> Run:
        """Return the run with a record for each trial that has an outcome; of the plan first, then what was there."""
        places = {trial.key: place for place, trial in enumerate(plan.trials)}
        keys = {key: record.trial for key, record in history.records.items()}
        keys |= {key: outcomes[0].trial for key, outcomes in history.outcomes.items()}
        records = []
        for key in sorted(keys, key=lambda key: places.get(keys[key].key, len(places))):
            if key in history.records:
                records.append(history.records[key])
            elif key in history.outcomes:
                outcomes = sorted(history.outcomes[key], key=lambda outcome: outcome.process)
                one = record(outcomes[0].trial, outcomes, plan.settings, keep_samples=options.keep_samples)
                records.append(
                    self._with_limits(one) if outcomes[0].node is None else _with_node(outcomes[0].node, one)
                )
        suite = self._selection.whole_suite
        if suite is not None:
            records = with_shares(records)
        nodes = {**run.environment.get("nodes", {}), **({} if self._elsewhere is None else self._elsewhere.nodes)}
        environment = {
            "machine": {**(run.environment.get("machine") or {}), "load_after": machine.loads()},
            **({} if suite is None else {"suite": suite.header()}),
            **({"nodes": nodes} if nodes else {}),
            "frameworks": [
                {"framework": facts.framework, "environment": facts.environment, "python": facts.python, **facts.build}
                for facts in self._pool.facts.values()
            ]
            + ([] if self._elsewhere is None else [*self._elsewhere.frameworks.values()])
            or run.environment.get("frameworks", []),
        }
        return replace(run, records=tuple(records), environment=environment)

    def _with_limits(self, record: Record) -> Record:
        """Return the record with what is known of this machine: its noise floor, and how fast it can be."""
        if record.time is None:
            return record
        floor = self._floors.get(floor_key(record.trial))
        facts: dict[str, object] = {} if floor is None else {"noise_floor": floor.between}
        side = record.trial.side
        limit = limit_of(record, Peaks.of(self._rates, side.device, side.threads))
        if limit is not None:
            facts["roofline"] = limit.to_json()
            record = replace(record, warnings=(*record.warnings, *doubts(record, limit)))
        return replace(record, facts={**record.facts, **facts}) if facts else record


def _sides(plan: Plan) -> Collection[Side]:
    """Return the sides of a plan, one for each child that serves them."""
    return {trial.side.process: trial.side for trial in plan.trials}.values()


def _keep(outcomes: Sequence[Outcome], history: Earlier, journal: JournalWriter | None) -> None:
    """Keep what was measured, in the journal last: a run that is stopped at any line has all that its journal has."""
    for outcome in outcomes:
        history.outcomes.setdefault(outcome.key, []).append(outcome)
    if journal is not None:
        journal.add(*outcomes)


def _with_node(node: Node, one: Record) -> Record:
    """Return the record with the node that measured it, which has said what is known of it."""
    return replace(one, facts={**one.facts, "node": node.to_json()})


def _header(plan: Plan, options: Options, history: Earlier) -> Run:
    """Return the run without its records; a run that is resumed keeps its id and its start."""
    earlier = history.run
    nodes = earlier.environment.get("nodes") if earlier else None
    return Run(
        id=earlier.id if earlier else uuid.uuid4().hex[:12],
        started=earlier.started if earlier else datetime.now(timezone.utc).isoformat(timespec="seconds"),
        command=tuple(options.command or own_command()),
        settings=plan.settings,
        labels={**(earlier.labels if earlier else {}), **options.labels},
        environment={"machine": machine.facts(), **({"nodes": nodes} if nodes else {})},
    )
