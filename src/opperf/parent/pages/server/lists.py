"""The lists: operators with what was last said of them, runs, machines, and what a search comes upon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opperf.domain.dataclass import dataclass
from opperf.domain.units import format_ratio, plural
from opperf.parent.documents.comparison import CHANGES
from opperf.parent.pages.server.filters import categories, filters_of
from opperf.parent.pages.server.movers import trail, trail_words
from opperf.parent.pages.server.view import Choice, Part, Query, View, path
from opperf.parent.reports.document import Block, Column, Document, Note, Table, table
from opperf.parent.reports.history import RUNS
from opperf.parent.store.database import listing
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.builds import build_rows
from opperf.parent.store.database.history import Entry, entries, entry_count
from opperf.parent.store.database.listing import Hit, Machine, OperatorEntry
from opperf.parent.store.database.overview import MoverRow, Overview
from opperf.parent.store.database.overview import overview as read_overview
from opperf.parent.store.database.trails import Spot

#: The latest runs whose kinds can be chosen.
MOST_RUNS = 1500


@dataclass(frozen=True)
class OperatorRow:
    """An operator in a framework, with the series of it that moved most in the latest build, and its history."""

    entry: OperatorEntry
    board: Overview | None = None

    @property
    def mover(self) -> MoverRow | None:
        """The series that moved most."""
        return None if self.board is None else self.board.operators.get(self.entry.operator)

    @property
    def spots(self) -> tuple[Spot, ...]:
        """The ratios of the latest builds to the anchor."""
        if self.board is None or self.mover is None:
            return ()
        return tuple(self.board.trails.spots.get(self.mover.series, ()))

    @property
    def builds(self) -> tuple[str, ...]:
        """The builds of the history."""
        return () if self.board is None else tuple(self.board.trails.builds)


def operators(archive: Archive, query: Query) -> View:
    """Return every operator that was measured, in each framework, with the last verdict on it."""
    filters, machines, _ = filters_of(archive, query)
    every = listing.operators(archive)
    entries = listing.operators(archive, filters) if filters.of_series() else every
    builds = build_rows(archive)
    boards = {
        name: read_overview(archive, filters=replace(filters, framework=name), most=0, builds=builds)
        for name in {one.framework for one in entries}
    }
    rows = [OperatorRow(entry, boards[entry.framework]) for entry in entries]
    rows.sort(key=lambda row: _weight(row.mover))
    choices = (Choice.of("framework", (one.framework for one in every), query), categories(every, query), machines)
    words = [f"{name} {board.build} against {board.anchor}" for name, board in sorted(boards.items()) if board]
    notes = [Note(f"Verdict and ratio are of the series that moved most: {', '.join(words)}.")] if words else []
    count = len({row.entry.operator for row in rows})

    def document(part: Part) -> Document:
        names = table(OPERATORS, rows[part.rows], link=_operator_place)
        blocks: list[Block] = [names, *part.notes(query, len(rows)), *notes]
        return Document("Operators", blocks, summary=plural(count, "operator"))

    return View(document(Part.of(query)), choices=choices, whole=lambda: document(Part()))


def _operator_place(row: OperatorRow) -> str:
    return path("operators", row.entry.operator, framework=row.entry.framework)


def _weight(mover: MoverRow | None) -> tuple[int, float]:
    """Return where a row stands among others: what changed first, by size, and what was not compared last."""
    if mover is None or not mover.difference.ratio:
        return 2, 0.0
    _, size = mover.difference.weight
    return mover.difference.verdict not in CHANGES, size


def runs(archive: Archive, query: Query) -> View:
    """Return the runs, latest first."""
    filters, machines, since = filters_of(archive, query)
    kinds = Choice.of("kind", listing.run_kinds(archive, MOST_RUNS), query)
    kind, machine = kinds.value or None, machines.value or None
    count = entry_count(archive, since=filters.since, kind=kind, machine=machine)

    def document(part: Part) -> Document:
        rows = entries(archive, since=filters.since, kind=kind, machine=machine, start=part.start, most=part.most)
        return Document("Runs", [run_table(rows), *part.notes(query, count, "runs")], summary=plural(count, "run"))

    return View(document(Part.of(query)), choices=(machines, kinds, since), whole=lambda: document(Part()))


def search(archive: Archive, query: Query) -> View:
    """Return operators, builds, machines and runs that have a text in their names or labels."""
    text = query.get("q", "")
    hits = listing.search(archive, text)
    title = f"Search: {text}" if text else "Search"
    blocks = [table(HITS, hits, link=_place)] if hits else [Note("nothing" if text else "Nothing to search for.")]
    return View(Document(title, blocks, summary=plural(len(hits), "hit") if text else ""))


def _place(hit: Hit) -> str:
    if hit.kind == "build":
        return path(framework=hit.text.removesuffix(f" {hit.key}"), build=hit.key)
    return path(f"{hit.kind}s", hit.key)


def machine_list(archive: Archive, query: Query) -> View:
    """Return the machines."""
    several = table(MACHINES, listing.machines(archive), link=lambda one: path("machines", str(one.id)))
    return View(Document("Machines", [several]))


def run_table(entries: Sequence[Entry]) -> Table:
    """Return the table of runs, each leading to its page."""
    return table(RUNS, entries, link=lambda entry: path("runs", entry.key))


def _minute(text: str) -> str:
    return text[:16].replace("T", " ")


#: On a phone an operator of several frameworks would look alike without their names.
OPERATORS: tuple[Column[OperatorRow], ...] = (
    Column("operator", "operator", lambda row: row.entry.operator),
    Column("ratio", "ratio", lambda row: row.mover and row.mover.difference.ratio, format_ratio, "right"),
    Column("verdict", "verdict", lambda row: row.mover and row.mover.difference.verdict),
    Column(
        None,
        "history",
        lambda row: trail_words(row.spots, row.builds),
        place=1,
        picture=lambda row: trail(row.spots, row.builds),
    ),
    Column("category", "category", lambda row: row.entry.category, place=1),
    Column("framework", "framework", lambda row: row.entry.framework),
    Column("build", "build", lambda row: row.board and row.board.build, place=1),
    Column("cases", "cases", lambda row: row.entry.cases, align="right", place=1),
    Column("series", "series", lambda row: row.entry.series, align="right", place=1),
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
