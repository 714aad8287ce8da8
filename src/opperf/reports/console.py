"""A run as a table in a terminal, a pipe or a log: legible without colour, one trial a line, no number ever cut.

Without a width the table is as wide as it needs. In a terminal that is narrower, first columns of lesser importance are
left out, and named below the table; then texts are folded; numbers stay whole even if the terminal must wrap them.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.box import Box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from opperf.reports import remarks, shares
from opperf.reports.table import table_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from opperf.record import Run
    from opperf.reports.remarks import Remark
    from opperf.reports.table import Table

#: A line under the heading, and nothing else.
_UNDERLINED = Box("    \n    \n -- \n    \n    \n    \n    \n    \n")
_GAP = 2
_STYLES = {"failed": "red", "skipped": "dim", "ok": "", "warnings": "yellow"}


def render(run: Run, *, width: int | None = None, color: bool = False) -> str:
    """Return the text, with a line break at the end; `width` is that of the terminal, None that of the table."""
    table = table_of(run.records)
    seen, left_out = _narrowed(table.for_people(), width)
    widths = _widths(seen, width)
    out = io.StringIO()
    console = Console(
        file=out,
        width=max(1, sum(widths) + _GAP * len(widths), width or 0),
        force_terminal=color,
        color_system="standard" if color else None,
        legacy_windows=False,
        soft_wrap=True,
        highlight=False,
        _environ={},
    )
    if table.rows:
        if caption := remarks.caption(table):
            console.print(Text(caption), end="\n\n")
        console.print(_grid(seen, widths), soft_wrap=False)
        console.print()
    console.print(Text(remarks.tally(run.records)))
    for line in [*shares.lines(run), *remarks.legend(seen)]:
        console.print(Text(line))
    if left_out:
        console.print(Text(f"left out at this width: {', '.join(left_out)} (`--format csv` has every column)"))
    for section in remarks.sections(run.records):
        console.print()
        console.print(Text(section.title, style=_STYLES[section.title]))
        for remark in section.remarks:
            for line in _remark(remark):
                console.print(Text(line))
    if more := remarks.more(run.records):
        console.print(Text(f"\n{more}"))
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().split("\n")[:-1])


def _remark(remark: Remark) -> Iterator[str]:
    first, *others = remark.wordings
    yield f"  {remark.slug} ({remark.count}): {first}"
    for wording in others:
        yield f"    {wording}"
    for trial in remark.named:
        yield f"    - {trial}"
    for hint in remark.hints:
        yield f"    hint: {hint}"


def _grid(table: Table, widths: Sequence[int]) -> Grid:
    grid = Grid(box=_UNDERLINED, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for column, width in zip(table.columns, widths, strict=True):
        grid.add_column(
            Text(column.title or ""), justify=column.align, width=width, overflow="fold", no_wrap=column.least is None
        )
    for row in table.rows:
        grid.add_row(*(Text(cell.text) for cell in row.cells), style=_STYLES[row.record.status])
    return grid


def _natural(table: Table, place: int) -> int:
    """Return the width that a column takes by itself."""
    return max(cell_len(table.columns[place].title or ""), *(cell_len(row.cells[place].text) for row in table.rows))


def _least(table: Table, place: int) -> int:
    """Return the width to which a column may be folded."""
    natural, least = _natural(table, place), table.columns[place].least
    return natural if least is None else min(natural, max(least, cell_len(table.columns[place].title or "")))


def _narrowed(table: Table, width: int | None) -> tuple[Table, list[str]]:
    """Leave out columns, the least important first, until the others can be folded into the width."""
    places = list(range(len(table.columns)))
    left_out: list[str] = []
    ranked = sorted((column.rank, place) for place, column in enumerate(table.columns) if column.rank is not None)
    least = [_least(table, place) + _GAP for place in places] if table.rows else []
    for _, place in ranked:
        if width is None or sum(least[kept] for kept in places) - _GAP <= width:
            break
        places.remove(place)
        left_out.append(table.columns[place].title or "")
    return table.keep(places), left_out


def _widths(table: Table, width: int | None) -> list[int]:
    """Share out the width: every column has what it takes, then the widest that may be folded gives way."""
    if not table.rows:
        return []
    places = range(len(table.columns))
    widths = [_natural(table, place) for place in places]
    least = [_least(table, place) for place in places]
    while width is not None and sum(widths) + _GAP * (len(widths) - 1) > width:
        foldable = [place for place in places if widths[place] > least[place]]
        if not foldable:
            break
        widths[max(foldable, key=lambda place: widths[place])] -= 1
    return widths
