"""A trace that was run again: one row for each of its operators, with what all of it costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from opperf.domain.suite import LeftOut
from opperf.domain.units import format_seconds, plural
from opperf.parent.documents.trace import Replay, ReplayedCase, Trace
from opperf.parent.reports.columns import spelling, spread
from opperf.parent.reports.document import Block, Column, Document, Legend, Note, table
from opperf.parent.reports.layout import MOST_NAMES
from opperf.parent.reports.machine import crowds
from opperf.parent.reports.run import checks
from opperf.parent.reports.text import case_text, first_line, short_text

#: An operator, and what is computed of it.
Line: TypeAlias = tuple[ReplayedCase, Mapping[str, object]]
#: The most reasons to show of rows that `--top` hides.
REASONS = 8
LEGEND = {
    "time": "time: one standalone call, with warm caches",
    "total": "total: calls times time",
    "share": "share: of the sum of totals",
}
#: What a recorded time is, by the clock that it was taken with.
CLOCKS = {
    "host": "recorded: all calls inside the program, including profiler overhead",
    "device": "recorded: device time of all calls inside the program",
}


def document(replay: Replay, top: int | None = None) -> Document:
    """Return the report; `top` bounds the rows that people are shown."""
    trace = replay.trace
    title = f"recorded ({trace.clock})"
    legend = {**LEGEND, title: CLOCKS[trace.clock]} if trace.has_recorded else LEGEND
    lines = list(zip(replay.calls, replay.rows(), strict=True))
    words = [*(() if top is None else _reasons(replay.calls[top:])), *summary(replay), *crowds(replay.run)]
    blocks: list[Block] = [table(_columns(trace.clock, title), lines, top=top), *map(Note, words), Legend(legend)]
    return Document(
        "opperf replay", blocks, replay.to_json, checks(replay.run), summary(replay)[0], started=replay.run.started
    )


def _columns(clock: str, title: str) -> tuple[Column[Line], ...]:
    return (
        Column("case_id", None, lambda line: line[0].traced.case.id),
        Column("operator", None, lambda line: line[0].traced.case.operator),
        Column("inputs", None, lambda line: case_text(line[0].traced.case)),
        Column(None, "operator", lambda line: _name(line[0]), least=14),
        Column("count", "calls", lambda line: line[0].traced.count),
        Column("time_s", "time", _number("time"), format_seconds, rank=4),
        Column(None, "spread", lambda line: "" if line[0].record is None else spread(line[0].record), rank=1),
        Column("total_s", "total", _number("total"), format_seconds),
        Column("share", "share", _number("share"), _percent),
        Column("cumulative", "cumulative", _number("cumulative"), _percent, rank=0),
        Column("recorded_s", title, _number("recorded"), format_seconds, rank=3),
        Column(
            "ratio", "alone/recorded", _number("ratio"), lambda ratio: "" if ratio is None else f"{ratio:.2f}", rank=2
        ),
        Column("clock", None, lambda line: "" if line[1]["recorded"] is None else clock),
        Column("status", None, lambda line: "not measured" if line[0].record is None else line[0].record.status),
        Column("reason", None, lambda line: getattr(getattr(line[0].record, "reason", None), "message", None)),
        Column(None, "notes", lambda line: _note(line[0]), least=20, below=True),
        Column(None, "inputs", lambda line: short_text(line[0].traced.case), least=14, lines=6),
    )


def _number(name: str) -> Callable[[Line], object]:
    return lambda line: line[1][name]


def _reasons(hidden: Sequence[ReplayedCase]) -> list[str]:
    """Say why hidden rows were not measured: failed rows come last, after the expensive ones."""
    groups: dict[str, list[str]] = {}
    for entry in hidden:
        if entry.total is None:
            groups.setdefault(_note(entry), []).append(_name(entry))
    texts = []
    for note, names in groups.items():
        several = dict.fromkeys(names)
        texts.append(
            f"{note} ({len(names)}): {', '.join([*several][:MOST_NAMES])}{', ...' if len(several) > MOST_NAMES else ''}"
        )
    more = [f"{len(texts) - REASONS} more reasons are in `--format csv`"] if len(texts) > REASONS else []
    return texts[:REASONS] + more


def _name(entry: ReplayedCase) -> str:
    return spelling(entry.traced.case.operator).removesuffix(".default")


def summary(replay: Replay) -> list[str]:
    """Say how much of the trace was measured, what all of it costs, and what was left out."""
    coverage = replay.coverage()
    lines = [
        f"measured: {coverage['measured_calls']} of {coverage['calls']} calls ({_percent(coverage['share_of_calls'])})"
    ]
    if coverage["share_of_time"] is not None:
        lines[0] += f", {_percent(coverage['share_of_time'])} of the recorded time"
    lines.append(f"standalone: {format_seconds(replay.total)} in total, with warm caches")
    if coverage["ratio"] is not None:
        lines[-1] += (
            f", {coverage['ratio']:.2f} of the {format_seconds(coverage['measured_recorded'])} that were recorded"
        )
    lines += [
        _missing(name, *counts, coverage["recorded"]) for name, counts in _unmeasured(replay).items() if counts[0]
    ]
    return [*lines, _idle_text(replay.trace), *device_text(replay.trace), *left_out(replay.trace)]


def _unmeasured(replay: Replay) -> dict[str, tuple[int, float | None]]:
    """Return the calls that were not measured and their recorded time: those that failed, those that were left out."""
    coverage = replay.coverage()
    left_out = coverage["left_out_calls"], coverage["left_out_recorded"]
    failures = coverage["calls"] - coverage["measured_calls"] - left_out[0]
    total_before = coverage["recorded"]
    rest = (
        None if total_before is None else total_before - (coverage["measured_recorded"] or 0.0) - (left_out[1] or 0.0)
    )
    return {"not measured": (failures, rest), "left out": left_out}


def _missing(name: str, calls: int, seconds: float | None, total: float | None) -> str:
    """Say how many calls are not in the sum, and what part of the recorded time they took."""
    if seconds is None or not total:
        return f"{name}: {plural(calls, 'call')}"
    return (
        f"{name}: {plural(calls, 'call')}, {format_seconds(seconds)} of the recorded time ({_percent(seconds / total)})"
    )


def _idle_text(trace: Trace) -> str:
    """Say for how long no operator ran, or why that is not known."""
    between = trace.between
    if between is not None:
        share = _percent(between.seconds / between.span) if between.span else ""
        whole = f"{format_seconds(between.span)} from the first call to the end of the last"
        return f"between operators: {format_seconds(between.seconds)} ({share}) of the {whole}"
    if not trace.has_recorded:
        return "between operators: unknown, like the times inside the program; `--kineto` reads both"
    return "between operators: unknown for part of a trace, or where calls could not be matched one to one"


def device_text(trace: Trace) -> list[str]:
    """Say how much of the work on a device the calls launched, or that the times are not those of the device."""
    device = trace.device
    if device is None:
        return []
    total = f"{format_seconds(device.seconds)} of work on a device are in the Kineto trace"
    if trace.clock == "host":
        return [f"on the device: {total}, and no call of an operator launched any of it: recorded times are the host's"]
    return [f"on the device: {total}, of which these calls launched {_percent(device.of_calls / device.seconds)}"]


def left_out(trace: Trace) -> list[str]:
    """Say which operators of a trace are not run again, and why."""
    return [f"left out: {entry.count} x {entry.name}{_took(entry)}: {entry.reason}" for entry in trace.left_out]


def default_notes(trace: Trace) -> list[str]:
    """Say which operators of a trace have defaults for arguments that were not recorded."""
    return [
        f"note: {count} x {name}: {', '.join(f'`{one}`' for one in names)} was not recorded and has its default"
        for name, names, count in trace.assumed
    ]


def _took(entry: LeftOut) -> str:
    return "" if entry.recorded is None else f", {format_seconds(entry.recorded)}"


def _note(entry: ReplayedCase) -> str:
    if entry.record is None:
        return "not measured"
    if entry.record.status == "ok":
        return ""
    why = "" if entry.record.reason is None else first_line(entry.record.reason.message)
    return f"{entry.record.status}: {why}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"
