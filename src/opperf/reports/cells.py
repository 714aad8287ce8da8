"""A table of cells as text: padded for a console, with bars for Markdown, with commas for machines."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any


def filled(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """Return the titles and cells of the columns that have text in any row.

    >>> filled(("name", "none", "time"), [("add", "", "1 us")])
    (['name', 'time'], [['add', '1 us']])
    """
    shown = [i for i, _ in enumerate(titles) if any(row[i] for row in rows)]
    return [titles[i] for i in shown], [[row[i] for i in shown] for row in rows]


def console(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return padded columns under their titles; a column without any text is left out.

    >>> print(console(("name", "none", "time"), [("add", "", "1 us")]))
    name  time
    ----------
    add   1 us
    """
    titles, rows = filled(titles, rows)
    widths = [max(map(len, column)) for column in zip(titles, *rows)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in (titles, *rows)]
    lines.insert(1, "-" * len(lines[0]))
    return "\n".join(lines)


def markdown(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""Return a Markdown table.

    >>> print(markdown(("name", "time"), [("a|b", "1 us")]))
    | name | time |
    | --- | --- |
    | a\|b | 1 us |
    """
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |" for cells in lines)


def comma_separated(titles: Iterable[str | None], rows: Iterable[Iterable[Any]]) -> str:
    r"""Return comma-separated values, a line for the titles and one for each row; None is an empty field.

    >>> comma_separated(("name", "time_s"), [("a,b", 1e-06), ("add", None)])
    'name,time_s\n"a,b",1e-06\nadd,\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(titles)
    writer.writerows(rows)
    return text.getvalue()
