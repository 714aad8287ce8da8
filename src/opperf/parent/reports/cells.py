"""A table of cells as text: with bars for Markdown, with commas for machines."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from opperf.parent.reports.escaping import for_csv, for_markdown


def filled(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """Return the titles and cells of the columns that have text in any row.

    >>> filled(("name", "none", "time"), [("add", "", "1 us")])
    (['name', 'time'], [['add', '1 us']])
    """
    shown = [i for i, _ in enumerate(titles) if any(row[i] for row in rows)]
    return [titles[i] for i in shown], [[row[i] for i in shown] for row in rows]


def markdown(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""Return a Markdown table.

    >>> print(markdown(("name", "time"), [("a|b", "1 us")]))
    | name | time |
    | --- | --- |
    | a\|b | 1 us |
    """
    lines = [map(for_markdown, titles), ["---"] * len(titles), *(map(for_markdown, row) for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def comma_separated(titles: Iterable[str | None], rows: Iterable[Iterable[Any]]) -> str:
    r"""Return comma-separated values, a line for the titles and one for each row; None is an empty field.

    Numbers have the precision of the machine. Text is one line, and none that a spreadsheet computes.

    >>> comma_separated(("name", "time_s"), [("a,b", 1e-06), ("add", None)])
    'name,time_s\n"a,b",1e-06\nadd,\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(titles)
    writer.writerows(map(for_csv, row) for row in rows)
    return text.getvalue()
