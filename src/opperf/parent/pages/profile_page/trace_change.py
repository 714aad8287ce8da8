"""Two traces beside each other as one web page: the largest changes as bars, both call trees, and the table of all.

Where both traces say when calls ran, their timelines too.
"""

from __future__ import annotations

from collections.abc import Iterator

from opperf.domain.profile.event import Profile
from opperf.domain.units import format_difference, format_seconds, plural
from opperf.parent.analysis.trace_change import CallChange, TraceChange
from opperf.parent.pages.charts import figure
from opperf.parent.pages.charts.differences import Difference, Differences
from opperf.parent.pages.profile_page.change import frames, over_time
from opperf.parent.pages.profile_page.head import fill
from opperf.parent.pages.profile_page.tables import MOST_BARS, MOST_ROWS
from opperf.parent.reports.document import Column
from opperf.parent.reports.text import one_line
from opperf.parent.reports.trace_change import inputs_text, name, shown_changes, summary


def render(change: TraceChange, profiles: tuple[Profile, Profile] | None = None) -> str:
    """Return the page; `profiles` are what both traces show over time, where that is known."""
    traces, by_calls = {"before": change.before, "after": change.after}, not change.has_recorded
    values, windows = ({"windows": [], "traces": {}}, []) if profiles is None else over_time(*profiles)
    return fill(
        "change.html",
        title=f"Traces: {' and '.join(one_line(trace.source) for trace in traces.values())}",
        sides=[{"side": side, "name": one_line(trace.source), "processes": []} for side, trace in traces.items()],
        notes=[one_line(line) for line in summary(change)],
        figures=[figure(chart) for chart in _charts(change)],
        tables=[_table(change)],
        sorted_by="change",
        data={
            "windows": windows,
            "flame": {} if change.tree is None else frames(change.tree, by_calls=by_calls),
            "calls": by_calls,
        },
        **values,
    )


def _charts(change: TraceChange) -> Iterator[Differences]:
    """Yield the chart of the largest changes of time, or of calls where times are not known."""
    timed = change.has_recorded
    rows = [row for row in shown_changes(change) if (row.seconds if timed else row.calls)]
    if not rows:
        return
    rows.sort(key=lambda row: -abs((row.seconds or 0.0) if timed else row.calls))
    yield Differences(
        "Largest changes of recorded time" if timed else "Largest changes of calls",
        "To the right: more after than before. To the left: less. Hollow: only one trace has such calls."
        + (f" The table has {plural(len(rows) - MOST_BARS, 'smaller change')}." if len(rows) > MOST_BARS else ""),
        [_difference(row, timed=timed) for row in rows[:MOST_BARS]],
        format_difference if timed else _signed,
    )


def _difference(row: CallChange, *, timed: bool) -> Difference:
    counts = [0 if entry is None else entry.count for entry in (row.before, row.after)]
    calls = plural(counts[0], "call") if counts[0] == counts[1] else f"{counts[0]} -> {counts[1]} calls"
    return Difference(
        name(row),
        inputs_text(row),
        (row.seconds or 0.0) if timed else row.calls,
        f"{format_difference(row.seconds)}, {calls}" if timed else calls,
        row.only,
        f"{name(row)}: {calls}\n{inputs_text(row)}",
    )


def _signed(count: float) -> str:
    return f"{count:+g}" if count else "0"


def _columns(*, timed: bool) -> list[Column[CallChange]]:
    def recorded(side: str) -> Column[CallChange]:
        return Column(None, side, lambda row: getattr(getattr(row, side), "recorded", None), format_seconds, "right")

    def calls(side: str) -> Column[CallChange]:
        return Column(None, f"calls {side}", lambda row: getattr(getattr(row, side), "count", 0), align="right")

    change: Column[CallChange] = Column(None, "change", lambda row: row.seconds, format_difference, "right")
    return [
        Column(None, "operator", name),
        *([change, recorded("before"), recorded("after")] if timed else []),
        Column(None, "more calls" if timed else "change", lambda row: row.calls, lambda count: _signed(count), "right"),
        calls("before"),
        calls("after"),
        Column(None, "only", lambda row: row.only),
        Column(None, "inputs", inputs_text),
    ]


def _table(change: TraceChange) -> dict[str, object]:
    every = shown_changes(change)
    columns = _columns(timed=change.has_recorded)
    return {
        "by": "operator",
        "columns": [{"title": column.title, "number": column.align == "right", "hint": ""} for column in columns],
        "rows": [[_cell(column, row) for column in columns] for row in every[:MOST_ROWS]],
        "left_out": max(0, len(every) - MOST_ROWS),
    }


def _cell(column: Column[CallChange], row: CallChange) -> dict[str, object]:
    value = column.read(row)
    key = abs(value) if column.title == "change" and isinstance(value, (int, float)) else value
    return {"key": "" if key is None else key, "text": one_line(column.show(value))}
