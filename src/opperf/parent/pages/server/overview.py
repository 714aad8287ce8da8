"""The first page and the lists: what moved between builds, what there is, its runs and machines, a search."""

from __future__ import annotations

import math
from collections.abc import Sequence

from opperf.catalog import catalog, categories
from opperf.domain.units import format_ratios
from opperf.parent.pages.charts.intervals import Intervals, Row
from opperf.parent.pages.server.view import Choice, Query, View, path
from opperf.parent.reports.document import Block, Column, Document, Note, Section, table
from opperf.parent.reports.history import RUNS
from opperf.parent.reports.text import case_text
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.history import Entry, entries
from opperf.parent.store.database.latest import Holding, Machine, Standing, holdings, machines, standings

#: So many movers are drawn; the table below has all.
MOST = 20
MOVED = ("slower", "faster")


def overview(archive: Archive, query: Query) -> View:
    """Return what the latest comparisons say, the largest change first, and how much of the catalog was measured."""
    every, there = standings(archive), holdings(archive)
    choices = (
        Choice.of("framework", (one.framework for one in every), query),
        Choice.of("category", categories(), query),
        Choice.of("build", (one.new for one in every), query),
        Choice.of("anchor", (one.base for one in every), query),
        Choice.of("machine", (one.machine for one in every), query),
        Choice.of("verdict", (one.verdict for one in every), query),
    )
    values = {choice.name: choice.value for choice in choices if choice.value}
    # The last of each case: without a choice, of the latest build.
    last = {
        (one.case.id, one.direction, one.framework, one.machine): one
        for one in every
        if all(_facts(one)[name] == value for name, value in values.items())
    }
    rows = sorted(last.values(), key=_importance)
    counts = {word: sum(one.verdict == word for one in rows) for word in dict.fromkeys(one.verdict for one in rows)}
    summary = f"{len(rows)} cases: {', '.join(f'{count} {word}' for word, count in counts.items())}" if rows else ""
    none = "no comparison of builds; `opperf compare ... --output FILE` and `opperf history add FILE` bring some"
    blocks: list[Block] = [
        table(STANDINGS, rows, link=lambda one: path("operators", one.case.operator)),
        *([] if rows else [Note(none)]),
        Section("Coverage", [table(COVERAGE, there, link=lambda one: path("operators", framework=one.framework))]),
        Section("Latest runs", [_runs(entries(archive, most=10))]),
    ]
    return View(Document("What changed", blocks, summary=summary), _movers(rows), choices)


def _importance(one: Standing) -> tuple[bool, float]:
    """Return what rows are ordered by: changes first, the largest before others."""
    return one.verdict not in MOVED, -abs(math.log(one.ratio)) if one.ratio else 0.0


def _facts(one: Standing) -> dict[str, str]:
    """Return what a row can be values by."""
    declared = catalog().get(one.case.operator)
    category = "" if declared is None else declared.category
    facts = {"framework": one.framework, "category": category, "build": one.new, "anchor": one.base}
    return {**facts, "machine": one.machine, "verdict": one.verdict}


def _movers(rows: Sequence[Standing]) -> list[Intervals]:
    movers = [one for one in rows if one.ratio is not None and one.verdict in MOVED][:MOST]
    if not movers:
        return []
    lines = [
        Row(
            one.case.operator,
            f"{one.base} to {one.new.removeprefix(f'{one.framework} ')} {case_text(one.case)}",
            one.ratio,
            one.interval,
            f"{one.ratio:.3f} {one.verdict}",
            one.verdict,
            tip=f"{one.ratio:.3f} {format_ratios(one.interval)}, {one.started:%Y-%m-%d}",
        )
        for one in movers
    ]
    caption = "New over base; right of 1 is slower."
    return [Intervals("Largest changes", caption, lines, lambda ratio: f"{ratio:g}", mark=1.0)]


def operators(archive: Archive, query: Query) -> View:
    """Return every operator that was measured, and by which frameworks."""
    there = holdings(archive)
    choices = (
        Choice.of("framework", (one.framework for one in there), query),
        Choice.of("category", categories(), query),
    )
    names: dict[str, list[str]] = {}
    for one in there:
        if query.get("framework") in (None, "", one.framework):
            for name in one.operators:
                names.setdefault(name, []).append(one.framework)
    of_category = {name: declared.category for name, declared in catalog().items()}
    category = query.get("category")
    rows = [
        (name, of_category.get(name, ""), ", ".join(names[name]))
        for name in sorted(names)
        if not category or of_category.get(name) == category
    ]
    columns: tuple[Column[tuple[str, str, str]], ...] = (
        Column("operator", "operator", lambda row: row[0]),
        Column("category", "category", lambda row: row[1]),
        Column("frameworks", "frameworks", lambda row: row[2]),
    )
    listing = table(columns, rows, link=lambda row: path("operators", row[0]))
    return View(Document("Operators", [listing], summary=f"{len(rows)} operators"), choices=choices)


