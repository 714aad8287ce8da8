"""The pages of one thing: an operator, a run, two runs or builds, a suite, a machine."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from opperf.domain.comparison import ComparisonRun
from opperf.domain.errors import InputError
from opperf.domain.record import Record, Run
from opperf.domain.units import format_percent, format_ratios, format_seconds
from opperf.parent.analysis.change_points import changes, points
from opperf.parent.analysis.ratio_graph import Edge
from opperf.parent.analysis.verdict import Rule
from opperf.parent.compare import recorded
from opperf.parent.pages.charts import Chart
from opperf.parent.pages.charts.history import History, Line, Moment, Step
from opperf.parent.pages.figures import charts
from opperf.parent.pages.frozen import facts
from opperf.parent.pages.server.view import Choice, Query, View, path
from opperf.parent.reports import report_of
from opperf.parent.reports.columns import floor
from opperf.parent.reports.document import Block, Column, Document, Note, Section, table
from opperf.parent.reports.history import OBSERVATIONS, RUNS
from opperf.parent.reports.run import table_of
from opperf.parent.reports.text import case_text, place
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.history import History as Measured
from opperf.parent.store.database.history import Ratios, entries, histories, ratios
from opperf.parent.store.database.latest import document as stored
from opperf.parent.store.database.latest import headings, machines
from opperf.parent.workers.machine_noise import Signs, judge

#: So many charts a page has at most, and so many runs of a suite.
MOST, MOST_RUNS = 12, 30


def operator(archive: Archive, name: str, query: Query) -> View:
    """Return how an operator went over builds and runs, and how frameworks do it now."""
    measured, compared = histories(archive, name), ratios(archive, operator=name)
    everything: list[Measured | Ratios] = [*measured, *compared]
    if not everything:
        raise InputError(f"the database has no measurement of `{name}`", slug="missing")
    choices = (
        Choice.of("framework", (one.framework for one in everything), query),
        Choice.of("direction", (one.direction for one in everything), query),
        Choice.of("machine", (one.machine for one in everything), query),
        Choice.of("inputs", (case_text(one.case) for one in everything), query),
    )

    def matches(one: Measured | Ratios) -> bool:
        own = (one.framework, one.direction, one.machine, case_text(one.case))
        return all(choice.value in ("", value) for choice, value in zip(choices, own, strict=True))

    measured, compared = [*filter(matches, measured)], [*filter(matches, compared)]
    rows = [(history, one) for history in measured for one in reversed(history.observations)]
    latest = max((one for _, one in rows), key=lambda one: one.started, default=None)
    run = None if latest is None else archive.run(latest.run)
    records = [record for record in run or () if record.trial.case.operator == name and record.time is not None]
    own = (
        []
        if run is None or not records
        else charts(Run(run.id, run.started, run.command, run.settings, records=tuple(records)))
    )
    blocks: list[Block] = [
        *([Section(f"Latest run: {run.started[:10]}", [table_of(records)])] if run is not None and records else []),
        Section(
            "Every measurement",
            [table((OBSERVATIONS[-1], *OBSERVATIONS[:-1]), rows, link=lambda row: path("runs", row[1].run))],
        ),
    ]
    several: list[Chart] = [*map(_ratios, compared[:MOST]), *_times(measured)]
    return View(Document(name, blocks), [*several[:MOST], *own], choices)


def _ratios(series: Ratios) -> History:
    """Return the chart of a series of ratios to its anchor, with the changes in it."""
    anchor, builds = points([Edge(one.base, one.new, one.estimate) for one in series.ratios])
    places = {point.build: place for place, point in enumerate(builds)}
    moments = []
    for point in builds:
        level, interval = math.exp(point.level.log_ratio), point.level.interval()
        text = f"{point.build}\n{level:.3f} {format_ratios(interval)} of {anchor}"
        moments.append(Moment(places[point.build], level, interval, text))
    steps = []
    for change in changes(builds):
        ratio, interval = math.exp(change.size.log_ratio), change.size.interval()
        words = f"{change.before} to {change.after}: {ratio:.3f} {format_ratios(interval)}"
        text = f"{'+' if ratio > 1 else ''}{format_percent(ratio - 1)}{'' if change.confirmed else ' ?'}"
        steps.append(Step(places[change.after], text, "slower" if ratio > 1 else "faster", words))
    direction = "" if series.direction == "forward" else f" {series.direction}"
    return History(
        f"{series.framework}{direction} against {anchor}: {case_text(series.case)}",
        "Ratio of each build to the anchor, with its interval; a machine that changes does not move it."
        + (" A dashed line is a change, ? one that the next build has to confirm." if steps else ""),
        [point.build for point in builds],
        [Line(series.framework, moments)],
        lambda ratio: f"{ratio:.3g}",
        steps,
        mark=1.0,
    )


def _times(measured: Sequence[Measured]) -> Iterator[History]:
    """Yield a chart of times for each case, direction and machine, with a line for each side."""
    groups: dict[tuple[str, str, str], list[Measured]] = {}
    for one in measured:
        groups.setdefault((case_text(one.case), one.direction, one.machine), []).append(one)
    for (text, direction, machine), several in groups.items():
        runs = sorted({(one.started, one.run) for history in several for one in history.observations})
        places = {run: place for place, (_, run) in enumerate(runs)}
        lines = []
        for history in several:
            side = history.side
            extra = (side.get("mode"), side.get("device"), f"{side.get('threads')} threads")
            words = [
                history.framework,
                *(word for word in map(str, extra) if word not in ("eager", "cpu", "1 threads")),
            ]
            moments = [
                Moment(
                    places[one.run],
                    one.time,
                    one.interval,
                    f"{one.started:%Y-%m-%d %H:%M}\n{words[0]} {one.version or ''}\n{format_seconds(one.time)}",
                )
                for one in history.observations
                if one.time
            ]
            lines += [Line(" ".join(words), moments)] if moments else []
        if lines:
            caption = f"Times as they were measured on {machine}: they also move with what else it did."
            title = f"Time of one call{'' if direction == 'forward' else f', {direction}'}: {text}"
            yield History(title, caption, [f"{started:%Y-%m-%d}" for started, _ in runs], lines, format_seconds)


def run(archive: Archive, key: str, query: Query) -> View:
    """Return a run as it was reported, with its charts."""
    result = _stored(archive, key)
    report = replace(report_of(result), title=f"Run {key}")
    return View(report, charts(result), facts=facts(result if isinstance(result, Run) else result.run))


def _stored(archive: Archive, key: str) -> Run | ComparisonRun:
    result = stored(archive, key)
    if result is None:
        raise InputError(f"the database has no run `{key}`", slug="missing")
    return result


def beside(archive: Archive, query: Query) -> View:
    """Return two runs beside each other, or the latest runs of two builds."""
    recent = [one.run for one in headings(archive) if one.kind == "run"]
    builds: dict[str, str] = {}
    for header in recent:
        for one in header.frameworks:
            builds.setdefault(f"{one.get('framework')} {one.get('version')}", header.id)
    names = [*builds, *(header.id for header in recent[:100])]
    choices = (Choice("base", names, query.get("base", "")), Choice("new", names, query.get("new", "")))
    if not all(choice.value for choice in choices):
        return View(Document("Two runs or builds", [Note("Choose two runs, or two builds.")]), choices=choices)
    base, new = (_stored(archive, builds.get(choice.value, choice.value)) for choice in choices)
    if not isinstance(base, Run) or not isinstance(new, Run):
        raise InputError("a comparison stands beside no other run", hint="choose two runs", slug="input")
    compared = recorded(base, new, Rule())
    report = report_of(compared)
    more = Note("Two runs say less than `opperf compare`, which measures both in turn: small changes stay open here.")
    title = f"{choices[1].value} beside {choices[0].value}"
    document = Document(title, [*report.blocks, more], report.data, summary=report.summary)
    return View(document, charts(compared), choices)


def suites(archive: Archive, query: Query) -> View:
    """Return the suites that were measured."""
    names: dict[str, int] = {}
    for one in headings(archive):
        if one.run.suite is not None:
            names[one.run.suite.name] = names.get(one.run.suite.name, 0) + 1
    columns: tuple[Column[tuple[str, int]], ...] = (
        Column("suite", "suite", lambda row: row[0]),
        Column("runs", "runs", lambda row: row[1], align="right"),
    )
    none = [] if names else [Note("no run of a suite; `opperf capture` makes one of a model")]
    return View(Document("Suites", [table(columns, names.items(), link=lambda row: path("suites", row[0])), *none]))


def suite(archive: Archive, name: str, query: Query) -> View:
    """Return what all calls of a suite took, run by run, and the shares of its operators in the latest."""
    keys = [one.run.id for one in headings(archive) if one.run.suite is not None and one.run.suite.name == name]
    several = [one for key in reversed(keys[:MOST_RUNS]) if isinstance(one := stored(archive, key), Run)]
    if not several:
        raise InputError(f"the database has no run of the suite `{name}`", slug="missing")
    lines: dict[str, list[Moment]] = {}
    rows: list[tuple[str, str, str, float]] = []
    for number, one in enumerate(several):
        totals: dict[str, float] = {}
        for record in one.records:
            if record.total is not None:
                totals[record.trial.side.framework] = totals.get(record.trial.side.framework, 0.0) + record.total
        versions = {str(facts.get("framework")): str(facts.get("version")) for facts in one.frameworks}
        for framework, total in totals.items():
            build = f"{framework} {versions.get(framework, '')}".strip()
            tip = f"{one.started[:16]}\n{build}\n{format_seconds(total)}"
            lines.setdefault(framework, []).append(Moment(number, total, None, tip))
            rows.append((one.id, one.started, build, total))
    columns: tuple[Column[tuple[str, str, str, float]], ...] = (
        Column("run", "run", lambda row: row[0]),
        Column("started", "measured", lambda row: row[1], lambda text: text[:16].replace("T", " ")),
        Column("build", "build", lambda row: row[2]),
        Column("total_s", "all calls", lambda row: row[3], format_seconds, "right"),
    )
    caption = "Calls times the time of one, over the cases that were measured."
    dates = [one.started[:10] for one in several]
    whole = History("All calls", caption, dates, [Line(*line) for line in lines.items()], format_seconds)
    shares = [chart for chart in charts(several[-1]) if chart.title.startswith("Shares")]
    listing = table(columns, rows[::-1], link=lambda row: path("runs", row[0]))
    return View(Document(f"Suite {name}", [listing]), [whole, *shares])


def machine(archive: Archive, key: str, query: Query) -> View:
    """Return what a machine says of itself, what makes it noisy, how far identical code moves on it, and its runs."""
    own = next((one for one in machines(archive) if str(one.id) == key), None)
    if own is None:
        raise InputError(f"the database has no machine `{key}`", slug="missing")
    signs = {name: own.facts[name] for name in Signs.__dataclass_fields__ if name in own.facts}
    doubts = judge(Signs(**{"cores": own.facts.get("cores_logical") or 1, **signs}))
    several = [one for one in entries(archive, most=1000) if one.machine == own.name]
    floors = _floors(archive, [one.run.id for one in headings(archive) if str(one.machine) == key])
    blocks: list[Block] = [
        Section(
            "What makes it noisy", [Note(f"{doubt.slug}: {doubt.message}") for doubt in doubts] or [Note("nothing")]
        ),
        Section(
            "Noise floors",
            [table(FLOORS, floors)] if floors else [Note("no run had one: `opperf noise` measures them")],
        ),
        Section("Runs", [table(RUNS, several[:100], link=lambda one: path("runs", one.key))]),
    ]
    plain = {name: str(value) for name, value in own.facts.items() if isinstance(value, (str, int, float))}
    return View(Document(own.name, blocks), facts=plain)


def _floors(archive: Archive, keys: Sequence[str]) -> list[Record]:
    """Return the records of the latest run that knew noise floors."""
    for key in keys[:MOST]:
        floors = [record for record in archive.run(key) or () if record.details.noise_floor is not None]
        if floors:
            return floors
    return []


FLOORS: tuple[Column[Record], ...] = (
    Column("operator", "operator", lambda record: record.trial.case.operator),
    Column("inputs", "inputs", lambda record: case_text(record.trial.case)),
    Column("direction", "direction", lambda record: record.trial.direction),
    Column("side", "side", lambda record: place(record.trial.side)),
    Column("noise_floor", "floor", floor, format_percent, "right"),
)
