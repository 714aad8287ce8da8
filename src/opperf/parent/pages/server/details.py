"""The pages of one thing: an operator, a run, two runs or builds, a suite, a machine."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from opperf.domain.case import Case
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import JsonDict, JsonObject
from opperf.domain.metric import METRICS, Metric
from opperf.domain.moment import shown_moment
from opperf.domain.record import Run
from opperf.domain.units import format_bytes, format_percent, format_ratios, format_seconds
from opperf.parent.analysis.verdict import Rule
from opperf.parent.commands.compare import of_runs
from opperf.parent.commands.history import imported_changes, named_changes
from opperf.parent.documents.candidates import JudgedRun
from opperf.parent.documents.comparison import ComparisonRun
from opperf.parent.documents.floor import NoiseRun
from opperf.parent.pages.charts import Chart
from opperf.parent.pages.charts.drawing import COLORS
from opperf.parent.pages.charts.history import History, Line, Moment
from opperf.parent.pages.figures import charts
from opperf.parent.pages.result_page import facts
from opperf.parent.pages.server.operator_charts import (
    inputs,
    latest_charts,
    ratio_charts,
    side_words,
    time_charts,
)
from opperf.parent.pages.server.overview import filters_of
from opperf.parent.pages.server.view import Choice, Query, View, path
from opperf.parent.reports import report_of
from opperf.parent.reports.document import Block, Column, Document, Note, Section, plain, table
from opperf.parent.reports.history import RUNS, USUAL, WEAKER, next_command
from opperf.parent.reports.text import case_text
from opperf.parent.store.database.archive import Archive, Stored
from opperf.parent.store.database.builds import build_orders
from opperf.parent.store.database.headings import headings
from opperf.parent.store.database.history import entries
from opperf.parent.store.database.listing import Floor, floors, machines
from opperf.parent.store.database.listing import operators as listed_operators
from opperf.parent.store.database.operator_history import Times, operator_ratios, operator_times
from opperf.parent.store.database.series import Filters
from opperf.parent.store.load import read_value
from opperf.parent.workers.machine_noise import Signs, judge

#: The most rows of a table, and the most runs of a suite to draw.
MOST_ROWS, MOST_RUNS = 500, 30


def operator(archive: Archive, name: str, query: Query) -> View:
    """Return how an operator went over builds and runs, and how frameworks do it now."""
    filters, by_machine, since = filters_of(archive, query)
    times, ratio_series = operator_times(archive, name, filters), operator_ratios(archive, name, filters)
    if not times and not ratio_series:
        if any(one.operator == name for one in listed_operators(archive, filters)):
            return View(Document(name, [Note("Only noise floors of it are here: the page of its machine has them.")]))
        raise InputError(f"the database has no measurement of `{name}` for this selection", slug="missing")
    every = [*(one.series for one in times), *(one.series for one in ratio_series)]
    metrics = [name for name, metric in METRICS.items() if metric.compared is not None]
    choices = (
        Choice.of("framework", (one.framework for one in every), query),
        Choice.of("direction", (one.direction for one in every), query),
        by_machine,
        Choice.of("inputs", map(inputs, every), query),
        Choice("metric", [name for name in metrics if name != "time"], query.get("metric", ""), usual="time"),
        since,
    )
    text, metric = query.get("inputs", ""), query.get("metric") or "time"
    if metric not in metrics:
        raise InputError(f"no metric `{metric}`", hint=f"known: {', '.join(metrics)}", slug="input")
    times = [one for one in times if text in ("", inputs(one.series))]
    ratios = [one for one in ratio_series if text in ("", inputs(one.series)) and metric == one.series.metric]
    rows = [SeriesRow(one, place) for one in times for place in range(len(one.started))]
    rows.sort(key=lambda row: -row.of("started"))
    listing = table(SERIES_COLUMNS, rows[:MOST_ROWS], link=lambda row: path("runs", row.of("runs")))
    more = (
        [Note(f"{len(rows) - MOST_ROWS} earlier ones are in the JSON of their runs.")] if len(rows) > MOST_ROWS else []
    )
    figures: list[Chart] = [
        *ratio_charts(ratios, build_orders(archive)),
        *latest_charts(times, metric),
        *time_charts(times, metric),
    ]
    changes = _changes(archive, replace(filters, operator=name), text)
    return View(Document(name, [*changes, listing, *more]), figures, choices)


def _changes(archive: Archive, filters: Filters, text: str) -> list[Block]:
    """Return the changes of an operator, each with the command that follows it up."""
    every = replace(filters, since=None)
    searches = (
        named_changes(archive, every, since=filters.since),
        imported_changes(archive, every, since=filters.since),
    )
    lines = []
    for entry in (one for search in searches for one in search.changes):
        if text in ("", case_text(entry.series.case)):
            ratio, interval = math.exp(entry.change.size.log_ratio), format_ratios(entry.change.size.interval())
            where = f"{entry.series.framework} {entry.change.before} to {entry.change.after}: {ratio:.3f} {interval}"
            weak = f", {USUAL}" if entry.change.usual else ""
            weak += "" if entry.anchor else f", by absolute times: {WEAKER}"
            lines.append(Note("; ".join(filter(None, [where + weak, next_command(entry)])), kind="item"))
    return [Section("Changes", lines)] if lines else []


#: What a stored document has its rows under.
ROWS = ("records", "comparisons", "floors", "judgements")


def run(archive: Archive, key: str, query: Query) -> View:
    """Return a run as it was reported, with its charts; of many rows the first are read."""
    data = _document(archive, key)
    part = _result({name: value[:MOST_ROWS] if name in ROWS else value for name, value in data.items()}, key)
    left = sum(len(data.get(name, ())) for name in ROWS) - MOST_ROWS
    more = [Note(f"{left} more are in the CSV and JSON of this page.")] if left > 0 else []
    report = report_of(part)
    document = replace(report, title=f"Run {key}", blocks=[*report.blocks, *more])
    run = part if isinstance(part, Run) else part.run
    return View(document, charts(part), facts=facts(run), whole=lambda: report_of(_result(data, key)))


def _document(archive: Archive, key: str) -> JsonDict:
    data = archive.document_json(key)
    if data is None:
        raise InputError(f"the database has no run `{key}`", slug="missing")
    return data


def _result(data: JsonObject, key: str) -> Stored:
    result = read_value(data, f"run {key}")
    if not isinstance(result, (Run, ComparisonRun, NoiseRun, JudgedRun)):
        raise InputError(f"run {key}: neither results nor comparisons, noise floors or judgements", slug="database")
    return result


def two_runs(archive: Archive, query: Query) -> View:
    """Return two runs side by side, or the latest runs of two builds."""
    every, unreadable = headings(archive)
    recent = [one.run for one in every if one.kind == "run"]
    builds: dict[str, str] = {}
    for header in recent:
        for one in header.frameworks:
            builds.setdefault(f"{one.get('framework')} {one.get('version')}", header.id)
    names = [*builds, *(header.id for header in recent[:100])]
    choices = tuple(Choice(side, names, query.get(side, ""), usual="choose") for side in ("base", "new"))
    if not all(choice.value for choice in choices):
        notes = [Note("Choose two runs, or two builds."), *(Note(str(one)) for one in unreadable)]
        return View(Document("Two runs or builds", notes), choices=choices)
    keys = [builds.get(choice.value, choice.value) for choice in choices]
    base, new = (_result(_document(archive, key), key) for key in keys)
    if not isinstance(base, Run) or not isinstance(new, Run):
        raise InputError("a comparison cannot be compared with another run", hint="choose two runs", slug="input")
    comparison_run = of_runs(base, new, Rule())
    report = report_of(comparison_run)
    more = Note(
        "Two runs are weaker evidence than `opperf compare`, which interleaves both: small changes stay inconclusive."
    )
    title = f"{choices[1].value} beside {choices[0].value}"
    document = Document(title, [*report.blocks, more], report.data, summary=report.summary)
    return View(document, charts(comparison_run), choices)


def suites(archive: Archive, query: Query) -> View:
    """Return the suites that were measured."""
    names: dict[str, int] = {}
    every, unreadable = headings(archive)
    for one in every:
        if one.run.suite is not None:
            names[one.run.suite.name] = names.get(one.run.suite.name, 0) + 1
    columns: tuple[Column[tuple[str, int]], ...] = (
        Column("suite", "suite", lambda row: row[0]),
        Column("runs", "runs", lambda row: row[1], align="right"),
    )
    notes = [] if names else [Note("no run of a suite; `opperf capture` makes one of a model")]
    notes += [Note(str(one)) for one in unreadable]
    return View(Document("Suites", [table(columns, names.items(), link=lambda row: path("suites", row[0])), *notes]))


def suite(archive: Archive, name: str, query: Query) -> View:
    """Return the time of all calls of a suite, run by run, and the shares of its operators in the latest."""
    every, _ = headings(archive)
    keys = [one.run.id for one in every if one.run.suite is not None and one.run.suite.name == name]
    runs = [one for key in reversed(keys[:MOST_RUNS]) if (one := archive.run(key)) is not None]
    if not runs:
        raise InputError(f"the database has no run of the suite `{name}`", slug="missing")
    lines: dict[str, list[Moment]] = {}
    parts: dict[str, dict[str, list[Moment]]] = {}
    rows: list[tuple[str, str, str, float]] = []
    for number, run in enumerate(runs):
        totals: dict[str, float] = {}
        costs: dict[tuple[str, str], float] = {}
        for record in run.records:
            if record.total is not None:
                framework, operator = record.trial.side.framework, record.trial.case.operator
                totals[framework] = totals.get(framework, 0.0) + record.total
                costs[framework, operator] = costs.get((framework, operator), 0.0) + record.total
        for (framework, operator), cost in costs.items():
            share = cost / totals[framework]
            tip = f"{run.started[:10]}\n{operator} {format_percent(share)}, {format_seconds(cost)}"
            parts.setdefault(framework, {}).setdefault(operator, []).append(Moment(number, share, None, tip))
        versions = {str(facts.get("framework")): str(facts.get("version")) for facts in run.frameworks}
        for framework, total in totals.items():
            build = f"{framework} {versions.get(framework, '')}".strip()
            tip = f"{run.started[:16]}\n{build}\n{format_seconds(total)}"
            lines.setdefault(framework, []).append(Moment(number, total, None, tip))
            rows.append((run.id, run.started, build, total))
    columns: tuple[Column[tuple[str, str, str, float]], ...] = (
        Column("run", "run", lambda row: row[0]),
        Column("started", "measured", lambda row: row[1], lambda text: text[:16].replace("T", " ")),
        Column("build", "build", lambda row: row[2]),
        Column("total_s", "all calls", lambda row: row[3], format_seconds, "right"),
    )
    caption = "Number of calls times the time of one call, over the cases that were measured."
    dates = [one.started[:10] for one in runs]
    all_calls = History("All calls", caption, dates, [Line(*line) for line in lines.items()], format_seconds)
    over_time = [_shares_over_runs(*part, dates) for part in parts.items()]
    shares = [*over_time, *(chart for chart in charts(runs[-1]) if chart.title.startswith("Shares"))]
    listing = table(columns, rows[::-1], link=lambda row: path("runs", row[0]))
    return View(Document(f"Suite {name}", [listing]), [all_calls, *shares])


def _shares_over_runs(framework: str, operators: Mapping[str, Sequence[Moment]], dates: Sequence[str]) -> History:
    """Return how the shares of the operators that take most went over runs."""
    largest = sorted(operators, key=lambda name: -operators[name][-1].value)[:COLORS]
    lines = [Line(name, operators[name]) for name in largest]
    caption = f"The {len(lines)} operators that take the most time." if len(operators) > len(lines) else "Of all calls."
    return History(f"Shares over runs: {framework}", caption, dates, lines, format_percent)


def machine(archive: Archive, key: str, query: Query) -> View:
    """Return the facts of a machine, its sources of noise, how far identical code moves on it, and its runs."""
    host = next((one for one in machines(archive) if str(one.id) == key), None)
    if host is None:
        raise InputError(f"the database has no machine `{key}`", slug="missing")
    doubts = judge(Signs.of(host.facts))
    runs = [one for one in entries(archive, most=MOST_ROWS) if one.machine == host.name]
    floors_here = floors(archive, host.id)
    none = Note("none was measured: `opperf noise ... --output FILE`, then `opperf history add FILE`")
    of_operators = table(FLOORS, floors_here, link=lambda one: path("operators", one.operator, framework=one.framework))
    blocks: list[Block] = [
        Section("What makes it noisy", [Note(f"{one.slug}: {one.message}") for one in doubts] or [Note("nothing")]),
        Section("Noise floors", [of_operators if floors_here else none]),
        Section("Runs", [table(RUNS, runs, link=lambda one: path("runs", one.key))]),
    ]
    plain = {
        name.replace("_", " "): format_bytes(value) if name.startswith("memory") and type(value) is int else str(value)
        for name, value in host.facts.items()
        if isinstance(value, (str, int, float))
    }
    return View(Document(host.name, blocks), facts=plain)


def _change(log_ratio: float) -> str:
    return format_percent(math.expm1(log_ratio))


FLOORS: tuple[Column[Floor], ...] = (
    Column("operator", "operator", lambda one: one.operator),
    Column("inputs", "inputs", lambda one: case_text(Case.from_json(one.case, "case"))),
    Column("direction", "direction", lambda one: one.direction),
    Column("framework", "framework", lambda one: one.framework),
    Column("moved", "live floor", lambda one: one.moved, _change, "right"),
    Column("between", "between processes", lambda one: one.between, _change, "right"),
    Column("measured", "measured", lambda one: one.measured.isoformat(), lambda text: text[:10]),
)


@dataclass(frozen=True)
class SeriesRow:
    """A row of the columns of a series."""

    times: Times
    place: int

    def of(self, column: str) -> Any:
        """Return the cell of a column in this row."""
        return getattr(self.times, column)[self.place]


def _column(name: str, title: str, column: str, show: Callable[[Any], str] = plain) -> Column[SeriesRow]:
    return Column(name, title, lambda row: row.of(column), show, "left" if show is plain else "right")


def _figure(metric: Metric) -> Column[SeriesRow]:
    name = f"{metric.name}_{metric.unit.suffix}"
    title = metric.title or metric.words
    return Column(name, title, lambda row: row.of("metrics").get(metric.name), metric.unit.show, "right")


SERIES_COLUMNS: tuple[Column[SeriesRow], ...] = (
    _column("run", "run", "runs"),
    Column(
        "started",
        "measured",
        lambda row: shown_moment(row.of("started")).isoformat(),
        lambda text: text[:16].replace("T", " "),
    ),
    Column("side", "side", lambda row: side_words(row.times.series)),
    _column("version", "version", "builds"),
    Column("inputs", "inputs", lambda row: inputs(row.times.series), presence="varied"),
    Column("direction", "direction", lambda row: row.times.series.direction, presence="varied"),
    Column("machine", "machine", lambda row: row.times.series.machine_name, presence="varied"),
    _column("time_s", "time", "times", format_seconds),
    _column("low_s", "low", "lows", format_seconds),
    _column("high_s", "high", "highs", format_seconds),
    *(_figure(metric) for name, metric in METRICS.items() if metric.compared is not None and name != "time"),
    Column("status", "status", lambda row: row.of("statuses"), presence="varied", usual="ok"),
)
