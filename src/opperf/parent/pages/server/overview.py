"""The first page and the lists: what moved between builds, what there is, its runs and machines, a search."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from operator import attrgetter

from opperf.catalog import catalog
from opperf.domain.case import Case
from opperf.domain.dataclass import dataclass
from opperf.domain.units import format_ratios, format_seconds, plural
from opperf.parent.commands.history import day
from opperf.parent.pages.charts.intervals import Intervals, Row
from opperf.parent.pages.server.view import Choice, Query, View, path
from opperf.parent.reports.document import Block, Column, Document, Note, Section, table
from opperf.parent.reports.history import RUNS
from opperf.parent.reports.text import case_text
from opperf.parent.store.database import listing
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.builds import Build, builds
from opperf.parent.store.database.history import Entry
from opperf.parent.store.database.listing import Hit, Machine, OperatorEntry
from opperf.parent.store.database.overview import Mover, Overview
from opperf.parent.store.database.overview import overview as read_overview
from opperf.parent.store.database.series import Filters

#: The most changes to draw, and the most rows of a table; what moved most comes first.
MOST, MOST_ROWS = 20, 1500
CHANGES = ("slower", "faster")
WEAK = "of times of different runs, which also depend on what else the machine was doing, so they decide nothing"


def filters_of(archive: Archive, query: Query) -> tuple[Filters, Choice, Choice]:
    """Return the part of a database that a URL selects, and the filters of machines, by name, and of days."""
    names = {one.name: one.id for one in listing.machines(archive)}
    machine, since = Choice.of("machine", names, query), Choice("since", (), query.get("since", ""), day=True)
    filters = Filters(
        category=query.get("category") or None,
        framework=query.get("framework") or None,
        direction=query.get("direction") or None,
        machine=names.get(machine.value, 0) if machine.value else None,
        since=day(since.value or None),
    )
    return filters, machine, since


def categories(entries: Sequence[OperatorEntry], query: Query) -> Choice:
    """Return the filter of categories: those that were measured."""
    return Choice.of("category", (one.category or "" for one in entries), query)


def overview(archive: Archive, query: Query) -> View:
    """Return how a build stands to its anchor, the largest change first, and how much of the catalog was measured."""
    filters, machines, since = filters_of(archive, query)
    every, entries = builds(archive), listing.operators(archive)
    board = read_overview(
        archive, build=query.get("build") or None, anchor=query.get("anchor") or None, filters=filters, most=MOST_ROWS
    )
    framework = board.framework if board else ""
    versions = [one.version for one in every if one.framework == framework]
    choices = (
        Choice.of("framework", (one.framework for one in every), query, usual="latest"),
        Choice.of("build", versions, query, usual="latest"),
        Choice.of("anchor", versions, query, usual="most compared"),
        categories(entries, query),
        machines,
        Choice.of("verdict", board.verdicts if board else (), query),
        since,
    )
    coverage = Section("Coverage", [table(COVERAGE, _coverage(entries, every), link=attrgetter("link"))])
    recent = Section("Latest runs", [_runs(listing.runs(archive, most=10))])
    if board is None:
        none = "an overview needs two builds of a framework; `opperf history add FILE` adds results"
        return View(Document("What changed", [Note(none), coverage, recent]), choices=choices)
    rows = [one for one in board.movers if query.get("verdict") in (None, "", one.verdict)]
    counts = ", ".join(f"{count} {word}" for word, count in board.verdicts.items())
    total = sum(board.verdicts.values())
    more = [Note(f"{total - MOST_ROWS} that moved less are not shown.")] if total > MOST_ROWS else []
    movers = table(MOVERS, rows, link=lambda one: path("operators", one.series.operator, framework=framework))
    title = f"{framework} {board.build} against {board.anchor}"
    weak = f" {WEAK}" if board.evidence == "times" else ""
    summary = f"{plural(total, 'ratio')}{weak}: {counts}"
    days = {one.version: (one.first, one.last) for one in every if one.framework == framework}
    facts = {
        what: f"{version}, measured {_days(*days[version])}"
        for what, version in (("build", board.build), ("anchor", board.anchor))
    }
    document = Document(title, [movers, *more, coverage, recent], summary=summary)
    return View(document, _largest(board, rows), choices, facts)


def _days(first: datetime, last: datetime) -> str:
    """Write when a build was measured.

    >>> _days(datetime(2026, 11, 1), datetime(2026, 11, 3))
    '2026-11-01 to 2026-11-03'
    """
    return f"{first:%Y-%m-%d}" if first.date() == last.date() else f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"


def _largest(board: Overview, rows: Sequence[Mover]) -> list[Intervals]:
    movers = [one for one in rows if one.ratio is not None and one.verdict in (*CHANGES, None)][:MOST]
    if not movers:
        return []
    lines = [
        Row(
            mover.series.operator,
            " ".join((*([mover.series.direction] if mover.series.direction != "forward" else []), _inputs(mover))),
            mover.ratio,
            _interval(mover),
            f"{mover.ratio:.3f} {mover.verdict or ''}".rstrip(),
            mover.verdict or "inconclusive",
            tip=f"{mover.ratio:.3f} {format_ratios(_interval(mover))}\n"
            f"{format_seconds(mover.base_time)} in {board.anchor}, {format_seconds(mover.new_time)} in {board.build}",
        )
        for mover in movers
    ]
    caption = f"Time in {board.build} over time in {board.anchor}; right of 1 is slower."
    return [Intervals("Largest changes", caption, lines, lambda ratio: f"{ratio:g}", mark=1.0)]


def _inputs(one: Mover) -> str:
    return case_text(Case.from_json(one.series.case, "case"))


def _interval(one: Mover) -> tuple[float, float] | None:
    return None if one.low is None or one.high is None else (one.low, one.high)


@dataclass(frozen=True)
class Coverage:
    """How many operators of a framework were measured, how many of the catalog's, and in which versions."""

    framework: str
    operators: int
    of_catalog: int
    versions: str

    @property
    def link(self) -> str:
        """Where they are listed."""
        return path("operators", framework=self.framework)


