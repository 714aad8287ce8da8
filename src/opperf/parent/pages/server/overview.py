"""The first page: what moved between a build and its anchor, categories, trends, and what is new."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.units import format_ratio, plural
from opperf.parent.pages.server.filters import categories, filters_of
from opperf.parent.pages.server.lists import run_table
from opperf.parent.pages.server.movers import largest, mover_columns, trail, trail_words
from opperf.parent.pages.server.view import Choice, Link, Part, Query, View, path
from opperf.parent.reports.document import Block, Column, Document, Note, Section, table
from opperf.parent.store.database import listing
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.builds import Build, BuildRows, build_rows
from opperf.parent.store.database.history import Entry, entries
from opperf.parent.store.database.listing import FrameworkPair
from opperf.parent.store.database.overview import UNMEASURED, Overview
from opperf.parent.store.database.overview import overview as read_overview

WEAK = "of times of different runs, which also depend on what else the machine was doing, so they decide nothing"
#: The latest runs that stand on the page, and the new ones.
LATEST, MOST_NEW = 10, 100


def overview(archive: Archive, query: Query) -> View:
    """Return how a build stands to its anchor, the largest change first; then categories, trends and what is new.

    `seen` in the query is the number of the last run that the visitor knows, and `visited` the day when they were here.
    """
    filters, machines, since = filters_of(archive, query)
    stored, part = build_rows(archive), Part.of(query)
    read = partial(
        read_overview,
        archive,
        build=query.get("build") or None,
        anchor=query.get("anchor") or None,
        filters=filters,
        verdict=query.get("verdict") or None,
        builds=stored,
    )
    board = read(start=part.start, most=part.most)
    every = [row.build for row in stored]
    _check_framework(query.get("framework"), every)
    choices = (
        *_choices(every, board, query),
        categories(listing.operators(archive), query),
        machines,
        Choice.of("verdict", board.verdicts if board else (), query),
        since,
    )
    fresh = _fresh(archive, query)
    sections = [
        *_news(fresh or ()),
        *_trends(archive, stored, board, query),
        *_frameworks(archive),
        Section("Latest runs", [run_table(entries(archive, most=LATEST))]),
    ]
    news = {} if fresh is None else _since_last_visit(fresh, query)
    if board is None:
        none = "an overview needs two builds of a framework; `opperf history add FILE` adds results"
        return View(Document("What changed", [Note(none), *sections]), choices=choices, facts=news)

    # What a cookie says of the visitor stands in no link.
    lasting = {name: text for name, text in query.items() if "visited" not in query or name not in ("seen", "visited")}

    def document(board: Overview, part: Part) -> Document:
        count = sum(count for word, count in board.verdicts.items() if query.get("verdict") in (None, "", word))
        blocks = [_movers(board, fresh or ()), *part.notes(lasting, count, "ratios"), *_categories(board), *sections]
        return Document(f"{board.framework} {board.build} against {board.anchor}", blocks, summary=_summary(board))

    return View(
        document(board, part),
        [] if part.start else largest(board.movers, board.anchor, board.build),
        choices,
        {**_measured(board, every), **_looked_at(board), **news},
        whole=lambda: document(read(most=None) or board, Part()),
    )


def _check_framework(name: str | None, every: Sequence[Build]) -> None:
    """Raise `InputError` for a framework that the database has no build of, where it has some of others."""
    names = sorted({build.framework for build in every})
    if name and names and name not in names:
        hint = f"there are: {', '.join(names)}"
        raise InputError(f"the database has no build of `{name}`", hint=hint, slug="missing")


def _choices(every: Sequence[Build], board: Overview | None, query: Query) -> tuple[Choice, ...]:
    """Return the filters of builds: their framework, and the versions of the one that is shown."""
    versions = [build.version for build in every if board and build.framework == board.framework]
    return (
        Choice.of("framework", (build.framework for build in every), query, usual="latest"),
        Choice.of("build", versions, query, usual="latest"),
        Choice.of("anchor", versions, query, usual="most compared"),
    )


def _summary(board: Overview) -> str:
    weak = f" {WEAK}" if board.evidence == "times" else ""
    counts = ", ".join(f"{count} {word}" for word, count in board.verdicts.items())
    return f"{plural(sum(board.verdicts.values()), 'ratio')}{weak}: {counts}"


def _movers(board: Overview, fresh: Sequence[Entry]) -> Block:
    columns = mover_columns(board.trails, {entry.key for entry in fresh})
    return table(
        columns, board.movers, link=lambda mover: path("operators", mover.series.operator, framework=board.framework)
    )


def _measured(board: Overview, every: Sequence[Build]) -> dict[str, str | Link]:
    """Say when the build and the anchor were measured."""
    days = {build.version: build for build in every if build.framework == board.framework}
    both = (("build", board.build), ("anchor", board.anchor))
    return {what: f"{name}, measured {_days(days[name].first, days[name].last)}" for what, name in both}


def _days(first: datetime, last: datetime) -> str:
    """Write when a build was measured.

    >>> _days(datetime(2026, 11, 1), datetime(2026, 11, 3))
    '2026-11-01 to 2026-11-03'
    """
    return f"{first:%Y-%m-%d}" if first.date() == last.date() else f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"


def _looked_at(board: Overview) -> dict[str, str | Link]:
    """Say how many were looked at, and how many of them could not be."""
    count = sum(board.verdicts.values())
    words = f"{plural(count, 'case')} of {plural(len(board.operators), 'operator')}"
    if not board.unmeasured:
        return {"looked at": f"{words}, all of them measured"}
    parts = [f"{board.verdicts[word]} {word}" for word in UNMEASURED if board.verdicts.get(word)]
    worst = next(word for word in UNMEASURED if board.verdicts.get(word))
    place = path(framework=board.framework, build=board.build, anchor=board.anchor, verdict=worst)
    return {"looked at": words, "not measured": Link(f"{board.unmeasured}: {', '.join(parts)}", place)}


def _fresh(archive: Archive, query: Query) -> list[Entry] | None:
    """Return the runs that were added since the visitor was here; None of one who was never here."""
    number = query.get("seen", "")
    if not (number.isascii() and number.isdigit() and len(number) < 18):
        return None
    return entries(archive, behind=int(number), most=MOST_NEW)


def _since_last_visit(fresh: Sequence[Entry], query: Query) -> dict[str, str | Link]:
    name = f"since {query['visited']}" if query.get("visited") else "since then"
    more = " or more" if len(fresh) == MOST_NEW else ""
    return {name: f"{plural(len(fresh), 'new run')}{more}" if fresh else "nothing new"}


def _news(fresh: Sequence[Entry]) -> list[Block]:
    return [Section("New since your last visit", [run_table(fresh[:LATEST])])] if fresh else []


@dataclass(frozen=True)
class Total:
    """How many series of a category came out how."""

    board: Overview
    category: str | None
    verdicts: Mapping[str, int]

    @property
    def link(self) -> str:
        """Where they are listed."""
        board, name = self.board, self.category
        place = {"framework": board.framework, "build": board.build, "anchor": board.anchor}
        return path(**place, category=name) if name else path(**place)


def _categories(board: Overview) -> list[Block]:
    rows = [Total(board, name, counts) for name, counts in board.categories.items()]
    rows.sort(key=lambda row: (-row.verdicts.get("slower", 0), -row.verdicts.get("faster", 0), row.category or "~"))
    return [Section("Categories", [table(CATEGORIES, rows, link=lambda row: row.link)])] if rows else []


def _trends(archive: Archive, every: Sequence[BuildRows], board: Overview | None, query: Query) -> list[Block]:
    """Return how the latest build of each framework with nights stands, and how all its operators went together."""
    is_latest = not any(query.get(name) for name in ("build", "anchor", "category", "direction", "machine", "since"))
    boards = [
        board
        if is_latest and board and board.framework == name and board.evidence == "ratios"
        else read_overview(archive, framework=name, evidence="ratios", most=0, builds=every)
        for name in dict.fromkeys(row.build.framework for row in every)
    ]
    rows = [row for row in boards if row is not None]
    if not rows:
        return []
    return [Section("Trends", [table(TRENDS, rows, link=lambda row: path(framework=row.framework)), Note(TREND)])]


def _frameworks(archive: Archive) -> list[Block]:
    """Return which builds of different frameworks were compared, each pair leading to its page."""
    rows = listing.framework_pairs(archive)[:LATEST]
    pairs = table(FRAMEWORKS, rows, link=lambda row: path("beside", base=row.base, new=row.new))
    return [Section("Frameworks against each other", [pairs])] if rows else []


def _count(*verdicts: str) -> Callable[[Overview | Total | FrameworkPair], int]:
    return lambda row: sum(row.verdicts.get(verdict, 0) for verdict in verdicts)


def _mean(board: Overview) -> float | None:
    trend = board.trails.trend
    return trend[-1].ratio if trend else None


TREND = (
    "mean: the geometric mean of the ratios of all series that were compared with the anchor; the band of the history "
    "holds the middle half of them"
)

CATEGORIES: tuple[Column[Total], ...] = (
    Column("category", "category", lambda row: row.category or "other"),
    Column("looked_at", "looked at", lambda row: sum(row.verdicts.values()), align="right"),
    Column("slower", "slower", _count("slower"), align="right"),
    Column("faster", "faster", _count("faster"), align="right"),
    Column("same", "same", _count("same"), align="right"),
    Column("inconclusive", "inconclusive", _count("inconclusive"), align="right"),
    Column("not_measured", "not measured", _count(*UNMEASURED), align="right"),
)

TRENDS: tuple[Column[Overview], ...] = (
    Column("framework", "framework", lambda row: row.framework),
    Column("mean_ratio", "mean", _mean, format_ratio, "right"),
    Column(
        None,
        "history",
        lambda row: trail_words(row.trails.trend, row.trails.builds),
        picture=lambda row: trail(row.trails.trend, row.trails.builds),
    ),
    Column("build", "build", lambda row: row.build),
    Column("anchor", "anchor", lambda row: row.anchor),
    Column("operators", "operators", lambda row: len(row.operators), align="right"),
    Column("looked_at", "looked at", lambda row: sum(row.verdicts.values()), align="right"),
    Column("slower", "slower", _count("slower"), align="right"),
    Column("faster", "faster", _count("faster"), align="right"),
    Column("not_measured", "not measured", _count(*UNMEASURED), align="right"),
)

FRAMEWORKS: tuple[Column[FrameworkPair], ...] = (
    Column("new", "new", lambda row: row.new),
    Column("base", "base", lambda row: row.base),
    Column("looked_at", "looked at", lambda row: sum(row.verdicts.values()), align="right"),
    Column("slower", "slower", _count("slower"), align="right"),
    Column("faster", "faster", _count("faster"), align="right"),
    Column("same", "same", _count("same"), align="right"),
    Column("not_measured", "not measured", _count(*UNMEASURED), align="right"),
    Column("last", "last", lambda row: row.last.isoformat(), lambda text: text[:16].replace("T", " ")),
)
