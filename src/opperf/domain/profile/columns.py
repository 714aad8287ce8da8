"""The columns of a profile's table, declared once: what each is called, what of a row it holds, how that is written.

With the standard library alone a script can print the table wherever it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from opperf.domain.dataclass import dataclass
from opperf.domain.profile.event import Profile
from opperf.domain.profile.repetition import courses
from opperf.domain.profile.rows import BY_NAME, Row, rows
from opperf.domain.units import (
    format_bytes,
    format_count,
    format_flop_rate,
    format_flops,
    format_percent,
    format_seconds,
    plural,
)


@dataclass(frozen=True)
class Column:
    """One column: `value` is what it is sorted by, and `text` writes that; without it, values are words."""

    title: str
    value: Callable[[Row], Any]
    text: Callable[[Any], str] | None = None
    hint: str = ""

    def cell(self, row: Row) -> str:
        """Return the value of a row as people read it; what is not known is empty, not zero."""
        value = self.value(row)
        return str(value) if self.text is None else self.text(value)


def shapes_text(shapes: Sequence[Sequence[int]]) -> str:
    """Write the shapes of a call's inputs; what is no tensor is a dash.

    >>> shapes_text(((64, 1, 28, 28), (20,), ()))
    '64x1x28x28 20 -'
    """
    return " ".join("x".join(map(str, shape)) or "-" for shape in shapes)


#: The note on a row for each of its flags.
NOTES = {
    **{phase: phase for phase in ("backward", "recomputed", "fused")},
    "long_calls": "few long calls",
    "disturbed": "disturbed",
}

COLUMNS = (
    Column("calls", lambda row: row.calls, str),
    Column("total", lambda row: row.total, format_seconds, "with the operators called inside"),
    Column("self", lambda row: row.own, format_seconds, "without the operators called inside"),
    Column("mean", lambda row: row.mean, format_seconds, "of one call"),
    Column("p50", lambda row: row.p50, format_seconds, "half of the calls took no longer"),
    Column("min", lambda row: row.min, format_seconds),
    Column("max", lambda row: row.max, format_seconds),
    Column("share", lambda row: row.share, format_percent, "of the sum of self"),
    Column("CPU share", lambda row: row.cpu_share, format_percent, "of the sum of self without waiting"),
    Column("allocated", lambda row: row.allocated, format_bytes, "in all calls"),
    Column("peak", lambda row: row.peak, format_bytes, "the most held at once in one call"),
    Column("device", lambda row: row.device, format_seconds, "time on the device"),
    Column("FLOPs", lambda row: row.flops, format_flops, "in all calls"),
    Column("FLOP/s", lambda row: row.flop_rate, format_flop_rate, "of calls whose FLOPs are known"),
    Column("of peak", lambda row: row.peak_share, format_percent, "FLOP/s of those of a float32 product at its best"),
    Column("shapes", lambda row: shapes_text(row.shapes)),
    Column("module", lambda row: row.module),
    Column("notes", lambda row: ", ".join(note for field, note in NOTES.items() if getattr(row, field))),
)
#: The total of a group, module or stack is the sum of its operators' self times.
NOT_OF = {"group": ("total",), "module": ("total", "module"), "stack": ("total",)}
#: Shares of the CPU that differ from those of the time by less, in all rows, say nothing new.
TELLING = 0.01


def columns(by: str, rows: Sequence[Row] = ()) -> tuple[Column, ...]:
    """Return the columns of rows with a grouping; the first names the row."""
    first = Column("operator" if by in ("name", "shape") else by, lambda row: row.name)
    without = {*NOT_OF.get(by, ()), *(() if any(map(_has_waits, rows)) else ("CPU share",))}
    return first, *(column for column in COLUMNS if column.title not in without)


def _has_waits(row: Row) -> bool:
    """Whether a row's share of CPU time differs from its share of wall time."""
    return abs((row.cpu_share or 0.0) - (row.share or 0.0)) >= TELLING and row.cpu_share is not None


#: Maximum number of processes whose steps are described.
MOST = 4
#: A first step is mentioned if it takes this many times the median of the others: steps of a loop differ by less.
SLOW_FIRST = 2


def table(profile: Profile, by: str = BY_NAME, top: int | None = None) -> str:
    """Return the rows as aligned columns, at most `top` of them; a column that is empty in all rows is left out.

    >>> from opperf.domain.profile.event import Event
    >>> spans = [Event("matmul", "operator", 0, 3000, 1, "main"), Event("add", "operator", 3000, 1000, 1, "main")]
    >>> print(table(Profile(tuple(spans))))
    operator  calls    total     self     mean      p50      min      max   share
    -----------------------------------------------------------------------------
    matmul        1  3.00 us  3.00 us  3.00 us  3.00 us  3.00 us  3.00 us  75.0 %
    add           1  1.00 us  1.00 us  1.00 us  1.00 us  1.00 us  1.00 us  25.0 %
    """
    table_rows = rows(profile, by)
    top_rows = table_rows[:top]
    columns_shown = columns(by, top_rows)
    lines = _align(columns_shown, [[column.cell(row) for column in columns_shown] for row in top_rows])
    if len(top_rows) < len(table_rows):
        lines.append(more_rows(len(table_rows) - len(top_rows)))
    words = [*step_lines(profile), *(f"note: {note}" for note in profile.notes)]
    return "\n".join([*lines, "", *words] if words else lines)


def more_rows(count: int) -> str:
    """Say how many rows are not shown.

    >>> more_rows(1), more_rows(2)
    ('1 more row', '2 more rows')
    """
    return plural(count, "more row")


def step_lines(profile: Profile) -> list[str]:
    """Say of each process how many steps it took, how long they were, and what came before them."""
    timelines, words = courses(profile), []
    for course in timelines[:MOST]:
        subject = f"process {course.process}: " if len(timelines) > 1 else ""
        each = f"{course.count} steps with a median of" if course.count > 1 else "1 step of"
        line = f"{subject}{each} {format_seconds(course.median)}"
        if course.initialisation:
            before = format_seconds(course.initialisation)
            line += f"; {before} before the first, {format_percent(course.share, digits=2)} of the time"
        words.append(line)
        if course.others and course.first > SLOW_FIRST * course.others:
            ratio = format_count(round(course.first / course.others, 1))
            slow = f"the first step took {format_seconds(course.first)}, {ratio} times the median of the others"
            words.append(f"{subject}{slow}; the table counts it, too")
    if len(timelines) > MOST:
        words.append(f"{len(timelines) - MOST} more processes have steps; `--format json` lists all of them")
    return words


def _align(columns: Sequence[Column], cells: Sequence[Sequence[str]]) -> list[str]:
    """Return a line for the titles, one under them, and one for each row: words begin left, numbers end right."""
    titles = [column.title for column in columns]
    places = [i for i, _ in enumerate(columns) if i < 2 or any(row[i] for row in cells)]
    widths = {i: max(len(row[i]) for row in (titles, *cells)) for i in places}

    def line(row: Sequence[str]) -> str:
        words = (row[i].ljust(widths[i]) if columns[i].text is None else row[i].rjust(widths[i]) for i in places)
        return "  ".join(words).rstrip()

    head = line(titles)
    return [head, "-" * len(head), *(line(row) for row in cells)]
