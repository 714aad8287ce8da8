"""A trace that was run again, in every format."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from opperf.domain.errors import unknown
from opperf.domain.units import format_seconds
from opperf.parent.reports import FORMATS, cells, layout
from opperf.parent.reports.columns import spelling, spread
from opperf.parent.reports.escaping import for_markdown_line
from opperf.parent.reports.layout import NAMED, Grid, Heading, Note
from opperf.parent.reports.text import case_text, first_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from opperf.domain.suite import LeftOut
    from opperf.domain.trace import Replay, Replayed, Trace

HEADINGS = (
    Heading("operator", least=14),
    Heading("calls"),
    Heading("time", rank=4),
    Heading("spread", rank=1),
    Heading("total"),
    Heading("share"),
    Heading("cumulative", rank=0),
    Heading("recorded ({clock})", rank=3),
    Heading("alone/recorded", rank=2),
    Heading("notes", least=20, below=True),
    Heading("inputs", least=14, lines=6),
)
#: So many reasons of rows that `--top` hides are told.
REASONS = 8
LEGEND = "time: one call by itself, hot; total: calls times time; share: of the sum of totals"
#: What a recorded time is, by the clock that it was taken with.
RECORDED = {
    "host": "; recorded: all calls inside the program, with what its profiler cost",
    "device": "; recorded: what all calls inside the program made the device do",
}


def render(replay: Replay, format: str, top: int | None = None, width: int | None = None) -> str:
    """Return a replay in one of the formats, with a line break at the end; `top` bounds the rows for people.

    `width` is the terminal's, None for a pipe or a file. Raises `InputError` for a format that is not known.
    """
    if format == "json":
        return json.dumps(replay.to_json(), indent=1, allow_nan=False) + "\n"
    if format == "csv":
        return _csv(replay)
    if format not in FORMATS:
        raise unknown("format", format, FORMATS, hint=f"known: {', '.join(FORMATS)}")
    rows = [_cells(entry, row) for entry, row in zip(replay.calls, replay.rows())]
    shown = rows[:top]
    more = [f"{len(rows) - len(shown)} more rows: `--top` shows them."] if len(shown) < len(rows) else []
    more += _reasons(replay.calls[len(shown) :])
    clock = replay.trace.clock
    words = [*more, *summary(replay), LEGEND + (RECORDED[clock] if replay.trace.has_recorded else "")]
    headings = [replace(heading, title=heading.title.format(clock=clock)) for heading in HEADINGS]
    if format == "md":
        table = cells.markdown(*cells.filled([heading.title for heading in headings], shown))
        return table + "\n\n" + "\n".join(f"* {for_markdown_line(word)}" for word in words) + "\n"
    return layout.text([Grid(headings, shown), *map(Note, words)], width=width)


def _reasons(hidden: Sequence[Replayed]) -> list[str]:
    """Say why rows that are not shown were not measured: what failed stands at the end, behind what is expensive."""
    groups: dict[str, list[str]] = {}
    for entry in hidden:
        if entry.total is None:
            groups.setdefault(_note(entry), []).append(_name(entry))
    told = []
    for note, names in groups.items():
        several = dict.fromkeys(names)
        told.append(f"{note} ({len(names)}): {', '.join([*several][:NAMED])}{', ...' if len(several) > NAMED else ''}")
    more = [f"{len(told) - REASONS} more reasons are in `--format csv`"] if len(told) > REASONS else []
    return told[:REASONS] + more


def _name(entry: Replayed) -> str:
    return spelling(entry.traced.case.operator).removesuffix(".default")


def summary(replay: Replay) -> list[str]:
    """Say how much of the trace was measured, what all of it costs, and what was left out."""
    found = replay.coverage()
    told = [f"measured: {found['measured_calls']} of {found['calls']} calls ({_percent(found['share_of_calls'])})"]
    if found["share_of_time"] is not None:
        told[0] += f", {_percent(found['share_of_time'])} of the recorded time"
    told.append(f"standalone: {format_seconds(replay.total)} in all, with warm caches")
    if found["ratio"] is not None:
        told[-1] += f", {found['ratio']:.2f} of the {format_seconds(found['measured_recorded'])} that were recorded"
    told += [_missing(name, *seen, found["recorded"]) for name, seen in _unmeasured(replay).items() if seen[0]]
    return [*told, _between(replay.trace), *left_out(replay.trace)]


def _unmeasured(replay: Replay) -> dict[str, tuple[int, float | None]]:
    """Return the calls that were not measured and their recorded time: those that failed, those that were left out."""
    found = replay.coverage()
    lacking = found["left_out_calls"], found["left_out_recorded"]
    failed = found["calls"] - found["measured_calls"] - lacking[0]
    recorded = found["recorded"]
    rest = None if recorded is None else recorded - (found["measured_recorded"] or 0.0) - (lacking[1] or 0.0)
    return {"not measured": (failed, rest), "left out": lacking}


def _missing(name: str, calls: int, seconds: float | None, recorded: float | None) -> str:
    """Say how many calls are not in the sum, and what part of the recorded time they took."""
    if seconds is None or not recorded:
        return f"{name}: {calls} calls"
    return f"{name}: {calls} calls, {format_seconds(seconds)} of the recorded time ({_percent(seconds / recorded)})"


def _between(trace: Trace) -> str:
    """Say for how long no operator ran, or why that is not known."""
    found = trace.between
    if found is not None:
        share = _percent(found.seconds / found.span) if found.span else ""
        whole = f"{format_seconds(found.span)} from the first call to the end of the last"
        return f"between operators: {format_seconds(found.seconds)} ({share}) of the {whole}"
    if not trace.has_recorded:
        return "between operators: not known, nor what calls took in the program; `--kineto` names a file that has both"
    return "between operators: not known, where not every call on the host was found once, or of a part below a label"


def left_out(trace: Trace) -> list[str]:
    """Say which operators of a trace are not run again, and why."""
    return [f"left out: {entry.count} x {entry.name}{_took(entry)}: {entry.reason}" for entry in trace.left_out]


def _took(entry: LeftOut) -> str:
    return "" if entry.recorded is None else f", {format_seconds(entry.recorded)}"


def _cells(entry: Replayed, row: Mapping[str, Any]) -> tuple[str, ...]:
    record = entry.record
    ratio = row["ratio"]
    return (
        _name(entry),
        str(entry.traced.count),
        format_seconds(row["time"]),
        "" if record is None else spread(record),
        format_seconds(row["total"]),
        _percent(row["share"]),
        _percent(row["cumulative"]),
        format_seconds(row["recorded"]),
        "" if ratio is None else f"{ratio:.2f}",
        _note(entry),
        case_text(entry.traced.case),
    )


def _note(entry: Replayed) -> str:
    if entry.record is None:
        return "not measured"
    if entry.record.status == "ok":
        return ""
    why = "" if entry.record.reason is None else first_line(entry.record.reason.message)
    return f"{entry.record.status}: {why}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"


def _csv(replay: Replay) -> str:
    names = ("count", "time", "total", "share", "cumulative", "recorded", "ratio")
    seconds = ("time", "total", "recorded")
    titles = (f"{name}_s" if name in seconds else name for name in names)
    rows = []
    for entry, row in zip(replay.calls, replay.rows()):
        case = entry.traced.case
        status = "not measured" if entry.record is None else entry.record.status
        clock = "" if row["recorded"] is None else replay.trace.clock
        told = (case.id, case.operator, case_text(case))
        reason = None if entry.record is None or entry.record.reason is None else entry.record.reason.message
        rows.append((*told, *(row[name] for name in names), clock, status, reason))
    return cells.comma_separated(("case_id", "operator", "inputs", *titles, "clock", "status", "reason"), rows)
