"""A run as GitHub Markdown: a table, then its legend, failures and warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opperf.parent.reports import remarks, shares
from opperf.parent.reports.escaping import for_markdown, for_markdown_line
from opperf.parent.reports.table import more_rows, table_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from opperf.domain.record import Run
    from opperf.parent.reports.remarks import Remark
    from opperf.parent.reports.table import Table


def render(run: Run, *, top: int | None = None) -> str:
    """Return the Markdown, with a line break at the end; `top` bounds the rows."""
    blocks = _blocks(run, top)
    return "\n\n".join(block for block in blocks if block) + "\n"


def _blocks(run: Run, top: int | None) -> Iterator[str]:
    table = table_of(run.records)
    seen = table.for_people()
    yield for_markdown_line(remarks.caption(table))
    if seen.rows:
        yield "\n".join(_table(seen, top))
    told = [*more_rows(seen, top), remarks.tally(run.records), *shares.lines(run), *remarks.legend(seen)]
    yield "\n".join(f"- {for_markdown_line(line)}" for line in told)
    for section in remarks.sections(run.records):
        yield f"**{section.title}**"
        yield "\n".join(line for remark in section.remarks for line in _remark(remark))
        yield for_markdown_line(section.more)
    yield for_markdown_line(remarks.more(run.records))


def _table(table: Table, top: int | None) -> Iterator[str]:
    yield _line(column.title or "" for column in table.columns)
    yield _line("---:" if column.align == "right" else ":---" for column in table.columns)
    for row in table.rows[:top]:
        yield _line(for_markdown(cell.text) for cell in row.cells)


def _line(cells: Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _remark(remark: Remark) -> Iterator[str]:
    yield f"- {for_markdown_line(remark.slug)} ({remark.count}): {for_markdown('; '.join(remark.wordings))}"
    for hint in remark.remedies:
        yield f"  - hint: {for_markdown(hint)}"
    for trial in remark.named:
        yield f"  - {for_markdown_line(trial)}"
