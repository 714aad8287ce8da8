"""A profile's table as text, by the standard library alone: what a script can print wherever it runs."""

from __future__ import annotations

from collections.abc import Sequence

from opperf.profile.event import Profile
from opperf.profile.rows import Row, rows
from opperf.units import format_bytes, format_flops, format_percent, format_seconds

#: What rows stand for, by grouping; the first column is called so.
TITLES = {"name": "operator", "shape": "operator", "module": "module", "kernel": "kernel"}
COLUMNS = (
    "calls", "total", "self", "mean", "p50", "min", "max", "share", "allocated", "peak", "device", "FLOPs", "shapes",
    "module",
)  # fmt: skip
#: Columns of words, which begin on the left; numbers end on the right.
WORDS = ("shapes", "module")


def table(profile: Profile, by: str = "name", top: int | None = None) -> str:
    """Return the rows as aligned columns, at most `top` of them; a column that is empty in all rows is left out.

    >>> from opperf.profile.event import Event
    >>> spans = [Event("matmul", "operator", 0, 3000, 1, "main"), Event("add", "operator", 3000, 1000, 1, "main")]
    >>> print(table(Profile(tuple(spans))))
    operator  calls    total     self     mean      p50      min      max   share
    -----------------------------------------------------------------------------
    matmul        1  3.00 us  3.00 us  3.00 us  3.00 us  3.00 us  3.00 us  75.0 %
    add           1  1.00 us  1.00 us  1.00 us  1.00 us  1.00 us  1.00 us  25.0 %
    """
    found = rows(profile, by)
    shown = found[:top]
    titles = (TITLES[by], *COLUMNS)
    lines = _aligned(titles, [_cells(row, by) for row in shown])
    if len(shown) < len(found):
        lines.append(f"{len(found) - len(shown)} more rows")
    if profile.notes:
        lines += ["", *(f"note: {note}" for note in profile.notes)]
    return "\n".join(lines)


def _cells(row: Row, by: str) -> tuple[str, ...]:
    backward = " backward" if by == "module" and row.backward else ""
    return (
        f"{row.name}{backward}{' (fused)' if row.fused else ''}",
        str(row.calls),
        *(format_seconds(time) for time in (row.total, row.own, row.mean, row.p50, row.min, row.max)),
        format_percent(row.share),
        format_bytes(row.allocated),
        format_bytes(row.peak),
        format_seconds(row.device),
        format_flops(row.flops),
        " ".join("x".join(str(size) for size in shape) if shape else "-" for shape in row.shapes),
        "" if by == "module" else row.module,
    )


def _aligned(titles: Sequence[str], cells: Sequence[Sequence[str]]) -> list[str]:
    """Return a line for the titles, one under them, and one for each row."""
    shown = [i for i, _ in enumerate(titles) if i < 2 or any(row[i] for row in cells)]
    widths = {i: max(len(row[i]) for row in (titles, *cells)) for i in shown}

    def line(row: Sequence[str]) -> str:
        words = (row[i].ljust(widths[i]) if i == 0 or titles[i] in WORDS else row[i].rjust(widths[i]) for i in shown)
        return "  ".join(words).rstrip()

    head = line(titles)
    return [head, "-" * len(head), *(line(row) for row in cells)]
