"""A profile's table as text, by the standard library alone: what a script can print wherever it runs."""

from __future__ import annotations

from collections.abc import Sequence

from opperf.domain.profile.columns import Column, columns
from opperf.domain.profile.event import Profile
from opperf.domain.profile.rows import rows


def table(profile: Profile, by: str = "name", top: int | None = None) -> str:
    """Return the rows as aligned columns, at most `top` of them; a column that is empty in all rows is left out.

    >>> from opperf.domain.profile.event import Event
    >>> spans = [Event("matmul", "operator", 0, 3000, 1, "main"), Event("add", "operator", 3000, 1000, 1, "main")]
    >>> print(table(Profile(tuple(spans))))
    operator  calls    total     self     mean      p50      min      max   share
    -----------------------------------------------------------------------------
    matmul        1  3.00 us  3.00 us  3.00 us  3.00 us  3.00 us  3.00 us  75.0 %
    add           1  1.00 us  1.00 us  1.00 us  1.00 us  1.00 us  1.00 us  25.0 %
    """
    found = rows(profile, by)
    shown = found[:top]
    known = columns(by, shown)
    lines = _aligned(known, [[column.cell(row) for column in known] for row in shown])
    if len(shown) < len(found):
        lines.append(more_rows(len(found) - len(shown)))
    if profile.notes:
        lines += ["", *(f"note: {note}" for note in profile.notes)]
    return "\n".join(lines)


def more_rows(count: int) -> str:
    """Say how many rows are not shown.

    >>> more_rows(1), more_rows(2)
    ('1 more row', '2 more rows')
    """
    return f"{count} more row{'s' if count > 1 else ''}"


def _aligned(known: Sequence[Column], cells: Sequence[Sequence[str]]) -> list[str]:
    """Return a line for the titles, one under them, and one for each row: words begin left, numbers end right."""
    titles = [column.title for column in known]
    shown = [i for i, _ in enumerate(known) if i < 2 or any(row[i] for row in cells)]
    widths = {i: max(len(row[i]) for row in (titles, *cells)) for i in shown}

    def line(row: Sequence[str]) -> str:
        words = (row[i].ljust(widths[i]) if known[i].text is None else row[i].rjust(widths[i]) for i in shown)
        return "  ".join(words).rstrip()

    head = line(titles)
    return [head, "-" * len(head), *(line(row) for row in cells)]
