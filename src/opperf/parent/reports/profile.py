"""The table of a profile, in every format."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from opperf.domain.errors import unknown
from opperf.domain.profile.columns import Column, columns, shapes_text
from opperf.domain.profile.repetition import courses
from opperf.domain.profile.rows import Row, rows
from opperf.domain.profile.text import more_rows, step_lines
from opperf.domain.units import format_count, format_percent, format_seconds
from opperf.parent.reports import FORMATS, cells, layout
from opperf.parent.reports.escaping import for_markdown_line
from opperf.parent.reports.layout import Grid, Heading, Legend, Note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opperf.domain.profile.event import Profile

SCHEMA_VERSION = 1
#: What rows can be sorted by, the largest first: titles of columns, and where the row has it.
SORTS = {"self": "own", "total": "total", "calls": "calls", "mean": "mean"}
#: What a narrow terminal goes without, the least telling first.
RANKED = ("min", "max", "p50", "FLOPs", "module", "of peak", "FLOP/s", "total", "mean", "allocated", "peak")
#: What a column says, where its title does not; of the columns that are shown.
LEGEND = {
    "total": "total, mean, p50, min, max: with the operators called inside",
    "self": "self: without the operators called inside",
    "share": "share: of the sum of self",
    "allocated": "allocated: in all calls",
    "peak": "peak: the most held at once in one call",
    "device": "device: time on the device",
    "CPU share": "CPU share: of the sum of self without the time that threads waited for a processor",
    "of peak": "of peak: FLOP/s beside those of a float32 product at its best (`opperf doctor --peaks`)",
    "FLOP/s": "FLOP/s: of calls whose FLOPs are known",
}
#: What programs read of a row, by the titles of the columns: Python lets no field be called `self`.
NAMES = {"self" if field.name == "own" else field.name: field.name for field in fields(Row)}
#: The units of a row's numbers, as they stand at the end of the names in CSV.
UNITS = {
    **dict.fromkeys(("total", "self", "mean", "p50", "min", "max", "device", "waited"), "s"),
    **dict.fromkeys(("allocated", "peak"), "B"),
    "flops": "FLOP",
    "flop_rate": "FLOP/s",
}
#: No more processes are named.
NAMED = 4
#: A row of a smaller share is not explained below the table.
TELLING = 0.01


def render(
    profile: Profile,
    format: str,
    *,
    by: str = "name",
    sort: str = "self",
    top: int | None = None,
    width: int | None = None,
) -> str:
    """Return a profile in one of the formats, with a line break at the end; `top` bounds the rows for people.

    `width` is the terminal's: None is as wide as the table needs, which is right for a pipe or a file. Raises
    `InputError` for a grouping, an order or a format that is not known.
    """
    if sort not in SORTS:
        raise unknown("order", sort, SORTS, hint=f"known: {', '.join(SORTS)}")
    found = sorted(rows(profile, by), key=lambda row: -getattr(row, SORTS[sort]))
    if format == "json":
        return json.dumps(_document(profile, by, found), indent=1, allow_nan=False) + "\n"
    if format == "csv":
        return _csv(found)
    if format not in FORMATS:
        raise unknown("format", format, FORMATS, hint=f"known: {', '.join(FORMATS)}")
    known = columns(by, found[:top])
    made = [[column.cell(row) for column in known] for row in found[:top]]
    words = _caption(profile, known[0].title, found, len(made))
    words += [f"note: {note}" for note in (*_long_calls(profile, found[:top]), *_waits(found[:top]), *profile.notes)]
    if format == "md":
        titles, lines = cells.filled([column.title for column in known], made)
        if legend := "; ".join(LEGEND[title] for title in titles if title in LEGEND):
            words.append(legend)
        table = [cells.markdown(titles, lines), ""] if lines else []
        return "\n".join([*table, *(f"* {for_markdown_line(word)}" for word in words)]) + "\n"
    grid = [Grid([_heading(column, i) for i, column in enumerate(known)], made)] if made else []
    return layout.text([*grid, *map(Note, words), Legend(LEGEND)], width=width)


def _heading(column: Column, place: int) -> Heading:
    """Return how a column behaves where it is narrow: what a row stands for is never left out."""
    if place == 0:
        return Heading(column.title, least=20)
    rank = RANKED.index(column.title) if column.title in RANKED else None
    return Heading(column.title, rank=rank, least=12 if column.text is None else None)


def _caption(profile: Profile, subject: str, found: Sequence[Row], shown: int) -> list[str]:
    """Say what was run, how much of it was seen, and how many rows are not shown."""
    more = [f"{more_rows(len(found) - shown)}: `--top` shows them"] if shown < len(found) else []
    named = [_process(number, facts) for number, facts in profile.processes.items()]
    if len(named) > NAMED:
        named = [*named[:NAMED], f"{len(named) - NAMED} more processes"]
    if not found:
        return [*named, f"no {subject} was seen"]
    calls = format_count(sum(row.calls for row in found))
    spanned = max(event.end for event in profile.events) - min(event.begin for event in profile.events)
    taken = format_seconds(sum(row.own for row in found))
    told = f"{calls} calls, {taken} of self; {format_seconds(spanned / 1e9)} from the first span to the end of the last"
    return [*more, *named, told, *step_lines(profile)]


def _long_calls(profile: Profile, shown: Sequence[Row]) -> list[str]:
    """Say of the rows that few calls make up what may have disturbed these."""
    told = [row for row in shown if row.long_share and (row.share or 0) >= TELLING]
    shapes = any(event.shapes for event in profile.events)
    cause = "a first call or the machine" if shapes else "a first call, the machine or larger inputs (`--shapes` tells)"
    words = [
        f"{row.long_calls:,} of {row.calls:,} calls of `{row.name}` took {format_percent(row.long_share, digits=2)} of "
        f"its self time: {cause} made them long"
        for row in told[:NAMED]
    ]
    return [*words, f"few long calls make up {len(told) - NAMED} more rows"] if len(told) > NAMED else words


def _waits(shown: Sequence[Row]) -> list[str]:
    """Say of the rows whose time is in part that of other programs how much of it is."""
    told = [row for row in shown if row.disturbed and (row.share or 0) >= TELLING]
    words = [
        f"the process waited for a processor in {format_percent((row.waited or 0.0) / row.own, digits=2)} of the self "
        f"time of `{row.name}`: other programs ran"
        for row in told[:NAMED]
    ]
    return [*words, f"waiting makes up much of {len(told) - NAMED} more rows"] if len(told) > NAMED else words


def _process(number: int, facts: Any) -> str:
    command, name = facts.get("command") or "", facts.get("name") or ""
    words = command if isinstance(command, str) else shlex.join(map(str, command))
    framework = f"{facts.get('framework') or ''} {facts.get('version') or ''}".strip()
    process = f"process {number}" if name in words else f"process {number} ({name})"
    return ": ".join(text for text in (process, framework, words) if text)


def _document(profile: Profile, by: str, found: Sequence[Row]) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "processes": {str(number): dict(facts) for number, facts in profile.processes.items()},
        "by": by,
        "steps": [asdict(course) for course in courses(profile)],
        "rows": [{name: getattr(row, field) for name, field in NAMES.items()} for row in found],
        "notes": list(profile.notes),
    }


def _csv(found: Sequence[Row]) -> str:
    titles = [f"{name}_{UNITS[name]}" if name in UNITS else name for name in NAMES]
    return cells.comma_separated(titles, map(_fields, found))


def _fields(row: Row) -> list[Any]:
    return [
        *({name: getattr(row, field) for name, field in NAMES.items()} | {"shapes": shapes_text(row.shapes)}).values()
    ]
