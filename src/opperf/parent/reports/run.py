"""A run: a row for each trial, what all rows share above the table, failures and warnings below it.

Rows stand together by operator, then case, then framework and side, in the order in which each first appears, so that
what is comparable is adjacent; those of a suite begin with what takes most in all. What rows have in common is said
once, above the table; what they differ in is a column.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from opperf.domain.plan import Plan, Trial
from opperf.domain.record import Record, Run
from opperf.domain.registry import DIRECTIONS
from opperf.parent.documents.load import load_of
from opperf.parent.reports import remarks
from opperf.parent.reports.columns import columns
from opperf.parent.reports.document import Block, Check, Column, Document, Level, Note, Outcome, Section, Table, table
from opperf.parent.reports.fastest import fastest
from opperf.parent.reports.machine import crowds, own_load
from opperf.parent.reports.text import case_text, place, subject, trial_text

T = TypeVar("T")
_OUTCOMES: dict[str, Outcome] = {"failed": "error", "skipped": "skipped"}
_LEVELS: dict[str, Level] = {"ok": "", "failed": "failed", "skipped": "skipped"}


def document(run: Run, top: int | None = None) -> Document:
    """Return the report; `top` bounds the rows that people are shown."""
    run_with_origin = with_origin(run)
    return Document(
        "opperf run",
        [*_blocks(run_with_origin, top)],
        run.to_json,
        checks(run),
        remarks.tally(run.records),
        failed=bool(run.records) and not any(record.status == "ok" for record in run.records),
        started=run.started,
    )


def plan_document(plan: Plan, top: int | None = None) -> Document:
    """Return the report of a plan; `top` bounds the rows that people are shown."""
    return Document("opperf run --dry-run", [table(PLAN, plan.trials, top=top)])


PLAN: tuple[Column[Trial], ...] = (
    Column("operator", "operator", lambda trial: subject(trial.case, trial.side), least=10),
    Column("direction", "direction", lambda trial: trial.direction, least=8),
    Column("side", "side", lambda trial: place(trial.side), least=14),
    Column("inputs", "inputs", lambda trial: case_text(trial.case), least=20),
)


def table_of(records: Iterable[Record], top: int | None = None) -> Table:
    """Return the table of some records, every column in it."""
    return table(columns(), in_order(records), lambda record: _LEVELS[record.status], top=top)


def _blocks(run: Run, top: int | None) -> Iterator[Block]:
    yield table_of(run.records, top)
    yield from map(Note, [remarks.tally(run.records), *fastest(run.records), *crowds(run), *remarks.shares(run)])
    yield from remarks.legend(run.records)
    yield from remarks.sections(run.records)
    if more := remarks.more(run.records):
        yield Section("", [Note(more)])


def checks(run: Run) -> list[Check]:
    """Annotate the trials of a run for a CI system."""
    return [_check(record) for record in run.records]


def _check(record: Record) -> Check:
    """Annotate a trial for a CI system: one that failed could not be measured, which is no regression."""
    reason = "" if record.reason is None else f"{record.reason.slug}: {record.reason.message}"
    time = record.time
    return Check(
        trial_text(record.trial),
        record.trial.side.framework,
        f"{record.trial.case.operator} {record.trial.direction}",
        record.status,
        f"{record.status}: {reason}" if reason else record.status,
        _OUTCOMES.get(record.status, "passed"),
        "warning" if record.status == "failed" else "",
        record.details.seconds,
        {} if time is None else {"time": time.value},
    )


def in_order(records: Iterable[Record]) -> list[Record]:
    """Return the records in reading order."""
    records = list(records)
    costs = _costs(records)
    operators = _places(record.trial.case.operator for record in records)
    cases = _places(record.trial.case.id for record in records)
    frameworks = _places(record.trial.side.framework for record in records)
    sides = _places(record.trial.side.key for record in records)
    directions = {name: place for place, name in enumerate(DIRECTIONS)}

    def place(record: Record) -> tuple[float, ...]:
        trial = record.trial
        return (
            -costs.get(trial.case.id, 0.0),
            operators[trial.case.operator],
            cases[trial.case.id],
            frameworks[trial.side.framework],
            sides[trial.side.key],
            directions.get(trial.direction, len(directions)),
        )

    return sorted(records, key=place)


def _costs(records: Iterable[Record]) -> dict[str, float]:
    """Return the time of all calls of a suite's case, on the side where they take longest."""
    costs: dict[str, float] = {}
    for record in records:
        if record.details.suite is not None:
            total = record.details.suite.total
            costs[record.trial.case.id] = max(total, costs.get(record.trial.case.id, 0.0))
    return costs


def merge(runs: Sequence[Run]) -> Run:
    """Join runs into one with all their records, each of which names its run.

    Equal trials of several runs are all kept; what one run has twice, in its journal and its document, counts once.

    The result has the header of the last run, but holds as labels and environment only what all runs agree on; the
    headers of all stand under `environment["merged"]`. A single run is returned unchanged.
    """
    if not runs:
        raise ValueError("no runs to merge")
    last = runs[-1]
    if len(runs) == 1:
        return last
    runs_with_origin = [with_origin(run) for run in runs]
    every = {
        (run.id, record.trial.key, run.settings.cache): record for run in runs_with_origin for record in run.records
    }
    return replace(
        last,
        id="+".join(run.id for run in runs),
        started=min(run.started for run in runs),
        labels=_agreement([run.labels for run in runs]),
        environment={**_agreement([run.environment for run in runs]), "merged": [run.header() for run in runs]},
        records=tuple(every.values()),
    )


def with_origin(run: Run) -> Run:
    """Return the run with records that name their run, its start, its machine and its labels."""
    cores, load = run.machine.get("cores_usable"), load_of(run.machine, own_load(run))
    words = (run.machine.get("cpu"), None if cores is None else f"{cores} cores")
    origin = {
        "id": run.id,
        "started": run.started,
        "machine": ", ".join(str(word) for word in words if word is not None) or None,
        "load": None if load is None else load.average,
        "label": " ".join(f"{name}={value}" for name, value in sorted(run.labels.items())) or None,
    }
    records = (replace(record, facts={"run": origin, **record.facts}) for record in run.records)
    return replace(run, records=tuple(records))


def _places(values: Iterable[Hashable]) -> dict[Hashable, int]:
    return {value: place for place, value in enumerate(dict.fromkeys(values))}


def _agreement(mappings: Sequence[Mapping[str, T]]) -> dict[str, T]:
    first, *others = mappings
    return {
        name: value for name, value in first.items() if all(name in other and other[name] == value for other in others)
    }
