"""A profile's table as text, by the standard library alone: what a script can print wherever it runs."""

from __future__ import annotations

from collections.abc import Sequence

from opperf.domain.profile.columns import Column, columns
from opperf.domain.profile.event import Profile
from opperf.domain.profile.repetition import courses
from opperf.domain.profile.rows import rows
from opperf.domain.units import format_count, format_percent, format_seconds

#: Steps of no more processes are told of.
MOST = 4
#: A first step that takes so many times the median of the others is told: the steps of a loop differ by less.
SLOW_FIRST = 2


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
    return f"{count} more row{'s' if count > 1 else ''}"


def step_lines(profile: Profile) -> list[str]:
    """Say of each process how many steps it took, how long they were, and what came before them."""
    several, words = courses(profile), []
    for course in several[:MOST]:
        subject = f"process {course.process}: " if len(several) > 1 else ""
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
    if len(several) > MOST:
        words.append(f"{len(several) - MOST} more processes have steps: `--format json` tells of all")
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
