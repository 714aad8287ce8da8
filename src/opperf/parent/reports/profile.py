"""A profile: one row for each operator, module, stack or kernel, with what was run and how much of it was seen."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from functools import partial
from operator import attrgetter

from opperf.domain.errors import check_known
from opperf.domain.profile import columns as profiled
from opperf.domain.profile.columns import TELLING, columns, shapes_text, step_lines
from opperf.domain.profile.event import Profile
from opperf.domain.profile.pace import paces
from opperf.domain.profile.repetition import courses
from opperf.domain.profile.rows import BY_NAME, Row, rows
from opperf.domain.units import format_count, format_flop_rate, format_percent, format_seconds
from opperf.parent.reports.compiled_graphs import compiled_section
from opperf.parent.reports.document import Block, Column, Document, Legend, Note, table
from opperf.parent.reports.peak_memory import peak_json, peak_section

SCHEMA_VERSION = 1
#: What rows can be sorted by, the largest first: titles of columns, and where the row has it.
SORTS = {"self": "own", "total": "total", "calls": "calls", "mean": "mean"}
SORT = "self"
#: What a narrow terminal goes without, the least telling first.
DROP_ORDER = ("min", "max", "p50", "FLOPs", "module", "of peak", "FLOP/s", "total", "mean", "allocated", "peak")
#: What a column says, where its title does not; of the columns that are shown.
LEGEND = {
    "total": "total, mean, p50, min, max: with the operators called inside",
    "self": "self: without the operators called inside",
    "share": "share: of the sum of self",
    "allocated": "allocated: in all calls",
    "peak": "peak: the most memory held at once in one call",
    "device": "device: time on the device",
    "CPU share": "CPU share: of the sum of self, without time spent waiting for a CPU",
    "of peak": "of peak: FLOP/s relative to the fastest float32 product (`opperf doctor --peaks`)",
    "FLOP/s": "FLOP/s: of calls whose FLOPs are known",
}
#: What programs read of a row, by the titles of the columns: Python lets no field be called `self`.
NAMES = {"self" if field.name == "own" else field.name: field.name for field in fields(Row)}
#: The units of a row's numbers, as they stand at the end of the names in CSV.
UNITS = {
    **dict.fromkeys(("total", "self", "mean", "p50", "min", "max", "device", "waited", "typical"), "s"),
    **dict.fromkeys(("allocated", "peak"), "B"),
    "flops": "FLOP",
    "flop_rate": "FLOP/s",
}
#: No more processes are named.
MOST_PROCESSES = 4
#: Gaps between the times that were profiled are told from this share of the whole.
GAPS = 0.01


def document(
    profile: Profile, by: str = BY_NAME, sort: str | None = None, top: int | None = None, tokens: int | None = None
) -> Document:
    """Return the report; `top` bounds the rows that people are shown, `tokens` are those of a step.

    Raises `InputError` for a grouping or an order that is not known.
    """
    sort = sort or SORT
    check_known("order", sort, SORTS)
    ordered_rows = sorted(rows(profile, by), key=lambda row: -getattr(row, SORTS[sort]))
    first, *others = columns(by, ordered_rows[:top])
    choices = [*_NAME_COLUMNS, Column(None, first.title, first.value, least=20), *map(_show, others)]
    words = [*_caption(profile, first.title, ordered_rows), *pace_lines(profile, tokens)]
    words += [
        f"note: {note}"
        for note in (*_long_calls(profile, ordered_rows[:top]), *_waits(ordered_rows[:top]), *profile.notes)
    ]
    blocks: list[Block] = [table(choices, ordered_rows, top=top), *map(Note, words), Legend(LEGEND)]
    blocks += [*peak_section(profile, top), *compiled_section(profile)]
    return Document("opperf profile", blocks, partial(_document, profile, by, ordered_rows, tokens))


def _show(column: profiled.Column) -> Column[Row]:
    """Return a column for people."""
    rank = DROP_ORDER.index(column.title) if column.title in DROP_ORDER else None
    show = column.text or str
    return Column(None, column.title, column.value, show, rank=rank, least=12 if column.text is None else None)


def _caption(profile: Profile, subject: str, table_rows: Sequence[Row]) -> list[str]:
    """Say what was run, and how much of it was seen."""
    processes = processes_lines(profile)
    if not table_rows:
        return [*processes, f"no {subject} was recorded"]
    calls = format_count(sum(row.calls for row in table_rows))
    begin, end = min(event.begin for event in profile.events), max(event.end for event in profile.events)
    span = profile.watched(begin, end)
    gaps = end - begin - span
    without = f", without {format_seconds(gaps / 1e9)} that were not profiled" if gaps > GAPS * (end - begin) else ""
    total = format_seconds(sum(row.own for row in table_rows))
    whole = f"{format_seconds(span / 1e9)} from the first span to the end of the last"
    text = f"{calls} calls, {total} of self; {whole}{without}"
    return [*processes, text, *step_lines(profile)]


def _long_calls(profile: Profile, table_rows: Sequence[Row]) -> list[str]:
    """Say of the rows that few calls make up what may have disturbed these."""
    telling = [row for row in table_rows if row.long_share and (row.share or 0) >= TELLING]
    shapes = any(event.shapes for event in profile.events)
    cause = "a first call or the machine" if shapes else "a first call, the machine or larger inputs (`--shapes` shows)"
    words = [
        f"{row.long_calls:,} of {row.calls:,} calls of `{row.name}` took {format_percent(row.long_share, digits=2)} of "
        f"its self time: {cause} made them long"
        for row in telling[:MOST_PROCESSES]
    ]
    return _with_rest(words, len(telling), "few long calls make up {} more rows")


def _waits(table_rows: Sequence[Row]) -> list[str]:
    """Say of the rows whose time is in part that of other programs how much of it is."""
    telling = [row for row in table_rows if row.disturbed and (row.share or 0) >= TELLING]
    words = [
        f"the process waited for a CPU for {format_percent((row.waited or 0.0) / row.own, digits=2)} of the self "
        f"time of `{row.name}`: other programs were running"
        for row in telling[:MOST_PROCESSES]
    ]
    return _with_rest(words, len(telling), "waiting makes up much of {} more rows")


def _with_rest(lines: list[str], count: int, rest: str) -> list[str]:
    """Return lines on the first rows, and below them how many more rows there are."""
    return [*lines, rest.format(count - MOST_PROCESSES)] if count > MOST_PROCESSES else lines


def processes_lines(profile: Profile) -> list[str]:
    """Say which processes were seen."""
    lines = [_process(number, facts) for number, facts in profile.processes.items()]
    return [*lines[:MOST_PROCESSES], *[f"{len(lines) - MOST_PROCESSES} more processes"] * (len(lines) > MOST_PROCESSES)]


def _process(number: int, facts: Mapping[str, object]) -> str:
    command, name = facts.get("command") or "", str(facts.get("name") or "")
    words = shlex.join(map(str, command)) if isinstance(command, (list, tuple)) else str(command)
    framework = f"{facts.get('framework') or ''} {facts.get('version') or ''}".strip()
    process = f"process {number}" if name in words else f"process {number} ({name})"
    return ": ".join(text for text in (process, framework, words) if text)


def pace_lines(profile: Profile, tokens: int | None) -> list[str]:
    """Say how many tokens or samples each process works through; nothing where nobody wants to know."""
    if tokens is None:
        return []
    lines = []
    for pace in paces(profile, tokens):
        line = f"{tokens:,} tokens or samples a step: {format_count(round(pace.per_second, 1))} a second"
        if pace.flop_rate is not None:
            line += f"; {format_flop_rate(pace.flop_rate)} of products and convolutions"
        if pace.peak_share is not None:
            line += f", {format_percent(pace.peak_share, digits=2)} of the machine's peak"
        lines.append(line)
    return lines[:MOST_PROCESSES] or [f"no steps were recognized, so that {tokens:,} a step are no rate"]


def paces_json(profile: Profile, tokens: int | None) -> dict[str, object]:
    """Return the paces for programs, by their key; nothing where nobody wants to know."""
    return {} if tokens is None else {"paces": [asdict(pace) for pace in paces(profile, tokens)]}


def _document(profile: Profile, by: str, table_rows: Sequence[Row], tokens: int | None) -> dict[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "processes": {str(number): dict(facts) for number, facts in profile.processes.items()},
        "by": by,
        "steps": [asdict(course) for course in courses(profile)],
        "rows": [{name: getattr(row, field) for name, field in NAMES.items()} for row in table_rows],
        **peak_json(profile),
        **paces_json(profile, tokens),
        "notes": list(profile.notes),
    }


def _name_column(name: str, field: str) -> Column[Row]:
    """Return a column for programs."""
    read = (lambda row: shapes_text(row.shapes)) if name == "shapes" else attrgetter(field)
    return Column(f"{name}_{UNITS[name]}" if name in UNITS else name, None, read)


_NAME_COLUMNS = tuple(_name_column(name, field) for name, field in NAMES.items())
