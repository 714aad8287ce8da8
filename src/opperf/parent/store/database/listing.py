"""The contents of a database: runs, machines with their noise floors, operators, and a search by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from sqlalchemy import ColumnElement, func, or_, select

from opperf.domain.dataclass import dataclass
from opperf.domain.files.json_text import JsonObject
from opperf.domain.moment import shown_moment
from opperf.parent.store.database import schema
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import reading
from opperf.parent.store.database.documents import unpack
from opperf.parent.store.database.series import EVERYTHING, Filters, category, find_series


@dataclass(frozen=True)
class Machine:
    """A machine, told by its hardware; the facts are those of the first run on it."""

    id: int
    name: str
    facts: JsonObject
    runs: int
    first: datetime | None
    last: datetime | None


@dataclass(frozen=True)
class Floor:
    """How far identical code moves on a machine, as logarithms of ratios (`opperf noise`)."""

    series: int
    operator: str
    case: JsonObject
    direction: str
    framework: str
    measured: datetime
    spread: float
    moved: float
    between: float


@dataclass(frozen=True)
class OperatorEntry:
    """An operator that was measured in a framework: in how many series, of how many cases, in which directions."""

    operator: str
    category: str | None
    framework: str
    series: int
    cases: int


@dataclass(frozen=True)
class Unmeasured:
    """What could not be measured of an operator in a version: how often, and why and in which run the last time."""

    operator: str
    framework: str
    version: str
    outcome: str
    count: int
    reason: str
    run: str


@dataclass(frozen=True)
class Hit:
    """Something that a search came upon: a `run` by its id, a `machine` by its number, an `operator`, a `build`."""

    kind: Literal["operator", "build", "machine", "run"]
    key: str
    text: str


@dataclass(frozen=True)
class FrameworkPair:
    """Builds of two frameworks that were compared, as `numpy 2.2.6`: how often, with which verdicts, and when last."""

    base: str
    new: str
    verdicts: Mapping[str, int]
    last: datetime


@dataclass(frozen=True)
class LastRun:
    """The run that was added last: its number, which grows, its id, its kind, and when it was measured."""

    number: int
    key: str
    kind: str
    started: datetime


def run_kinds(archive: Archive, most: int) -> list[str]:
    """Return the kinds of the latest runs, so many of them."""
    latest = select(schema.runs.c.kind).order_by(schema.runs.c.started.desc()).limit(most).subquery()
    with reading(archive.engine, archive.address) as connection:
        return sorted(connection.scalars(select(latest.c.kind).distinct()))


def last_run(archive: Archive) -> LastRun | None:
    """Return the run that was added last."""
    table = schema.runs.c
    query = select(table.id, table.key, table.kind, table.started).order_by(table.id.desc()).limit(1)
    with reading(archive.engine, archive.address) as connection:
        row = connection.execute(query).one_or_none()
    return None if row is None else LastRun(row.id, row.key, row.kind, shown_moment(row.started))


def framework_pairs(archive: Archive) -> list[FrameworkPair]:
    """Return which builds of different frameworks were compared, the latest first."""
    tallies, base, new = schema.tallies.c, schema.environments.alias("base"), schema.environments.alias("new")
    query = (
        select(
            base.c.framework, base.c.version, new.c.framework, new.c.version, tallies.outcome,
            func.sum(tallies.count), func.max(schema.runs.c.started),
        )
        .select_from(schema.tallies)
        .join(base, base.c.id == tallies.base_environment_id)
        .join(new, new.c.id == tallies.environment_id)
        .join(schema.runs, schema.runs.c.id == tallies.run_id)
        .where(base.c.framework != new.c.framework)
        .group_by(base.c.framework, base.c.version, new.c.framework, new.c.version, tallies.outcome)
    )  # fmt: skip
    verdicts: dict[tuple[str, str], Counter[str]] = {}
    last: dict[tuple[str, str], int] = {}
    with reading(archive.engine, archive.address) as connection:
        for *names, outcome, count, started in connection.execute(query):
            key = " ".join(names[:2]), " ".join(names[2:])
            verdicts.setdefault(key, Counter())[outcome] += int(count)
            last[key] = max(started, last.get(key, started))
    ordered = sorted(verdicts, key=last.__getitem__, reverse=True)
    return [FrameworkPair(*key, verdicts[key], shown_moment(last[key])) for key in ordered]


def machines(archive: Archive) -> list[Machine]:
    """Return the machines, the one used last first."""
    table, runs = schema.machines, schema.runs
    query = (
        select(
            table.c.id, table.c.name, table.c.facts, func.count(runs.c.id).label("runs"),
            func.min(runs.c.started).label("first"), func.max(runs.c.started).label("last"),
        )
        .outerjoin(runs, runs.c.machine_id == table.c.id)
        .group_by(table.c.id)
        .order_by(func.max(runs.c.started).desc())
    )  # fmt: skip
    with reading(archive.engine, archive.address) as connection:
        rows = connection.execute(query).all()
    return [
        Machine(row.id, row.name or "", row.facts or {}, row.runs, _moment(row.first), _moment(row.last))
        for row in rows
    ]


def floors(archive: Archive, machine: int) -> list[Floor]:
    """Return the noise floors of a machine; where one was measured several times, the latest."""
    table = schema.floors
    query = (
        select(table.c.series_id, table.c.spread, table.c.moved, table.c.between, schema.runs.c.started)
        .join(schema.runs, schema.runs.c.id == table.c.run_id)
        .join(schema.series, schema.series.c.id == table.c.series_id)
        .where(schema.series.c.machine_id == machine)
        .order_by(schema.runs.c.started)
    )
    with reading(archive.engine, archive.address) as connection:
        latest = {row.series_id: row for row in connection.execute(query)}
        series = find_series(connection, latest)
    return [
        Floor(
            series=key,
            operator=series[key].operator,
            case=series[key].case,
            direction=series[key].direction,
            framework=series[key].framework,
            measured=shown_moment(row.started),
            spread=row.spread,
            moved=row.moved,
            between=row.between,
        )
        for key, row in latest.items()
    ]


def operators(archive: Archive, filters: Filters = EVERYTHING) -> list[OperatorEntry]:
    """Return the operators that were measured, by name, once for each framework."""
    series, cases = schema.series.c, schema.cases.c
    query = (
        select(
            cases.operator, series.framework, func.count().label("series"),
            func.count(series.case_id.distinct()).label("cases"),
        )
        .select_from(schema.series.join(schema.cases))
        .where(*filters.of_series())
        .group_by(cases.operator, series.framework)
        .order_by(cases.operator, series.framework)
    )  # fmt: skip
    with reading(archive.engine, archive.address) as connection:
        rows = connection.execute(query).all()
    return [OperatorEntry(row.operator, category(row.operator), row.framework, row.series, row.cases) for row in rows]


def unmeasured(archive: Archive, since: datetime) -> list[Unmeasured]:
    """Return the operators that comparisons and runs since a moment failed to measure, or skipped."""
    comparisons, records, environments = schema.comparisons, schema.records, schema.environments
    latest: dict[tuple[str, str, str, str], tuple[str, str]] = {}
    counts: Counter[tuple[str, str, str, str]] = Counter()
    for table, outcome, series, environment in (
        (comparisons, comparisons.c.verdict, comparisons.c.new_series_id, comparisons.c.new_environment_id),
        (records, records.c.status, records.c.series_id, records.c.environment_id),
    ):
        query = (
            select(
                schema.cases.c.operator, schema.series.c.framework, environments.c.version, outcome.label("outcome"),
                table.c.document, schema.runs.c.key,
            )
            .select_from(table)
            .join(schema.runs, schema.runs.c.id == table.c.run_id)
            .join(schema.series, schema.series.c.id == series)
            .join(schema.cases, schema.cases.c.id == schema.series.c.case_id)
            .outerjoin(environments, environments.c.id == environment)
            .where(table.c.started >= since.timestamp(), outcome.in_(("failed", "skipped")))
            .order_by(table.c.started, table.c.id)
        )  # fmt: skip
        with reading(archive.engine, archive.address) as connection:
            for row in connection.execute(query):
                key = row.operator, row.framework, row.version or "", row.outcome
                counts[key] += 1
                reason = unpack(row.document, f"run {row.key}").get("reason")
                words = reason.get("message") if isinstance(reason, Mapping) else reason
                latest[key] = str(words or ""), row.key
    return [Unmeasured(*key, counts[key], *latest[key]) for key in sorted(counts)]


def search(archive: Archive, text: str, *, most: int = 50) -> list[Hit]:
    """Search names for a text: operators first, then builds, machines, and runs, also by label."""
    word = text.strip().lower()
    if not word:
        return []

    def has(column: ColumnElement[str]) -> ColumnElement[bool]:
        return func.lower(column).contains(word, autoescape=True)

    cases, environments, runs, labels = schema.cases.c, schema.environments.c, schema.runs.c, schema.labels
    names = select(cases.operator).where(has(cases.operator)).distinct().order_by(cases.operator)
    versions = (
        select(environments.framework, environments.version)
        .where(or_(has(environments.framework + " " + environments.version), has(environments.build)))
        .distinct()
    )
    with_label = select(labels.c.run_id).where(or_(has(labels.c.value), has(labels.c.name)))
    matching = (
        select(runs.key, runs.kind, runs.started)
        .where(or_(has(runs.key), runs.id.in_(with_label)))
        .order_by(runs.started.desc())
    )
    with reading(archive.engine, archive.address) as connection:
        hits = [Hit("operator", name, name) for name in connection.scalars(names.limit(most))]
        hits += [
            Hit("build", row.version, f"{row.framework} {row.version}")
            for row in connection.execute(versions.limit(most))
        ]
        hits += [
            Hit("machine", str(row.id), row.name)
            for row in connection.execute(
                select(schema.machines.c.id, schema.machines.c.name).where(has(schema.machines.c.name)).limit(most)
            )
        ]
        hits += [
            Hit("run", row.key, f"{row.kind} of {shown_moment(row.started):%Y-%m-%d %H:%M}")
            for row in connection.execute(matching.limit(most))
        ]
    return hits[:most]


def _moment(seconds: int | None) -> datetime | None:
    return None if seconds is None else shown_moment(seconds)
