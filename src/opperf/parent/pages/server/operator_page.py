"""The page of an operator: its builds, what changed, frameworks against each other, and every metric of each run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.metric import METRICS, Metric
from opperf.domain.moment import shown_moment
from opperf.domain.units import format_ratio, format_ratios, format_seconds
from opperf.parent.analysis.triage import Triage
from opperf.parent.commands.history import Scope, read_triage, searches
from opperf.parent.pages.charts import Chart
from opperf.parent.pages.server.filters import filters_of
from opperf.parent.pages.server.operator_charts import (
    inputs,
    latest_charts,
    ratio_charts,
    side_charts,
    side_words,
    time_charts,
)
from opperf.parent.pages.server.view import Choice, Query, View, change_place, leading, path
from opperf.parent.reports import history as report
from opperf.parent.reports.document import Block, Column, Document, Note, Section, plain, table
from opperf.parent.reports.text import case_text
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.listing import operators as listed_operators
from opperf.parent.store.database.operator_history import Ratios, Times, operator_ratios, operator_times, with_nights
from opperf.parent.store.database.series import Filters

#: The rows that are seen at once, and the most rows of a table.
FIRST_ROWS, MOST_ROWS = 20, 100
#: What sides are compared by: what a page has charts of.
METRIC_NAMES = [name for name, metric in METRICS.items() if metric.compared is not None]


def operator(archive: Archive, name: str, query: Query) -> View:
    """Return how an operator went over builds and runs, and how frameworks do it now."""
    filters, by_machine, since = filters_of(archive, query)
    times, ratios = operator_times(archive, name, filters), operator_ratios(archive, name, filters)
    if not times and not ratios:
        if any(entry.operator == name for entry in listed_operators(archive, filters)):
            return View(Document(name, [Note("Only noise floors of it are here: the page of its machine has them.")]))
        raise InputError(f"the database has no measurement of `{name}` for this selection", slug="missing")
    every = [*(entry.series for entry in times), *(entry.series for entry in ratios)]
    metric, text = query.get("metric", ""), query.get("inputs", "")
    if metric and metric not in METRIC_NAMES:
        raise InputError(f"no metric `{metric}`", hint=f"known: {', '.join(METRIC_NAMES)}", slug="input")
    choices = (
        Choice.of("framework", (series.framework for series in every), query),
        Choice.of("direction", (series.direction for series in every), query),
        by_machine,
        Choice.of("inputs", map(inputs, every), query),
        Choice("metric", METRIC_NAMES, metric),
        since,
    )
    times = [entry for entry in times if text in ("", inputs(entry.series))]
    ratios = [entry for entry in ratios if text in ("", inputs(entry.series))]
    triage = read_triage(archive)
    changes = _changes(archive, replace(filters, operator=name), text, triage)
    blocks = [*changes, *_comparisons(ratios), *_measurements(times)]
    return View(Document(name, blocks), _charts(times, ratios, metric, triage.orders), choices)


def _charts(
    times: Sequence[Times], ratios: Sequence[Ratios], metric: str, orders: Mapping[str, Sequence[str]]
) -> list[Chart]:
    """Return the ratios of builds, of sides, and each metric of each run, that of nights too."""
    by_metric = [entry for entry in ratios if metric in ("", entry.series.metric)]
    every = with_nights(times, ratios)
    metrics = [metric] if metric else [name for name in METRIC_NAMES if any(any(entry.of(name)) for entry in every)]
    charts: list[Chart] = [*ratio_charts(by_metric, orders), *side_charts(by_metric)]
    for name in metrics:
        charts += [*latest_charts(every, name), *time_charts(every, name)]
    return charts


def _changes(archive: Archive, filters: Filters, text: str, triage: Triage) -> list[Block]:
    """Return the changes of an operator, each leading to its evidence, with the commands that follow them up."""
    ratios, times = searches(archive, Scope(replace(filters, since=None), filters.since), triage)
    rows = [row for row in (*ratios.changes, *times.changes) if text in ("", case_text(row.series.case))]
    if not rows:
        return []
    commands = [Note(command, kind="item") for command in report.next_commands(rows)]
    weak = [Note(f"times: {report.WEAKER}")] if any(row.anchor is None for row in rows) else []
    return [Section("Changes", [leading(table(report.CHANGES, rows, link=change_place)), *weak, *commands])]


def _comparisons(ratios: Sequence[Ratios]) -> list[Block]:
    """Return every comparison, with the times of both sides and the run that has its pairs."""
    rows = [RatioRow(entry, place) for entry in ratios for place in range(len(entry.started))]
    return _latest_first("Comparisons", RATIO_COLUMNS, rows)


def _measurements(times: Sequence[Times]) -> list[Block]:
    """Return the measurements of runs."""
    rows = [SeriesRow(entry, place) for entry in times for place in range(len(entry.started))]
    return _latest_first("Runs", SERIES_COLUMNS, rows)


def _latest_first(title: str, columns: Sequence[Column[Entry]], entries: Sequence[Entry]) -> list[Block]:
    """Return rows that lead to their runs: the latest to be seen at once, and earlier ones to be opened."""
    rows = sorted(entries, key=lambda row: -row.of("started"))
    parts = [rows[:FIRST_ROWS], rows[FIRST_ROWS:MOST_ROWS]]
    first, more = (table(columns, part) for part in parts)
    blocks: list[Block] = [first] if rows else []
    blocks += [Section(f"{len(parts[1])} earlier ones", [more], folded=True)] if parts[1] else []
    left = len(rows) - MOST_ROWS
    blocks += [Note(f"{left} before them are in the JSON of their runs.")] if left > 0 else []
    return [Section(title, blocks)] if blocks else []


@dataclass(frozen=True)
class SeriesRow:
    """A row of the columns of a series."""

    times: Times
    place: int

    def of(self, column: str) -> Any:
        """Return the cell of a column in this row."""
        return getattr(self.times, column)[self.place]


@dataclass(frozen=True)
class RatioRow:
    """A comparison of two series."""

    ratios: Ratios
    place: int

    def of(self, column: str) -> Any:
        """Return the cell of a column in this row."""
        return getattr(self.ratios, column)[self.place]

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the ratio lies."""
        low, high = self.of("lows"), self.of("highs")
        return None if low is None or high is None else (low, high)

    def side(self, *, new: bool) -> str:
        """Write a side: its framework, how it ran, and its build."""
        series, build = (self.ratios.series, "builds") if new else (self.ratios.base, "bases")
        return f"{side_words(series)} {self.of(build) or ''}".rstrip()