def runs(archive: Archive, query: Query) -> View:
    """Return the runs, latest first."""
    several = entries(archive, most=1000)
    choices = (
        Choice.of("machine", (one.machine for one in several), query),
        Choice.of("kind", (one.kind for one in several), query),
    )
    rows = [one for one in several if all(getattr(one, c.name) == c.value for c in choices if c.value)]
    return View(Document("Runs", [_runs(rows)], summary=f"{len(rows)} runs"), choices=choices)


def search(archive: Archive, query: Query) -> View:
    """Return operators, runs and machines that have the words in their names or labels."""
    words = query.get("q", "").lower().split()

    def meant(*texts: str) -> bool:
        text = " ".join(texts).lower()
        return bool(words) and all(word in text for word in words)

    names = sorted({name for one in holdings(archive) for name in one.operators if meant(name)})
    several = [
        one
        for one in entries(archive, most=1000)
        if meant(one.key, one.machine, *(f"{k}={v}" for k, v in one.labels.items()))
    ]
    places = [one for one in machines(archive) if meant(one.name)]
    column: Column[str] = Column("operator", "operator", str)
    blocks = [
        Section("Operators", [table([column], names, link=lambda name: path("operators", name))]),
        Section("Runs", [_runs(several)]),
        Section("Machines", [_machines(places)]),
    ]
    summary = (
        f"{len(names)} operators, {len(several)} runs, {len(places)} machines" if words else "Nothing to search for"
    )
    return View(Document(f"Search: {query.get('q', '')}" if words else "Search", blocks, summary=summary))


def machine_list(archive: Archive, query: Query) -> View:
    """Return the machines."""
    return View(Document("Machines", [_machines(machines(archive))]))


def _runs(several: Sequence[Entry]) -> Block:
    return table(RUNS, several, link=lambda one: path("runs", one.key))


def _machines(several: Sequence[Machine]) -> Block:
    return table(MACHINES, several, link=lambda one: path("machines", str(one.id)))


STANDINGS: tuple[Column[Standing], ...] = (
    Column("operator", "operator", lambda one: one.case.operator),
    Column("inputs", "inputs", lambda one: case_text(one.case)),
    Column("direction", "direction", lambda one: one.direction, presence="varied"),
    Column("framework", None, lambda one: one.framework),
    Column("anchor", "anchor", lambda one: one.base),
    Column("build", "build", lambda one: one.new),
    Column("ratio", "ratio", lambda one: one.ratio, lambda ratio: "" if ratio is None else f"{ratio:.3f}", "right"),
    Column("low", None, lambda one: None if one.interval is None else one.interval[0]),
    Column("high", None, lambda one: None if one.interval is None else one.interval[1]),
    Column(None, "interval", lambda one: one.interval, format_ratios, "right"),
    Column("verdict", "verdict", lambda one: one.verdict),
    Column("machine", "machine", lambda one: one.machine, presence="varied"),
    Column("started", "measured", lambda one: one.started.isoformat(), lambda text: text[:10]),
    Column("run", None, lambda one: one.run),
)

MACHINES: tuple[Column[Machine], ...] = (
    Column("machine", "machine", lambda one: one.name),
    Column("id", None, lambda one: one.id),
    Column("runs", "runs", lambda one: one.runs, align="right"),
    Column("latest", "latest", lambda one: one.latest.isoformat(), lambda text: text[:16].replace("T", " ")),
)

COVERAGE: tuple[Column[Holding], ...] = (
    Column("framework", "framework", lambda one: one.framework),
    Column("operators", "operators", lambda one: len(one.operators), align="right"),
    Column(
        "of_catalog",
        "of the catalog",
        lambda one: len(one.operators & catalog().keys()),
        lambda n: f"{n} of {len(catalog())}",
        "right",
    ),
    Column("versions", "versions", lambda one: ", ".join(one.versions[:8])),
)
