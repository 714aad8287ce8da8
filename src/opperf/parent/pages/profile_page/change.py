"""Two profiles beside each other as one web page: the largest changes, both call trees aligned, both timelines, tables.

Colours say what takes more or less after than before, and so do signs and numbers. The tables and the chart of the
largest changes need no script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from opperf.domain.profile.columns import columns, shapes_text
from opperf.domain.profile.event import Profile
from opperf.domain.profile.rows import GROUPINGS, Change, Row, changes
from opperf.domain.units import format_difference, format_factor, format_seconds, plural
from opperf.parent.analysis.call_trees import Call, Pair, aligned_trees
from opperf.parent.pages.charts import figure
from opperf.parent.pages.charts.differences import Difference, Differences
from opperf.parent.pages.profile_page.flame import bound, frame_text, full_text
from opperf.parent.pages.profile_page.head import fill, processes
from opperf.parent.pages.profile_page.tables import MOST_BARS, MOST_ROWS, tells
from opperf.parent.pages.profile_page.timeline import Window, trace_of, windows_of_both
from opperf.parent.reports.document import Column, Note, plain
from opperf.parent.reports.profile_change import document
from opperf.parent.reports.text import one_line

SIDES = ("before", "after")
#: A place whose time changed by a smaller share is drawn as the same: medians of a few calls differ by as much.
SAME = 0.05
#: So is one whose change is a smaller share of all time.
SMALL = 0.001


def render(before: Profile, after: Profile, names: Sequence[str] = SIDES) -> str:
    """Return the page; `names` are those of both profiles."""
    profiles = before, after
    values, windows = over_time(before, after)
    return fill(
        "change.html",
        title=f"Profiles: {' and '.join(map(one_line, names))}",
        sides=[
            {"side": side, "name": one_line(name), "processes": processes(profile)}
            for side, name, profile in zip(SIDES, names, profiles)
        ],
        notes=[one_line(block.text) for block in document(before, after).blocks if isinstance(block, Note)],
        figures=[figure(chart) for chart in _charts(changes(before, after))],
        tables=[_table(before, after, by) for by in GROUPINGS if any(tells(profile, by) for profile in profiles)],
        sorted_by="change",
        data={"windows": windows, "flame": frames(aligned_trees(before, after))},
        **values,
    )


#: The beginning of a stretch in the timeline of a page, and its length, in nanoseconds.
Stretch: TypeAlias = list[int]


def over_time(before: Profile, after: Profile) -> tuple[dict[str, object], list[list[Stretch]]]:
    """Return the values of the page for both timelines, and the stretches of both that can be chosen."""
    pairs, left_out = windows_of_both(before, after)
    traces = [trace_of(profile) for profile in (before, after)]
    values: dict[str, object] = {
        "windows": [_title(*pair) for pair in pairs],
        "typical": min(1, len(pairs) - 1),
        "steps_left_out": left_out,
        "spans_left_out": [f"{side}: {trace.left_out}" for side, trace in zip(SIDES, traces) if trace.left_out],
        "traces": {f"trace-{side}": trace.content for side, trace in zip(SIDES, traces)},
    }
    return values, [
        [[window.begin - trace.epoch, window.end - window.begin] for window, trace in zip(pair, traces)]
        for pair in pairs
    ]


def _title(before: Window, after: Window) -> str:
    lengths = [format_seconds((window.end - window.begin) / 1e9) for window in (before, after)]
    return f"{before.name}, {lengths[0]} before, {lengths[1]} after"


def _charts(differences: Sequence[Change]) -> Iterator[Differences]:
    """Yield the chart of the largest changes, where anything changed."""
    changed = [change for change in differences if change.typical]
    if not changed:
        return
    rest = len(changed) - MOST_BARS
    yield Differences(
        "Largest changes by operator",
        "To the right: takes longer after than before. To the left: takes less. Hollow: only one profile has the "
        "operator. Of as many median calls, without waiting for a CPU and without the operators called inside."
        + (f" The table has {plural(rest, 'smaller change')}." if rest > 0 else ""),
        [
            Difference(
                change.name,
                _calls_text(change),
                change.typical,
                _change_text(change),
                alone(change),
                f"{change.name}: {_seconds(change.before)} before, {_seconds(change.after)} after",
            )
            for change in changed[:MOST_BARS]
        ],
        format_difference,
    )


def alone(change: Change) -> str:
    """Return the side that alone has a row, empty where both have it."""
    return "after" if change.before is None else "before" if change.after is None else ""


def _calls_text(change: Change) -> str:
    counts = [row.calls for row in (change.before, change.after) if row is not None]
    calls = plural(counts[0], "call") if len({*counts}) == 1 else f"{counts[0]} -> {counts[1]} calls"
    return f"only {alone(change)}, {calls}" if alone(change) else calls


def _change_text(change: Change) -> str:
    ratio = _ratio(change)
    return f"{format_difference(change.typical)}{'' if ratio is None else f', {format_factor(ratio, 2)}x'}"


def _seconds(row: Row | None) -> str:
    return "none" if row is None else format_seconds(row.typical)


def _ratio(change: Change) -> float | None:
    """Return how many times as long a row takes; None where one side has none of it."""
    if change.before is None or change.after is None or not change.before.typical:
        return None
    return change.after.typical / change.before.typical


def _of_sides(title: str, field: str, show: Callable[[float | None], str]) -> list[Column[Change]]:
    """Return a column of a number for each side."""
    return [
        Column(None, f"{title}before", lambda change: getattr(change.before, field, None), show, "right"),
        Column(None, f"{title}after", lambda change: getattr(change.after, field, None), show, "right"),
    ]


#: What the title of a column does not say.
HINTS = {
    "before": "of as many median calls, without waiting for a CPU, and without the operators called inside",
    "change": "of as many median calls; sorted by its size",
    "ratio": "after / before",
    "one call": "the ratio of the medians of one call",
    "self before": "of all calls, without the operators called inside",
}
COLUMNS: tuple[Column[Change], ...] = (
    Column(None, "change", lambda change: change.typical, format_difference, "right"),
    *_of_sides("", "typical", format_seconds),
    Column(None, "ratio", _ratio, lambda ratio: format_factor(ratio, 2), "right"),
    Column(None, "only", alone),
    *_of_sides("calls ", "calls", plain),
    Column(None, "one call", lambda change: change.ratio_of_call, lambda ratio: format_factor(ratio, 2), "right"),
    *_of_sides("self ", "own", format_seconds),
    Column(None, "shapes", lambda change: shapes_text(change.shapes)),
)


def _table(before: Profile, after: Profile, by: str) -> dict[str, object]:
    """Return the changes of a grouping as a table of the page, the largest first; empty columns are left out."""
    every = changes(before, after, by)
    rows = every[:MOST_ROWS]
    first: Column[Change] = Column(None, columns(by)[0].title, lambda change: change.name)
    filled = [column for column in (first, *COLUMNS) if any(column.show(column.read(row)) for row in rows)]
    heads = [column.title or "" for column in filled]
    return {
        "by": by,
        "columns": [
            {"title": title, "number": column.align == "right", "hint": HINTS.get(title, "")}
            for title, column in zip(heads, filled)
        ],
        "rows": [[_cell(column, row) for column in filled] for row in rows],
        "left_out": len(every) - len(rows),
    }


def _cell(column: Column[Change], change: Change) -> dict[str, object]:
    value = column.read(change)
    key = abs(change.typical) if column.title == "change" else value
    return {"key": "" if key is None else key, "text": one_line(column.show(value))}


def frames(root: Pair, *, by_calls: bool = False) -> dict[str, list[object]]:
    """Return the frames of both call trees, outer ones first; none where neither took any time.

    A frame is as wide as what lies within it and the longer of its own two times; it says what its place took before
    and after, in nanoseconds or `by_calls`, and which of `wider`, `narrower`, `same`, `new` and `gone` that is.
    """
    pairs: list[Pair] = []
    outer: list[int] = []
    waiting = [(root, -1)]
    while waiting:
        pair, around = waiting.pop()
        waiting += [(child, len(pairs)) for child in reversed(pair.below)]
        pairs.append(pair)
        outer.append(around)
    spent = _calls if by_calls else _nanoseconds
    sums = [[spent(call) for call in (pair.before, pair.after)] for pair in pairs]
    took = [max(times) for times in sums]
    for place in range(len(pairs) - 1, 0, -1):
        took[outer[place]] += took[place]
        for side in (0, 1):
            sums[outer[place]][side] += sums[place][side]
    if not took[0]:
        return {}
    numbers, others = bound(outer, took)
    longest = max(sums[0])
    figure: dict[str, list[object]] = {
        "names": [" -> ".join(map(frame_text, pairs[place].names)) for place in numbers],
        "full": [" -> ".join(filter(None, map(full_text, pairs[place].names))) for place in numbers],
        "outer": [numbers.get(outer[place], -1) for place in numbers],
        "took": [took[place] for place in numbers],
        "before": [sums[place][0] for place in numbers],
        "after": [sums[place][1] for place in numbers],
        "state": [_state(pairs[place], sums[place], longest) for place in numbers],
        "calls": [[_calls(pairs[place].before), _calls(pairs[place].after)] for place in numbers],
    }
    for number, places in others.items():
        both = [sum(sums[place][side] for place in places) for side in (0, 1)]
        width = sum(took[place] for place in places)
        values = (plural(len(places), "other"), "", number, width, *both, _direction(both, longest), [0, 0])
        for column, value in zip(figure.values(), values):
            column.append(value)
    return figure


def _nanoseconds(call: Call | None) -> int:
    return 0 if call is None else round(call.seconds * 1e9)


def _calls(call: Call | None) -> int:
    return 0 if call is None else call.calls


def _state(pair: Pair, times: Sequence[int], longest: int) -> str:
    if pair.before is None or pair.after is None:
        return "new" if pair.before is None else "gone"
    return _direction(times, longest)


def _direction(times: Sequence[int], longest: int) -> str:
    before, after = times
    if abs(after - before) <= max(SAME * before, SMALL * longest):
        return "same"
    return "wider" if after > before else "narrower"
