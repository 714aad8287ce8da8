"""The pages of suites: all calls of one together, run by run and side against side, and the shares of its operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.record import Run
from opperf.domain.units import format_percent, format_ratio, format_ratios, format_seconds
from opperf.parent.analysis.summary import with_shares
from opperf.parent.documents.comparison import ComparisonRun
from opperf.parent.documents.wholes import Whole, wholes
from opperf.parent.pages.charts import Chart
from opperf.parent.pages.charts.drawing import COLORS
from opperf.parent.pages.charts.history import History, Line, Moment
from opperf.parent.pages.record_figures import shares
from opperf.parent.pages.server.cache import Cache
from opperf.parent.pages.server.details import read_result
from opperf.parent.pages.server.view import Query, View, path
from opperf.parent.reports.comparison_rows import side_text
from opperf.parent.reports.document import Block, Column, Document, Note, Section, table
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.headings import Heading, costs, headings

#: The most runs of a suite to draw, and those of which something is kept.
MOST_RUNS, MOST_KEPT = 30, 300


def suites(archive: Archive, query: Query) -> View:
    """Return the suites that were measured or compared."""
    every, unreadable = headings(archive)
    names = Counter(entry.run.suite.name for entry in every if entry.run.suite is not None)
    columns: tuple[Column[tuple[str, int]], ...] = (
        Column("suite", "suite", lambda row: row[0]),
        Column("runs", "runs", lambda row: row[1], align="right"),
    )
    notes = [] if names else [Note("no run of a suite; `opperf capture` makes one of a model")]
    notes += [Note(str(reason)) for reason in unreadable]
    return View(Document("Suites", [table(columns, names.items(), link=lambda row: path("suites", row[0])), *notes]))


@dataclass(frozen=True)
class Total:
    """What all calls of a suite took in a run on a framework, in seconds, and the part of each operator."""

    run: Run
    framework: str
    costs: Mapping[str, float]

    @property
    def seconds(self) -> float:
        """The time of all calls."""
        return sum(self.costs.values())

    @property
    def build(self) -> str:
        """The framework and its version."""
        versions = {str(facts.get("framework")): str(facts.get("version")) for facts in self.run.frameworks}
        return f"{self.framework} {versions.get(self.framework, '')}".strip()


@dataclass(frozen=True)
class SuiteRun:
    """What is shown of a run of a suite: the time of all calls on each framework, or the ratios that were compared."""

    run: Run
    totals: Sequence[Total] = ()
    wholes: Sequence[Whole] = ()


#: What was read of runs, by their ids and what is in them; and the shares of the operators in some.
_runs: Cache[SuiteRun] = Cache(MOST_KEPT)
_shares: Cache[list[Chart]] = Cache(MOST_KEPT)


def suite(archive: Archive, name: str, query: Query) -> View:
    """Return the time of all calls of a suite, run by run, its comparisons, and the shares of its operators."""
    every, _ = headings(archive)
    matching = [entry for entry in every if entry.run.suite is not None and entry.run.suite.name == name][:MOST_RUNS]
    if not matching:
        raise InputError(f"the database has no run of the suite `{name}`", slug="missing")
    runs = [_runs.get(entry.run.id, entry.content, partial(_read, archive, entry)) for entry in matching[::-1]]
    totals = [total for entry in runs for total in entry.totals]
    blocks: list[Block] = []
    if totals:
        blocks.append(table(TOTALS, totals[::-1]))
    rows = [(entry.run, whole) for entry in runs[::-1] for whole in entry.wholes]
    if rows:
        blocks.append(Section("Comparisons of all calls", [table(WHOLES, rows)]))
    charts = _charts(totals)
    if totals:
        latest = totals[-1].run.id
        content = next(entry.content for entry in matching if entry.run.id == latest)
        charts += _shares.get(latest, content, partial(_latest_shares, archive, latest))
    return View(Document(f"Suite {name}", blocks), charts)


def _read(archive: Archive, heading: Heading) -> SuiteRun:
    run = heading.run
    if heading.kind == "run":
        return SuiteRun(run, [Total(run, framework, parts) for framework, parts in costs(archive, run.id).items()])
    result = read_result(archive, run.id)
    return SuiteRun(run, wholes=wholes(result.comparisons) if isinstance(result, ComparisonRun) else ())


def _latest_shares(archive: Archive, key: str) -> list[Chart]:
    result = read_result(archive, key)
    records = with_shares(result.records) if isinstance(result, Run) else ()
    return [*shares([record for record in records if record.time is not None])]


def _charts(totals: Sequence[Total]) -> list[Chart]:
    if not totals:
        return []
    runs = {total.run.id: total.run for total in totals}
    places, dates = {key: number for number, key in enumerate(runs)}, [run.started[:10] for run in runs.values()]
    lines: dict[str, list[Moment]] = {}
    shares: dict[str, dict[str, list[Moment]]] = {}
    for total in totals:
        place = places[total.run.id]
        tip = f"{total.run.started[:16]}\n{total.build}\n{format_seconds(total.seconds)}"
        lines.setdefault(total.framework, []).append(Moment(place, total.seconds, None, tip))
        for operator, cost in total.costs.items():
            share = cost / total.seconds
            tip = f"{total.run.started[:10]}\n{operator} {format_percent(share)}, {format_seconds(cost)}"
            moments = shares.setdefault(total.framework, {}).setdefault(operator, [])
            moments.append(Moment(place, share, None, tip))
    caption = "Number of calls times the time of one call, over the cases that were measured."
    all_calls = History("All calls", caption, dates, [Line(*line) for line in lines.items()], format_seconds)
    over_runs = [_shares_over_runs(*part, dates) for part in shares.items()]
    return [all_calls, *over_runs]


def _shares_over_runs(framework: str, operators: Mapping[str, Sequence[Moment]], dates: Sequence[str]) -> History:
    """Return how the shares of the operators that take most went over runs."""
    largest = sorted(operators, key=lambda name: -operators[name][-1].value)[:COLORS]
    lines = [Line(name, operators[name]) for name in largest]
    caption = f"The {len(lines)} operators that take the most time." if len(operators) > len(lines) else "Of all calls."
    return History(f"Shares over runs: {framework}", caption, dates, lines, format_percent)


TOTALS: tuple[Column[Total], ...] = (
    Column("run", "run", lambda row: row.run.id, place=1, link=lambda row: path("runs", row.run.id)),
    Column("started", "measured", lambda row: row.run.started, lambda text: text[:16].replace("T", " ")),
    Column("build", "build", lambda row: row.build),
    Column("total_s", "all calls", lambda row: row.seconds, format_seconds, "right", place=-1),
)

WHOLES: tuple[Column[tuple[Run, Whole]], ...] = (
    Column("run", "run", lambda row: row[0].id, place=1, link=lambda row: path("runs", row[0].id)),
    Column("ratio", "ratio", lambda row: row[1].ratio, format_ratio, "right"),
    Column("low", None, lambda row: (row[1].interval or (None, None))[0]),
    Column("high", None, lambda row: (row[1].interval or (None, None))[1]),
    Column(None, "interval", lambda row: row[1].interval, format_ratios, "right"),
    Column("base", "base", lambda row: side_text(row[1].base, row[1].new)),
    Column("new", "new", lambda row: side_text(row[1].new, row[1].base)),
    Column("base_time_s", "base time", lambda row: row[1].base_time, format_seconds, "right"),
    Column("new_time_s", "time", lambda row: row[1].new_time, format_seconds, "right"),
    Column("started", "measured", lambda row: row[0].started, lambda text: text[:16].replace("T", " ")),
)
