"""Two traces beside each other: operators that only one has, calls with other inputs, and more or fewer calls.

Where both traces know how long calls took, rows are those of all operators by how much that differs; else only those
that changed, by calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from opperf.domain.case import Argument
from opperf.domain.units import format_difference, format_seconds, plural
from opperf.parent.analysis.trace_change import CallChange, Entry, TraceChange, arguments
from opperf.parent.documents.trace import TracedCase
from opperf.parent.reports.columns import spelling
from opperf.parent.reports.document import Block, Column, Document, Legend, Note, table
from opperf.parent.reports.text import case_text, short_text
from opperf.parent.sources.argument_text import argument_text

SCHEMA_VERSION = 1
LEGEND = {
    "change": "change: of the recorded time of all calls",
    "only": "only: the trace that alone has such calls",
    "inputs": "inputs: what differs of them, before -> after; else all",
}


def document(change: TraceChange, top: int | None = None) -> Document:
    """Return the report; `top` bounds the rows that people are shown."""
    rows = shown_changes(change)
    blocks: list[Block] = [
        table(_columns(timed=change.has_recorded), rows, top=top),
        *map(Note, summary(change)),
        Legend(LEGEND),
    ]
    return Document("opperf replay --diff", blocks, lambda: _document(change), summary=summary(change)[0])


def shown_changes(change: TraceChange) -> list[CallChange]:
    """Return the rows, what changed most first: by time where that is known, else what changed at all."""
    if change.has_recorded:
        return sorted(change.changes, key=lambda row: -abs(row.seconds or 0.0))
    changed = [row for row in change.changes if not row.is_same]
    return sorted(changed, key=lambda row: (not row.only, -abs(row.calls)))


def summary(change: TraceChange) -> list[str]:
    """Say how many calls either trace has, how many of them are the same in both, and what they took."""
    totals = [sum(entry.count for entry in trace.entries) for trace in (change.before, change.after)]
    kinds = {
        "with other inputs": sum(row.has_other_inputs for row in change.changes),
        "with more or fewer calls": sum(bool(row.calls) and not row.only for row in change.changes),
        "only before": sum(row.only == "before" for row in change.changes),
        "only after": sum(row.only == "after" for row in change.changes),
    }
    same = sum(row.is_same for row in change.changes)
    changed = ", ".join(f"{count} {words}" for words, count in kinds.items() if count)
    operators = f"{plural(len(change.changes), 'operator')} with their inputs"
    lines = [
        f"{plural(totals[0], 'call')} before, {totals[1]} after; of {operators}, {same} the same"
        + (f", {changed}" if changed else "")
    ]
    if change.has_recorded:
        times = [sum(entry.recorded or 0.0 for entry in trace.entries) for trace in (change.before, change.after)]
        ratio = f" ({times[1] / times[0]:.3g} of it)" if times[0] else ""
        both = f"{format_seconds(times[0])} before, {format_seconds(times[1])} after"
        lines.append(f"recorded ({change.before.clock}): {both}{ratio}")
    elif change.before.has_recorded or change.after.has_recorded:
        lines.append("times are not compared: both traces need them, by one clock")
    return lines


def inputs_text(change: CallChange) -> str:
    """Write the inputs of calls for people: of those that differ, what differs; of what is not run again, why not."""
    if not change.has_other_inputs:
        return _short(change.entries[-1])
    first, second = map(arguments, change.entries)
    if not first or not second:
        return " -> ".join(map(_short, change.entries))
    names = (
        name for name in {**first, **second} if name not in first or name not in second or first[name] != second[name]
    )
    return ", ".join(f"{name} {_word(first, name)} -> {_word(second, name)}" for name in names)


def _short(entry: Entry) -> str:
    return short_text(entry.case) if isinstance(entry, TracedCase) else entry.reason


def _word(arguments: Mapping[str, Argument], name: str) -> str:
    return argument_text(arguments[name]) if name in arguments else "none"


def _inputs(entry: Entry | None) -> str | None:
    return None if entry is None else case_text(entry.case) if isinstance(entry, TracedCase) else entry.reason


def name(change: CallChange) -> str:
    """Return the operator for people."""
    return spelling(change.name).removesuffix(".default")


def _columns(*, timed: bool) -> Sequence[Column[CallChange]]:
    times: list[Column[CallChange]] = [
        Column("before_recorded_s", None, _recorded("before")),
        Column("after_recorded_s", None, _recorded("after")),
        Column(None, "recorded", lambda row: _arrow(row, lambda entry: format_seconds(entry.recorded))),
        Column("difference_s", "change", lambda row: row.seconds, format_difference, "right"),
    ]
    return [
        Column("operator", None, lambda row: row.name),
        Column(None, "operator", name, least=14),
        Column("before_calls", None, lambda row: row.before.count if row.before else 0),
        Column("after_calls", None, lambda row: row.after.count if row.after else 0),
        Column(None, "calls", lambda row: _arrow(row, lambda entry: str(entry.count))),
        *(times if timed else []),
        Column("only", "only", lambda row: row.only),
        Column("before_inputs", None, lambda row: _inputs(row.before)),
        Column("after_inputs", None, lambda row: _inputs(row.after)),
        Column(None, "inputs", inputs_text, least=20, lines=8),
    ]


def _recorded(side: str) -> Callable[[CallChange], object]:
    return lambda row: getattr(getattr(row, side), "recorded", None)


def _arrow(row: CallChange, show: Callable[[Entry], str]) -> str:
    """Write a value before and after, once where it is the same."""
    texts = ["none" if entry is None else show(entry) for entry in (row.before, row.after)]
    return " -> ".join(dict.fromkeys(texts))


def _document(change: TraceChange) -> Mapping[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "before": change.before.source,
        "after": change.after.source,
        "clock": change.before.clock if change.has_recorded else None,
        "rows": [
            {
                "operator": row.name,
                "only": row.only,
                "before": _side(row.before),
                "after": _side(row.after),
                "difference": row.seconds if change.has_recorded else None,
            }
            for row in change.changes
        ],
    }


def _side(entry: Entry | None) -> Mapping[str, object] | None:
    return None if entry is None else {"calls": entry.count, "recorded": entry.recorded, "inputs": _inputs(entry)}
