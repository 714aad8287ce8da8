"""The page of two builds or sides, whichever the database holds, and of two runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from opperf.domain.errors import InputError, near
from opperf.domain.record import Run
from opperf.domain.units import plural
from opperf.parent.analysis.verdict import Rule
from opperf.parent.commands.compare import of_runs
from opperf.parent.documents.comparison import ComparisonRun
from opperf.parent.pages.figures import charts
from opperf.parent.pages.server.cache import Cache
from opperf.parent.pages.server.details import read_result
from opperf.parent.pages.server.filters import categories, filters_of
from opperf.parent.pages.server.movers import largest, mover_columns
from opperf.parent.pages.server.view import Choice, Part, Query, View, path
from opperf.parent.reports import report_of
from opperf.parent.reports.document import Block, Document, Note, table
from opperf.parent.store.database import listing
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.history import entries
from opperf.parent.store.database.overview import Mover
from opperf.parent.store.database.sides import compare_sides, stored_sides

#: The latest runs that can be chosen, and the comparisons of two that are kept.
MOST_RUNS, MOST_KEPT = 300, 30
#: What each way of knowing a ratio is worth, best first.
WAYS = {
    "compared": "compared: both were measured in turns, pair by pair",
    "by way": "by way of a third: the ratios of both to it, divided; the times are of different days",
    "times": "times: of different runs, which also depend on what else the machine was doing; they decide nothing",
}

#: Runs that were compared, by their ids and what is in them.
_compared: Cache[ComparisonRun] = Cache(MOST_KEPT)


def side_by_side(archive: Archive, query: Query) -> View:
    """Return two builds or sides beside each other as comparisons and nights have them, or two runs."""
    sides = {side.name: side for side in stored_sides(archive)}
    runs = {
        entry.key: f"run {entry.key} of {entry.started:%Y-%m-%d %H:%M}"
        for entry in entries(archive, most=MOST_RUNS)
        if entry.kind == "run"
    }
    names = [*sides, *runs]
    ends = tuple(Choice(end, names, query.get(end, ""), usual="choose", labels=runs) for end in ("base", "new"))
    (base, first), (new, second) = ((choice.value, sides.get(choice.value)) for choice in ends)
    if not base or not new:
        return View(Document("Side by side", [Note("Choose two builds or sides, or two runs.")]), choices=ends)
    if first is None and second is None:
        return _runs(archive, base, new, ends)
    if first is None or second is None:
        unknown = base if first is None else new
        close = ", ".join(f"`{name}`" for name in near(unknown, sides))
        hint = f"did you mean {close}?" if close else "choose two builds, or two runs"
        raise InputError(f"`{unknown}` is no build of the database", hint=hint, slug="input")
    filters, by_machine, _ = filters_of(archive, query)
    movers = compare_sides(archive, first, second, filters)
    return _sides(base, new, movers, (*ends, categories(listing.operators(archive), query), by_machine), query)


def _sides(base: str, new: str, movers: Sequence[Mover], choices: Sequence[Choice], query: Query) -> View:
    title = f"{new} beside {base}"
    if not movers:
        none = f"Nothing of {new} is known that is known of {base} too: no case, direction and machine has both."
        return View(Document(title, [Note(none)]), choices=choices)
    verdicts = Counter(mover.difference.verdict or "undecided" for mover in movers)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
    notes = [Note(text) for way, text in WAYS.items() if any(mover.way == way for mover in movers)]

    def document(part: Part) -> Document:
        ratios = table(mover_columns(), movers[part.rows], link=lambda mover: path("operators", mover.series.operator))
        blocks: list[Block] = [ratios, *part.notes(query, len(movers), "ratios"), *notes]
        return Document(title, blocks, summary=f"{plural(len(movers), 'ratio')}: {counts}")

    part = Part.of(query)
    charts = [] if part.start else largest(movers, base, new)
    return View(document(part), charts, choices, whole=lambda: document(Part()))


def _runs(archive: Archive, base: str, new: str, choices: Sequence[Choice]) -> View:
    contents = archive.content(base), archive.content(new)
    comparison_run = _compared.get((base, new), contents, lambda: _compare(archive, base, new))
    report = report_of(comparison_run)
    more = Note(
        "Two runs are weaker evidence than `opperf compare`, which interleaves both: small changes stay inconclusive."
    )
    document = Document(f"{new} beside {base}", [*report.blocks, more], report.data, summary=report.summary)
    return View(document, charts(comparison_run), choices)


def _compare(archive: Archive, base: str, new: str) -> ComparisonRun:
    old, latest = (read_result(archive, key) for key in (base, new))
    if not isinstance(old, Run) or not isinstance(latest, Run):
        raise InputError("a comparison cannot be compared with another run", hint="choose two runs", slug="input")
    return of_runs(old, latest, Rule())
