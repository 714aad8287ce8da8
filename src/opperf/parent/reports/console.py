"""A run as a table in a terminal, a pipe or a log: legible without colour, one trial a line, no number ever cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opperf.parent.reports import layout, remarks, shares
from opperf.parent.reports.layout import Grid, Heading, Note
from opperf.parent.reports.table import more_rows, table_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from opperf.domain.record import Run
    from opperf.parent.reports.layout import Block
    from opperf.parent.reports.remarks import Remark

_STYLES = {"failed": "red", "skipped": "dim", "ok": "", "warnings": "yellow"}


def render(run: Run, *, width: int | None = None, color: bool = False, top: int | None = None) -> str:
    """Return the text, with a line break at the end; `width` is that of the terminal, None that of the table."""
    return layout.text(_blocks(run, top), width=width, color=color)


def _blocks(run: Run, top: int | None) -> Iterator[Block]:
    table = table_of(run.records)
    seen = table.for_people()
    if table.rows:
        headings = [
            Heading(
                one.title or "", one.align, one.rank, one.least, common=one.common, group=one.group, lines=one.lines
            )
            for one in seen.columns
        ]
        shown = seen.rows[:top]
        rows = [[cell.text for cell in row.cells] for row in shown]
        yield Grid(headings, rows, [_STYLES[row.record.status] for row in shown], remarks.caption(table))
    for line in [*more_rows(seen, top), remarks.tally(run.records), *shares.lines(run)]:
        yield Note(line)
    for line, about in remarks.legend(seen).items():
        yield Note(line, about=about)
    for section in remarks.sections(run.records):
        yield Note()
        yield Note(section.title, style=_STYLES[section.title])
        for remark in section.remarks:
            yield from _remark(remark)
        if section.more:
            yield Note(section.more, 2)
    if more := remarks.more(run.records):
        yield Note()
        yield Note(more)


def _remark(remark: Remark) -> Iterator[Note]:
    first, *others = remark.wordings
    yield Note(f"{remark.slug} ({remark.count}): {first}", 2)
    for line in [*others, *(f"- {trial}" for trial in remark.named), *(f"hint: {hint}" for hint in remark.remedies)]:
        yield Note(line, 4)
