"""The rows of a profile as tables of a page, and the operators that took most as bars."""

from __future__ import annotations

from collections.abc import Sequence

from opperf.domain.operator_group import group_of
from opperf.domain.profile.columns import Column, columns, shapes_text
from opperf.domain.profile.event import Event, Profile, union
from opperf.domain.profile.peak_memory import peak_rows
from opperf.domain.profile.rows import GROUPINGS, Row, rows
from opperf.domain.units import format_percent, format_seconds
from opperf.parent.pages.charts import figure
from opperf.parent.pages.charts.intervals import Bar, Bars
from opperf.parent.reports.document import Table
from opperf.parent.reports.peak_memory import peak_section
from opperf.parent.reports.text import one_line

#: Maximum rows of a table, those with the largest self time.
MOST_ROWS = 500
#: Operators that have a bar.
MOST_BARS = 15
#: Maximum rows of what was alive at the peak of memory.
MOST_PEAK = 100
#: What a call has to tell of itself, that rows by it say more than rows by name.
FACTS = {"shape": "shapes", "module": "module", "stack": "stack"}


def groupings(profile: Profile) -> list[dict[str, object]]:
    """Return a table for each grouping that says more than rows by name do, and that one first."""
    return [_table(profile, by) for by in GROUPINGS if tells(profile, by)]


def peak(profile: Profile) -> dict[str, object] | None:
    """Return the table of what was alive at the peak of memory; None where that was not recorded."""
    section = next(iter(peak_section(profile, MOST_PEAK)), None)
    if section is None:
        return None
    rows = next(block for block in section.blocks if isinstance(block, Table))
    places = rows.places()
    return {
        "title": section.title,
        "titles": rows.titles(),
        "rows": [[one_line(row.cells[i].text) for i in places] for row in rows.visible],
        "left_out": max(0, len(peak_rows(profile)) - MOST_PEAK),
    }


def tells(profile: Profile, by: str) -> bool:
    """Whether rows of a grouping say more of a profile than rows by name do, or are those."""
    if by == "group":
        return len({group_of(event.name) for event in profile.of_kind(GROUPINGS[by])}) > 1
    return by == "name" or any(getattr(event, FACTS.get(by, "name")) for event in profile.of_kind(GROUPINGS[by]))


def _table(profile: Profile, by: str) -> dict[str, object]:
    """Return the cells of a table, each with its sort key; empty columns are left out."""
    every = rows(profile, by)
    shown_rows = every[:MOST_ROWS]
    first, *others = columns(by, shown_rows)
    bars = _bars(every, by)
    filled = [first, *(column for column in others if any(column.value(row) not in (None, "") for row in shown_rows))]
    return {
        "by": by,
        "columns": [{"title": one.title, "number": one.text is not None, "hint": one.hint} for one in filled],
        "rows": [[_cell(column, row) for column in filled] for row in shown_rows],
        "left_out": len(every) - len(shown_rows),
        "bars": "" if bars is None else figure(bars),
    }


def _cell(column: Column, row: Row) -> dict[str, object]:
    value = column.value(row)
    return {"key": "" if value is None else value, "text": one_line(column.cell(row))}


def _bars(every: Sequence[Row], by: str) -> Bars | None:
    """Return the bars of rows by share, largest first, and a note on rows that have none; None where none has one."""
    parts = [(row, row.share) for row in every if row.share]
    bars, rest = parts[:MOST_BARS], parts[MOST_BARS:]
    if not bars:
        return None
    others = _share(sum(share for _, share in rest), sum(row.own for row, _ in rest))
    what = f"{by}s" if by not in ("name", "shape") else "operators"
    caption = f"Of the time that {'kernels' if by == 'kernel' else 'operators'} took without those within them."
    return Bars(
        f"{what.capitalize()} by share",
        f"{caption} {len(rest)} more {what} took {others}." if rest else caption,
        [_bar(row, share, by) for row, share in bars],
    )


def _bar(row: Row, share: float, by: str) -> Bar:
    phase = "backward" if row.backward else "recomputed" if row.recomputed else ""
    shapes = shapes_text(row.shapes) if by == "shape" else ""
    return Bar(" ".join(filter(None, (row.name, phase))), shapes, share, _share(share, row.own))


def _share(share: float, own: float) -> str:
    return f"{format_percent(share)}, {format_seconds(own)}"


#: The layers that time is divided into: of spans at one time, the first of these gets it.
LAYERS = {
    "operators": ("operator", "kernel"),
    "calls of the framework's interface": ("api",),
    "work of the framework's own": ("task",),
    "modules, between their operators": ("module",),
    "steps, outside of modules": ("step",),
}
#: Maximum number of processes to describe.
MOST = 4


def outside(profile: Profile) -> list[str]:
    """Return a sentence for each process on how long operators ran, and what the rest of the time was."""
    processes: dict[int, list[Event]] = {}
    for event in profile.events:
        processes.setdefault(event.process, []).append(event)
    several = len(processes) > 1
    return [
        _sentence(profile, number, events, f"process {number}: " if several else "")
        for number, events in [*processes.items()][:MOST]
    ]


def _sentence(profile: Profile, process: int, events: Sequence[Event], whose: str) -> str:
    parts, before = [], 0
    kinds: set[str] = set()
    for name, own in LAYERS.items():
        kinds.update(own)
        coverage = union((event.begin, event.end) for event in events if event.kind in kinds)
        parts.append((name, coverage - before))
        before = coverage
    # Gaps between the times in which a process was watched are no part of it.
    watched = profile.watched(min(event.begin for event in events), max(event.end for event in events), process)
    time_watched = max(watched, before)
    parts.append(("not recorded: Python, other libraries, waiting", time_watched - before))
    (_, ran), *rest = parts
    words = [
        f"{format_seconds(time / 1e9)} ({format_percent(time / time_watched)}) in {name}" for name, time in rest if time
    ]
    first = f"{whose}operators ran in {format_seconds(ran / 1e9)} of {format_seconds(time_watched / 1e9)}"
    if not time_watched:
        return f"{first}."
    return f"{first} ({format_percent(ran / time_watched)}){'; the rest: ' if words else ''}{', '.join(words)}."
