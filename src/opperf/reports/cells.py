"""A table of cells as text: padded for a console, with bars for Markdown."""

from __future__ import annotations

from collections.abc import Sequence


def console(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return padded columns under their titles; a column without any text is left out.

    >>> print(console(("name", "none", "time"), [("add", "", "1 us")]))
    name  time
    ----------
    add   1 us
    """
    shown = [i for i, _ in enumerate(titles) if any(row[i] for row in rows)]
    widths = {i: max(len(row[i]) for row in (titles, *rows)) for i in shown}
    lines = ["  ".join(row[i].ljust(widths[i]) for i in shown).rstrip() for row in (titles, *rows)]
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