def _coverage(entries: Sequence[OperatorEntry], builds: Sequence[Build]) -> list[Coverage]:
    by_framework = attrgetter("framework")
    versions: dict[str, list[str]] = {}
    for build in builds:
        versions.setdefault(build.framework, []).append(build.version)
    rows = []
    for framework, own in groupby(sorted(entries, key=by_framework), key=by_framework):
        names = {entry.operator for entry in own}
        latest = ", ".join(versions.get(framework, ())[:6])
        rows.append(Coverage(framework, len(names), len(names & catalog().keys()), latest))
    return rows


def operators(archive: Archive, query: Query) -> View:
    """Return every operator that was measured, in each framework."""
    filters, machines, _ = filters_of(archive, query)
    every, rows = listing.operators(archive), listing.operators(archive, filters)
    choices = (Choice.of("framework", (one.framework for one in every), query), categories(every, query), machines)
    several = table(OPERATORS, rows, link=lambda row: path("operators", row.operator, framework=row.framework))
    count = len({row.operator for row in rows})
    return View(Document("Operators", [several], summary=_count(count, "operator")), choices=choices)


def runs(archive: Archive, query: Query) -> View:
    """Return the runs, latest first."""
    filters, machines, since = filters_of(archive, query)
    several = listing.runs(archive, since=filters.since, most=MOST_ROWS)
    kinds = Choice.of("kind", (one.kind for one in several), query)
    rows = [one for one in several if all(getattr(one, c.name) == c.value for c in (machines, kinds) if c.value)]
    choices = (machines, kinds, since)
    return View(Document("Runs", [_runs(rows)], summary=_count(len(rows), "run")), choices=choices)


def search(archive: Archive, query: Query) -> View:
    """Return operators, builds, machines and runs that have a text in their names or labels."""
    text = query.get("q", "")
    hits = listing.search(archive, text)
    title = f"Search: {text}" if text else "Search"
    blocks = [table(HITS, hits, link=_place)] if hits else [Note("nothing" if text else "Nothing to search for.")]
    return View(Document(title, blocks, summary=_count(len(hits), "hit") if text else ""))


def _place(hit: Hit) -> str:
    if hit.kind == "build":
        return path(framework=hit.text.removesuffix(f" {hit.key}"), build=hit.key)
    return path(f"{hit.kind}s", hit.key)


def machine_list(archive: Archive, query: Query) -> View:
    """Return the machines."""
    several = table(MACHINES, listing.machines(archive), link=lambda one: path("machines", str(one.id)))
    return View(Document("Machines", [several]))


def _runs(several: Sequence[Entry]) -> Block:
    return table(RUNS, several, link=lambda one: path("runs", one.key))


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _minute(text: str) -> str:
    return text[:16].replace("T", " ")


MOVERS: tuple[Column[Mover], ...] = (
    Column("operator", "operator", lambda one: one.series.operator),
    Column("ratio", "ratio", lambda one: one.ratio, lambda ratio: "" if ratio is None else f"{ratio:.3f}", "right"),
    Column("low", None, lambda one: one.low),
    Column("high", None, lambda one: one.high),
    Column(None, "interval", _interval, format_ratios, "right"),
    Column("verdict", "verdict", lambda one: one.verdict),
    Column("inputs", "inputs", _inputs),
    Column("direction", "direction", lambda one: one.series.direction, presence="varied"),
    Column("mode", "mode", lambda one: one.series.side.get("mode"), presence="varied", usual="eager"),
    Column("threads", "threads", lambda one: one.series.side.get("threads"), presence="varied", usual=1),
    Column("base_time_s", "anchor", lambda one: one.base_time, format_seconds, "right"),
    Column("new_time_s", "build", lambda one: one.new_time, format_seconds, "right"),
    Column("machine", "machine", lambda one: one.series.machine_name, presence="varied"),
    Column("run", None, lambda one: one.run),
)

OPERATORS: tuple[Column[OperatorEntry], ...] = (
    Column("operator", "operator", lambda one: one.operator),
    Column("category", "category", lambda one: one.category),
    Column("framework", "framework", lambda one: one.framework),
    Column("cases", "cases", lambda one: one.cases, align="right"),
    Column("series", "series", lambda one: one.series, align="right"),
)

MACHINES: tuple[Column[Machine], ...] = (
    Column("machine", "machine", lambda one: one.name),
    Column("id", None, lambda one: one.id),
    Column("runs", "runs", lambda one: one.runs, align="right"),
    Column("last", "last", lambda one: one.last.isoformat() if one.last else "", _minute),
)

HITS: tuple[Column[Hit], ...] = (
    Column("text", "name", lambda hit: hit.text if hit.kind != "run" else hit.key),
    Column("kind", "kind", lambda hit: hit.kind),
    Column("about", "about", lambda hit: hit.text if hit.kind == "run" else ""),
    Column("key", None, lambda hit: hit.key),
)

COVERAGE: tuple[Column[Coverage], ...] = (
    Column("framework", "framework", lambda one: one.framework),
    Column("operators", "operators", lambda one: one.operators, align="right"),
    Column("of_catalog", "of the catalog", lambda one: one.of_catalog, lambda n: f"{n} of {len(catalog())}", "right"),
    Column("versions", "versions", lambda one: one.versions),
)
