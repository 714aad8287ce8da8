"""A trace that was run again, in every format."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from opperf.errors import unknown
from opperf.reports import FORMATS, cells
from opperf.reports.columns import spelling, spread
from opperf.reports.text import case_text, first_line, one_line
from opperf.units import format_seconds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opperf.trace import Replay, Replayed, Trace

TITLES = (
    "operator", "calls", "time", "spread", "total", "share", "cumulative", "recorded ({clock})", "alone/recorded",
    "notes", "inputs",
)  # fmt: skip
LEGEND = "time: one call by itself, hot; total: calls times time; share: of the sum of totals"
#: What a recorded time is, by the clock that it was taken with.
RECORDED = {
    "host": "; recorded: all calls inside the program, with what its profiler cost",
    "device": "; recorded: what all calls inside the program made the device do",
}


def render(replay: Replay, format: str, top: int | None = None) -> str:
    """Return a replay in one of the formats, with a line break at the end; `top` bounds the rows for people.

    Raises `InputError` for a format that is not known.
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
    clock = replay.trace.clock
    words = [*more, *summary(replay), LEGEND + (RECORDED[clock] if replay.trace.has_recorded else "")]
    titles = tuple(title.format(clock=clock) for title in TITLES)
    if format == "md":
        table = cells.markdown(*cells.filled(titles, shown))
        return table + "\n\n" + "\n".join(f"* {word}" for word in words) + "\n"
    return cells.console(titles, shown) + "\n\n" + "\n".join(words) + "\n"


def summary(replay: Replay) -> list[str]:
    """Say how much of the trace was measured, what all of it costs, and what was left out."""
    found = replay.coverage()
    told = [f"measured: {found['measured_calls']} of {found['calls']} calls ({_percent(found['share_of_calls'])})"]
    if found["share_of_time"] is not None:
        told[0] += f", {_percent(found['share_of_time'])} of the recorded time"
    told.append(f"standalone: {format_seconds(replay.total)} in all")
    if found["ratio"] is not None:
        told[-1] += f", {found['ratio']:.2f} of the {format_seconds(found['measured_recorded'])} that were recorded"
    return told + left_out(replay.trace)


def left_out(trace: Trace) -> list[str]:
    """Say which operators of a trace are not run again, and why."""
    return [one_line(f"left out: {entry.count} x {entry.name}: {entry.reason}") for entry in trace.left_out]


def _cells(entry: Replayed, row: Mapping[str, Any]) -> tuple[str, ...]:
    record = entry.record
    ratio = row["ratio"]
    return (
        one_line(spelling(entry.traced.case.operator).removesuffix(".default")),
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
        told = (case.id, one_line(case.operator), case_text(case))
        rows.append((*told, *(row[name] for name in names), clock, status))
    return cells.comma_separated(("case_id", "operator", "inputs", *titles, "clock", "status"), rows)
