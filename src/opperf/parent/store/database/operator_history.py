"""How one operator went over time, column by column, as charts take it.

Indexes hold every column, so that the rows themselves, which lie a night apart, need not be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, select

from opperf.domain.dataclass import dataclass
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
    run_keys,
    series_of,
)


@dataclass(frozen=True)
class Times:
    """The times of a series in the order of time, column by column; `builds` are versions, and times seconds."""

    series: Series
    started: tuple[int, ...]
    builds: tuple[str | None, ...]
    runs: tuple[str, ...]
    statuses: tuple[str, ...]
    times: tuple[float | None, ...]
    lows: tuple[float | None, ...]
    highs: tuple[float | None, ...]
    metrics: tuple[Mapping[str, float], ...]

    def of(self, metric: str) -> tuple[float | None, ...]:
        """Return the values of a metric."""
        return self.times if metric == "time" else tuple(figures.get(metric) for figures in self.metrics)


@dataclass(frozen=True)
class Ratios:
    """The comparisons of a series in the order of time, by column; `errors` are those of the ratios' logarithms."""

    series: Series
    base: Series
    started: tuple[int, ...]
    bases: tuple[str | None, ...]
    builds: tuple[str | None, ...]
    runs: tuple[str, ...]
    verdicts: tuple[str, ...]
    ratios: tuple[float | None, ...]
    lows: tuple[float | None, ...]
    highs: tuple[float | None, ...]
    errors: tuple[float | None, ...]
    base_times: tuple[float | None, ...]
    new_times: tuple[float | None, ...]


#: The columns of a time, which an index holds.
TIMES = (
    *(schema.records.c[name] for name in ("series_id", "started", "environment_id", "run_id", "status")),
    *(schema.records.c[name] for name in ("time", "low", "high", "metrics")),
)


def operator_times(archive: Archive, operator: str, filters: Filters = EVERYTHING) -> list[Times]:
    """Return the times of an operator, series by series."""
    table = schema.records.c
    with reading(archive.engine, archive.address) as connection:
        series = series_of(connection, replace(filters, operator=operator))
        return _times(connection, select(*TIMES).where(table.series_id.in_(series)), filters.since, series)


@dataclass(frozen=True)
class Imported:
    """A time that another tool measured, in seconds; when, and of which build."""

    started: int
    build: str | None
    time: float | None


def imported_times(archive: Archive, filters: Filters = EVERYTHING) -> Iterator[tuple[Series, list[Imported]]]:
    """Yield the times that other tools measured, series by series: of millions, those of one series are in memory."""
    table, imported = schema.records.c, schema.runs.c.kind == "imported"
    columns = select(table.series_id, table.started, table.environment_id, table.time)
    query: Select[Any] = columns.join(schema.runs, schema.runs.c.id == table.run_id).order_by(
        table.series_id, table.started
    )
    query = filter_series(query.where(imported), table.series_id, filters)
    with reading(archive.engine, archive.address) as connection:
        if connection.scalar(select(schema.runs.c.id).where(imported).limit(1)) is None:
            return  # the records of runs need not be looked through
        versions, series = _versions(connection), series_of(connection, filters)
        rows = connection.execution_options(yield_per=10_000).execute(begin(query, table.started, filters.since))
        for key, several in groupby(rows, key=itemgetter(0)):
            yield series[key], [Imported(row[1], versions.get(row[2]), row[3]) for row in several]


def _times(
    connection: Connection, query: Select[Any], since: datetime | None, series: Mapping[int, Series]
) -> list[Times]:
    table = schema.records.c
    groups = _group(connection, query.order_by(table.series_id, table.started), table.started, since)
    versions = _versions(connection)
    keys = run_keys(connection, {run for rows in groups.values() for run in rows[3]})
    return [
        Times(
            series[key],
            rows[1],
            tuple(map(versions.get, rows[2])),
            tuple(map(keys.__getitem__, rows[3])),
            *rows[4:],
        )
        for (key,), rows in groups.items()
    ]


def operator_ratios(archive: Archive, operator: str, filters: Filters = EVERYTHING) -> list[Ratios]:
    """Return the comparisons of an operator, by the series of both sides; a framework may be on either."""
    table = schema.comparisons.c
    columns = (
        *(table.new_series_id, table.base_series_id, table.started, table.base_environment_id),
        *(table.new_environment_id, table.run_id, table.verdict, table.ratio, table.low, table.high, table.error),
        *(table.base_time, table.new_time),
    )
    with reading(archive.engine, archive.address) as connection:
        series = series_of(connection, replace(filters, operator=operator, framework=None))
        query = select(*columns).where(table.new_series_id.in_(series)).order_by(table.new_series_id, table.started)
        groups = _group(connection, query, table.started, filters.since, keys=2)
        versions = _versions(connection)
        keys = run_keys(connection, {run for rows in groups.values() for run in rows[5]})
        bases = series | find_series(connection, {base for _, base in groups} - set(series))
    return [
        Ratios(
            series[new],
            bases[base],
            rows[2],
            tuple(map(versions.get, rows[3])),
            tuple(map(versions.get, rows[4])),
            tuple(map(keys.__getitem__, rows[5])),
            *rows[6:],
        )
        for (new, base), rows in groups.items()
        if filters.framework in (None, series[new].framework, bases[base].framework)
    ]


def with_nights(times: Sequence[Times], all_ratios: Sequence[Ratios]) -> list[Times]:
    """Return the times of runs together with those that comparisons took of their new sides, once for each build."""
    nights: dict[int, dict[tuple[int, str, str | None], float]] = {}
    series = {one.series.id: one.series for one in all_ratios}
    for ratios in all_ratios:
        moments = zip(ratios.started, ratios.runs, ratios.builds)
        for moment, time in zip(moments, ratios.new_times):
            if time is not None:
                nights.setdefault(ratios.series.id, {}).setdefault(moment, time)
    by_series = {one.series.id: one for one in times}
    for key, night_times in nights.items():
        former = by_series.get(key)
        rows: list[tuple[Any, ...]] = [
            (started, build, run, "ok", time, None, None, {}) for (started, run, build), time in night_times.items()
        ]
        if former is not None:
            columns = (former.started, former.builds, former.runs, former.statuses, former.times, former.lows)
            rows += zip(*columns, former.highs, former.metrics)
        rows.sort(key=itemgetter(0))
        by_series[key] = Times(series[key], *zip(*rows))
    return list(by_series.values())


def _group(
    connection: Connection, query: Select[Any], started: ColumnElement[int], since: datetime | None, *, keys: int = 1
) -> dict[Any, list[tuple[Any, ...]]]:
    """Return the columns of rows, by their first column."""
    groups: dict[Any, list[Row[Any]]] = {}
    for row in connection.execute(begin(query, started, since)).all():
        groups.setdefault(row[:keys], []).append(row)
    return {key: list(zip(*rows)) for key, rows in groups.items()}


def _versions(connection: Connection) -> dict[int | None, str]:
    table = schema.environments.c
    return {row[0]: row[1] for row in connection.execute(select(table.id, table.version))}