#: What a row of the page is of.
Entry = TypeVar("Entry", SeriesRow, RatioRow)


def _minute(text: str) -> str:
    return text[:16].replace("T", " ")


def _run_place(row: SeriesRow | RatioRow) -> str:
    return path("runs", row.of("runs"))


#: On a phone what came out is seen first, and the run that it is of last.
RATIO_COLUMNS: tuple[Column[RatioRow], ...] = (
    Column("run", "run", lambda row: row.of("runs"), place=1, link=_run_place),
    Column("ratio", "ratio", lambda row: row.of("ratios"), format_ratio, "right"),
    Column("verdict", "verdict", lambda row: row.of("verdicts")),
    Column("low", None, lambda row: row.of("lows")),
    Column("high", None, lambda row: row.of("highs")),
    Column(None, "interval", lambda row: row.interval, format_ratios, "right"),
    Column("base", "base", lambda row: row.side(new=False)),
    Column("new", "new", lambda row: row.side(new=True)),
    Column("base_time_s", "base time", lambda row: row.of("base_times"), format_seconds, "right"),
    Column("new_time_s", "time", lambda row: row.of("new_times"), format_seconds, "right"),
    Column("started", "measured", lambda row: shown_moment(row.of("started")).isoformat(), _minute),
    Column("inputs", "inputs", lambda row: inputs(row.ratios.series), presence="varied"),
    Column("direction", "direction", lambda row: row.ratios.series.direction, presence="varied"),
    Column("metric", "by", lambda row: row.ratios.series.metric, presence="varied", usual="time"),
    Column("machine", "machine", lambda row: row.ratios.series.machine_name, presence="varied"),
)


def _column(name: str, title: str, column: str, show: Callable[[Any], str] = plain) -> Column[SeriesRow]:
    return Column(name, title, lambda row: row.of(column), show, "left" if show is plain else "right")


def _figure(metric: Metric) -> Column[SeriesRow]:
    name = f"{metric.name}_{metric.unit.suffix}"
    title = metric.title or metric.words
    return Column(name, title, lambda row: row.of("metrics").get(metric.name), metric.unit.show, "right")


SERIES_COLUMNS: tuple[Column[SeriesRow], ...] = (
    Column("run", "run", lambda row: row.of("runs"), place=1, link=_run_place),
    Column("started", "measured", lambda row: shown_moment(row.of("started")).isoformat(), _minute),
    Column("side", "side", lambda row: side_words(row.times.series)),
    _column("version", "version", "builds"),
    Column("inputs", "inputs", lambda row: inputs(row.times.series), presence="varied"),
    Column("direction", "direction", lambda row: row.times.series.direction, presence="varied"),
    Column("machine", "machine", lambda row: row.times.series.machine_name, presence="varied"),
    Column("time_s", "time", lambda row: row.of("times"), format_seconds, "right", place=-1),
    _column("low_s", "low", "lows", format_seconds),
    _column("high_s", "high", "highs", format_seconds),
    *(_figure(metric) for name, metric in METRICS.items() if metric.compared is not None and name != "time"),
    Column("status", "status", lambda row: row.of("statuses"), presence="varied", usual="ok"),
)
