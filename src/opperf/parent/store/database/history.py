"""Queries of the database: which runs there are, and how an operator changed from build to build."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import Row, func, select

from opperf.domain.case import Case
from opperf.domain.dataclass import dataclass
from opperf.domain.files.json_text import JsonObject
from opperf.domain.moment import moment_of, shown_moment
from opperf.domain.stats.significance import Estimate
from opperf.parent.store.database import schema
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import reading
from opperf.parent.store.database.series import (
    EVERYTHING,
    Filters,
    begin,
    filter_series,
    find_series,
    pieces,
    series_of,
)


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
    label: tuple[str, str] | None = None,
    behind: int | None = None,
) -> list[Entry]:
    """Return the runs, latest first; with `label`, a name and a value, only those that have it.

    `behind` is the number of a run: only those that were added later are returned.
    """
    runs, machines, tallies = schema.runs, schema.machines, schema.tallies
    count = select(func.coalesce(func.sum(tallies.c.count), 0)).where(tallies.c.run_id == runs.c.id).scalar_subquery()
    query = (
        select(runs.c.id, runs.c.key, runs.c.kind, runs.c.started, machines.c.name, count.label("rows"))
        .join(machines)
        .order_by(runs.c.started.desc(), runs.c.id.desc())
        .limit(most)
    )
    if since is not None:
        query = query.where(runs.c.started >= since.timestamp())
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
        latest = self.ratios[-1].new
        return next(
            (one for one in reversed(self.ratios) if one.new == latest and one.verdict in ("slower", "faster")), None
        )


def ratios(archive: Archive, filters: Filters = EVERYTHING) -> Iterator[Ratios]:
    """Yield what was compared of builds of one framework whose versions are known, series by series.

    An index holds these columns in this order, so that of millions of comparisons those of one series are in memory.
    """
    table, environments = schema.comparisons.c, schema.environments.c
    columns = (
        *(table.new_series_id, table.base_series_id, table.started, table.verdict, table.ratio, table.error),
        *(table.base_environment_id, table.new_environment_id),
    )
    query = select(*columns).where(table.error.is_not(None)).order_by(table.new_series_id, table.started)
    query = begin(filter_series(query, table.new_series_id, filters), table.started, filters.since)
    with reading(archive.engine, archive.address) as connection:
        versions = {row.id: row.version for row in connection.execute(select(environments.id, environments.version))}
        # Both sides of a comparison are of one case.
        series = series_of(connection, Filters(operator=filters.operator, category=filters.category, case=filters.case))
        rows = connection.execution_options(yield_per=10_000).execute(query)
        for key, group in groupby(rows, key=attrgetter("new_series_id")):
            new_series = series[key]
            points = tuple(
                Ratio(
                    shown_moment(row.started),
                    versions[row.base_environment_id],
                    versions[row.new_environment_id],
                    row.verdict,
                    Estimate(math.log(row.ratio), row.error),
                )
                for row in group
                if None not in (row.base_environment_id, row.new_environment_id)
                and series[row.base_series_id].framework == new_series.framework
                and versions[row.base_environment_id] != versions[row.new_environment_id]
            )
            if points:
                case = Case.from_json(new_series.case, "case")
                place = new_series.direction, new_series.framework, new_series.machine_name
                yield Ratios(case, *place, points, new_series.side, new_series.metric)


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
