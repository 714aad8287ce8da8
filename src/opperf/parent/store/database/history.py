"""Queries of the database: which runs there are, and how an operator changed from build to build."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from itertools import chain, groupby, islice
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Row, func, select

from opperf.domain.case import Case
from opperf.domain.dataclass import dataclass
from opperf.domain.files.json_text import JsonObject
from opperf.domain.moment import moment_of, shown_moment
from opperf.domain.stats.significance import Estimate
from opperf.parent.documents.comparison import CHANGES
from opperf.parent.store.database import schema
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import reading
from opperf.parent.store.database.series import (
    EVERYTHING,
    Filters,
    Series,
    begin,
    filter_series,
    find_series,
    pieces,
)

#: Series whose cases are looked up at once: of millions of comparisons, those of so many are in memory.
SERIES_AT_ONCE = 500


@dataclass(frozen=True)
class Entry:
    """A run in the database, without its records."""

    key: str
    kind: str
    started: datetime
    machine: str
    rows: int
    labels: Mapping[str, str]
    #: Why it is not shown as it stands: what was stored earlier may be what nobody stores any more.
    doubt: str | None = None


@dataclass(frozen=True)
class Observation:
    """A record of a series: what the build was and how long a call took, in seconds; None where it did not run."""

    run: str
    started: datetime
    status: str
    version: str | None
    build: str | None
    time: float | None
    interval: tuple[float, float] | None
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class History:
    """A case in a direction on a side, on a machine: its observations in the order of time."""

    case: Case
    direction: str
    framework: str
    side: JsonObject
    machine: str
    observations: tuple[Observation, ...]


def entries(
    archive: Archive,
    *,
    since: datetime | None = None,
    most: int | None = None,
    start: int = 0,
    label: tuple[str, str] | None = None,
    behind: int | None = None,
    kind: str | None = None,
    machine: str | None = None,
) -> list[Entry]:
    """Return the runs, latest first: the `most` after `start`.

    With `label`, a name and a value, only those are returned that have it; with `behind`, the number of a run, only
    those that were added later. `kind` and the name of a `machine` leave out all others.
    """
    runs, tallies = schema.runs, schema.tallies
    count = select(func.coalesce(func.sum(tallies.c.count), 0)).where(tallies.c.run_id == runs.c.id).scalar_subquery()
    query = (
        select(runs.c.id, runs.c.key, runs.c.kind, runs.c.started, schema.machines.c.name, count.label("rows"))
        .join(schema.machines)
        .where(*_conditions(since, kind, machine))
        .order_by(runs.c.started.desc(), runs.c.id.desc())
        .limit(most)
        .offset(start or None)
    )
    if behind is not None:
        query = query.where(runs.c.id > behind)
    if label is not None:
        name, value = label
        own = select(schema.labels.c.run_id).where(schema.labels.c.name == name, schema.labels.c.value == value)
        query = query.where(runs.c.id.in_(own))
    with reading(archive.engine, archive.address) as connection:
        rows = connection.execute(query).all()
        labels: dict[int, dict[str, str]] = {}
        for several in pieces(row.id for row in rows):
            for one in connection.execute(select(schema.labels).where(schema.labels.c.run_id.in_(several))):
                labels.setdefault(one.run_id, {})[one.name] = one.value
    return [
        Entry(
            *(row.key, row.kind, shown_moment(row.started), row.name, row.rows, labels.get(row.id, {})),
            doubt=None if moment_of(row.started) else "its start is outside the years 1900 to 2999",
        )
        for row in rows
    ]


def _conditions(since: datetime | None, kind: str | None, machine: str | None) -> list[ColumnElement[bool]]:
    """Return the conditions on runs and their machines."""
    conditions = [] if since is None else [schema.runs.c.started >= since.timestamp()]
    conditions += [] if kind is None else [schema.runs.c.kind == kind]
    return conditions + ([] if machine is None else [schema.machines.c.name == machine])


def entry_count(
    archive: Archive, *, since: datetime | None = None, kind: str | None = None, machine: str | None = None
) -> int:
    """Return how many runs `entries` would."""
    query = select(func.count()).select_from(schema.runs.join(schema.machines))
    with reading(archive.engine, archive.address) as connection:
        return int(connection.scalar(query.where(*_conditions(since, kind, machine))) or 0)


def histories(
    archive: Archive, operator: str, *, framework: str | None = None, since: datetime | None = None
) -> list[History]:
    """Return the series of an operator, each with what was observed of it, in the order of time."""
    records, series, cases = schema.records, schema.series, schema.cases
    query = (
        select(
            records.c.series_id,
            records.c.status,
            records.c.time,
            records.c.low,
            records.c.high,
            records.c.metrics,
            records.c.started,
            schema.runs.c.key,
            schema.environments.c.version,
            schema.environments.c.build,
            series.c.direction,
            series.c.framework,
            series.c.side,
            cases.c.document,
            schema.machines.c.name,
        )
        .select_from(cases)
        .join(series, series.c.case_id == cases.c.id)
        .join(schema.machines, schema.machines.c.id == series.c.machine_id)
        .join(records, records.c.series_id == series.c.id)
        .join(schema.runs, schema.runs.c.id == records.c.run_id)
        .outerjoin(schema.environments, schema.environments.c.id == records.c.environment_id)
        .where(cases.c.operator == operator)
        .order_by(series.c.id, records.c.started, records.c.id)
    )
    if framework is not None:
        query = query.where(series.c.framework == framework)
    if since is not None:
        query = query.where(records.c.started >= since.timestamp())
    with reading(archive.engine, archive.address) as connection:
        return list(_histories(connection.execute(query)))


def operator_names(archive: Archive) -> list[str]:
    """Return the operators of which anything is stored, those of imports too."""
    with reading(archive.engine, archive.address) as connection:
        return [row.operator for row in connection.execute(select(schema.cases.c.operator).distinct())]


@dataclass(frozen=True)
class StoredComparison:
    """A comparison as its run stored it: sides as `numpy 2.4.6`, times in seconds, and the verdict on them."""

    run: str
    started: datetime
    case: Case
    direction: str
    machine: str
    base: str
    new: str
    base_time: float | None
    new_time: float | None
    ratio: float | None
    interval: tuple[float, float] | None
    verdict: str
    metric: str


def comparisons(
    archive: Archive, operator: str, *, framework: str | None = None, since: datetime | None = None
) -> list[StoredComparison]:
    """Return the comparisons of an operator, in the order of time, of two frameworks too."""
    table, environments, runs = schema.comparisons, schema.environments.c, schema.runs
    query = select(table, runs.c.key).join(runs, runs.c.id == table.c.run_id).order_by(table.c.started, table.c.id)
    filters = Filters(operator=operator, framework=framework)
    query = begin(filter_series(query, table.c.new_series_id, filters), table.c.started, since)
    with reading(archive.engine, archive.address) as connection:
        versions = {row.id: row.version for row in connection.execute(select(environments.id, environments.version))}
        rows = connection.execute(query).all()
        series = find_series(connection, {key for row in rows for key in (row.base_series_id, row.new_series_id)})

    def side(key: int, environment: int | None) -> str:
        return " ".join(filter(None, (series[key].framework, versions.get(environment))))

    return [
        StoredComparison(
            run=row.key,
            started=shown_moment(row.started),
            case=Case.from_json(series[row.new_series_id].case, "case"),
            direction=series[row.new_series_id].direction,
            machine=series[row.new_series_id].machine_name,
            base=side(row.base_series_id, row.base_environment_id),
            new=side(row.new_series_id, row.new_environment_id),
            base_time=row.base_time,
            new_time=row.new_time,
            ratio=row.ratio,
            interval=None if row.low is None else (row.low, row.high),
            verdict=row.verdict,
            metric=series[row.new_series_id].metric,
        )
        for row in rows
    ]


@dataclass(frozen=True)
class Ratio:
    """A comparison of two builds of a framework: the ratio is the time of `new` over that of `base`."""

    started: datetime
    base: str
    new: str
    verdict: str
    estimate: Estimate


@dataclass(frozen=True)
class Ratios:
    """The comparisons of builds of one framework: of a case in a direction, on a machine, in the order of time."""

    case: Case
    direction: str
    framework: str
    machine: str
    ratios: tuple[Ratio, ...]
    side: JsonObject = field(default_factory=dict)
    metric: str = "time"

    @property
    def latest_difference(self) -> Ratio | None:
        """The latest comparison that calls the latest build slower or faster, than whichever build; None for none."""
        return latest_difference(self.ratios)


def latest_difference(ratios: Sequence[Ratio]) -> Ratio | None:
    """Return the latest comparison that calls the latest build slower or faster, than whichever build; or None."""
    latest = ratios[-1].new
    return next((one for one in reversed(ratios) if one.new == latest and one.verdict in CHANGES), None)


class Course(NamedTuple):
    """The comparisons of a series in the order of time, by its key: what the series is, few readers have to know."""

    series: int
    framework: str
    ratios: tuple[Ratio, ...]


def courses(archive: Archive, filters: Filters = EVERYTHING) -> Iterator[Course]:
    """Yield what was compared of builds of one framework whose versions are known, series by series.

    An index holds these columns in this order, so that only those of one series are in memory.
    """
    table, environments = schema.comparisons.c, schema.environments.c
    columns = (
        *(table.new_series_id, table.started, table.verdict, table.ratio, table.error),
        *(table.base_environment_id, table.new_environment_id),
    )
    query = select(*columns).where(table.error.is_not(None)).order_by(table.new_series_id, table.started)
    query = begin(filter_series(query, table.new_series_id, filters), table.started, filters.since)
    names = select(environments.id, environments.framework, environments.version)
    with reading(archive.engine, archive.address) as connection:
        builds = {key: (framework, version) for key, framework, version in connection.execute(names)}
        parts = connection.execution_options(yield_per=10_000).execute(query).partitions()
        rows: Iterable[Sequence[Any]] = chain.from_iterable(parts)
        for series, group in groupby(rows, key=itemgetter(0)):
            framework, ratios = "", []
            for _, started, verdict, ratio, error, base_id, new_id in group:
                base, new = builds.get(base_id), builds.get(new_id)
                if base and new and base != new and base[0] == new[0]:
                    framework, estimate = new[0], Estimate(math.log(ratio), error)
                    ratios.append(Ratio(shown_moment(started), base[1], new[1], verdict, estimate))
            if ratios:
                yield Course(series, framework, tuple(ratios))


def ratios(archive: Archive, filters: Filters = EVERYTHING) -> Iterator[Ratios]:
    """Yield the series of `courses` with what they are of."""
    rest = courses(archive, filters)
    while part := [*islice(rest, SERIES_AT_ONCE)]:
        yield from with_cases(archive, part)


def with_cases(archive: Archive, courses: Sequence[Course]) -> list[Ratios]:
    """Return series with what they are of."""
    with reading(archive.engine, archive.address) as connection:
        series = find_series(connection, [course.series for course in courses])
    return [_ratios(series[course.series], course.ratios) for course in courses]


def _ratios(series: Series, ratios: tuple[Ratio, ...]) -> Ratios:
    place = series.direction, series.framework, series.machine_name
    return Ratios(Case.from_json(series.case, "case"), *place, ratios, series.side, series.metric)


def _histories(rows: Iterable[Row[Any]]) -> Iterator[History]:
    for _, several in groupby(rows, key=attrgetter("series_id")):
        group = list(several)
        first = group[0]
        yield History(
            case=Case.from_json(first.document, "case"),
            direction=first.direction,
            framework=first.framework,
            side=first.side,
            machine=first.name,
            observations=tuple(
                Observation(
                    run=row.key,
                    started=shown_moment(row.started),
                    status=row.status,
                    version=row.version,
                    build=row.build,
                    time=row.time,
                    interval=None if row.low is None else (row.low, row.high),
                    metrics=row.metrics,
                )
                for row in group
            ),
        )
