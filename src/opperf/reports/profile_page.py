"""A profile as one web page that needs nothing else: its rows as a table, one step over time, operators by their share.

The charts are plotly's, whose script is in the page, so that nothing is fetched; the page forbids itself to. Whatever
comes from a program is escaped: by the template engine, and once more where plotly reads its own markup in a text.
What is drawn is bounded, since a browser holds an element for each span, and the page says what it leaves out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, TypeAlias

from opperf.errors import InputError
from opperf.profile.columns import Column, columns, shapes_text
from opperf.profile.event import KINDS, Event, Profile
from opperf.profile.nesting import in_time, lanes, track
from opperf.profile.rows import GROUPINGS, Row, rows
from opperf.reports.escaping import one_line
from opperf.reports.html import engine
from opperf.units import format_bytes, format_percent, format_seconds

#: Spans that are drawn of one step, the longest. With more, a browser takes seconds to answer.
MOST_SPANS = 2_000
#: Steps that can be chosen, spread over all of them.
MOST_STEPS = 8
#: Rows of one table, those that took most by themselves.
MOST_ROWS = 500
#: Operators that have a bar.
MOST_BARS = 15
#: Characters of a name in a chart. Names of kernels are longer than a screen is wide.
LONGEST = 60

#: A lane of a thread of a process.
Lane: TypeAlias = tuple[int, str, int]


@dataclass(frozen=True)
class Window:
    """A stretch of time that is drawn: a step, or the whole profile where there are none. Nanoseconds since 1970."""

    title: str
    begin: int
    end: int


def render(profile: Profile) -> str:
    """Return the page; raises `InputError` where plotly is not installed."""
    windows, left_out = _windows(profile)
    shares, others = _shares(rows(profile))
    template = engine().from_string(Path(__file__).with_suffix(".html").read_text(encoding="utf-8"))
    return template.render(
        title=_title(profile),
        processes=[_facts(number, facts) for number, facts in sorted(profile.processes.items())],
        notes=[one_line(note) for note in profile.notes],
        tables=[_table(profile, by) for by in GROUPINGS if _tells(profile, by)],
        windows=windows,
        typical=_typical(windows),
        steps_left_out=left_out,
        others=others,
        data={"steps": [_drawing(profile, window) for window in windows], "shares": shares, "kinds": KINDS},
        plotly=_plotly(),
    )


def _plotly() -> str:
    """Return the script that draws the charts."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as problem:
        raise InputError(
            "the page of a profile is drawn by plotly, which is not installed here",
            hint='`pip install "opperf[html]"`, or take another format',
            slug="no_package",
        ) from problem
    return str(get_plotlyjs())


def _title(profile: Profile) -> str:
    commands = dict.fromkeys(_said(facts["command"]) for facts in profile.processes.values() if facts.get("command"))
    return f"Profile of {', '.join(commands)}" if commands else "Profile"


def _facts(number: int, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is told of a process: its framework as its heading, and everything else that is known."""
    known = {name: _said(value) for name, value in facts.items() if value not in (None, "")}
    heading = " ".join(known.pop(name) for name in ("framework", "version") if name in known)
    return {"heading": heading or "process", "facts": {"process": str(number), **known}}


def _said(value: Any) -> str:
    return one_line(" ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value))


def _tells(profile: Profile, by: str) -> bool:
    """Whether rows of this kind say more than rows by name do."""
    fact = {"shape": "shapes", "module": "module"}.get(by, "name")
    return by == "name" or any(getattr(event, fact) for event in profile.of_kind(GROUPINGS[by]))


def _table(profile: Profile, by: str) -> dict[str, Any]:
    """Return the cells of a table, each with what it is sorted by; columns without any are left out."""
    found = rows(profile, by)
    seen = found[:MOST_ROWS]
    first, *others = columns(by)
    shown = [first, *(column for column in others if any(column.value(row) not in (None, "") for row in seen))]
    return {
        "by": by,
        "columns": shown,
        "rows": [[_cell(column, row) for column in shown] for row in seen],
        "left_out": len(found) - len(seen),
    }


def _cell(column: Column, row: Row) -> dict[str, Any]:
    value = column.value(row)
    return {"key": "" if value is None else value, "text": one_line(column.cell(row))}


def _windows(profile: Profile) -> tuple[list[Window], int]:
    """Return what can be drawn over time, and how many steps are left out of that."""
    steps = sorted(profile.of_kind("step"), key=in_time)
    if not steps:
        begin = min((event.begin for event in profile.events), default=0)
        end = max((event.end for event in profile.events), default=0)
        return [Window("the whole profile", begin, end)] if end > begin else [], 0
    chosen = steps[:: -(-len(steps) // MOST_STEPS)]
    several = len({step.process for step in steps}) > 1
    return [
        Window(
            f"{one_line(step.name)}{f' of process {step.process}' if several else ''}, "
            f"{format_seconds(step.duration / 1e9)}",
            step.begin,
            step.end,
        )
        for step in chosen
    ], len(steps) - len(chosen)


def _typical(windows: Sequence[Window]) -> int:
    """Return the place of the window of middling length: the first step is seldom like the others."""
    by_length = sorted(range(len(windows)), key=lambda place: windows[place].end - windows[place].begin)
    return by_length[len(windows) // 2] if windows else 0


def _drawing(profile: Profile, window: Window) -> dict[str, Any]:
    """Return what plotly needs to draw a window: a line for each depth of each thread, and bars by kind of span."""
    seen = [event for event in profile.events if event.begin < window.end and event.end > window.begin]
    longest = sorted(seen, key=lambda event: -event.duration)[:MOST_SPANS]
    events = sorted(longest, key=in_time)
    places = lanes(events)
    tops, height = _lines(events, places)
    several = len({process for process, _, _ in tops}) > 1
    spans: dict[str, dict[str, list[Any]]] = {}
    for event, (lane, depth) in zip(events, places):
        bars = spans.setdefault(event.kind, {"begin": [], "length": [], "line": [], "name": [], "said": []})
        bars["begin"].append((event.begin - window.begin) / 1e9)
        bars["length"].append(event.duration / 1e9)
        bars["line"].append(tops[event.process, event.thread, lane] + depth)
        bars["name"].append(_marked(event.name))
        bars["said"].append(_description(event, window))
    names = [(track(thread, lane), process) for process, thread, lane in tops]
    return {
        "length": (window.end - window.begin) / 1e9,
        "height": height,
        "tops": list(tops.values()),
        "threads": [_marked(f"{name} of {process}" if several else name) for name, process in names],
        "spans": spans,
        "said": _left_out(len(seen) - len(longest), longest),
    }


def _lines(events: Sequence[Event], places: Sequence[tuple[int, int]]) -> tuple[dict[Lane, int], int]:
    """Return the line that each lane begins on, lanes of a thread together, and how many lines there are."""
    heights: dict[Lane, int] = {}
    for event, (lane, depth) in zip(events, places):
        key = event.process, event.thread, lane
        heights[key] = max(heights.get(key, 0), depth + 1)
    threads = {thread: place for place, thread in enumerate(dict.fromkeys(key[:2] for key in heights))}
    tops: dict[Lane, int] = {}
    height = 0
    for key in sorted(heights, key=lambda key: (key[0], threads[key[:2]], key[2])):
        tops[key] = height
        height += heights[key]
    return tops, height


def _left_out(count: int, drawn: Sequence[Event]) -> str:
    if not count:
        return ""
    return f"{count} spans of at most {format_seconds(drawn[-1].duration / 1e9)} are not drawn."


def _description(event: Event, window: Window) -> str:
    """Return what is said of a span when it is pointed at."""
    lines = [
        f"<b>{_marked(event.name)}</b>",
        f"{event.kind}{', backward' if event.backward else ''}{', fused' if event.fused else ''}",
        f"{format_seconds(event.duration / 1e9)}, from {format_seconds((event.begin - window.begin) / 1e9)} on",
        *([_marked(event.module)] if event.module else []),
        *([_marked(shapes_text(event.shapes))] if event.shapes else []),
        *([f"allocated {format_bytes(event.allocated)}"] if event.allocated is not None else []),
        *([f"on the device {format_seconds(event.device / 1e9)}"] if event.device is not None else []),
    ]
    return "<br>".join(lines)


def _shares(found: Sequence[Row]) -> tuple[dict[str, list[Any]], str]:
    """Return the bars of operators by their share, the largest first, and what is said of those that have none."""
    known = [(row.name, row.share, row.own) for row in found if row.share]
    bars, rest = known[:MOST_BARS], known[MOST_BARS:]
    others = _share(sum(share for _, share, _ in rest), sum(own for _, _, own in rest))
    return {
        "names": [_marked(name) for name, _, _ in bars],
        "shares": [share for _, share, _ in bars],
        "said": [_share(share, own) for _, share, own in bars],
    }, f"{len(rest)} more operators took {others}." if rest else ""


def _share(share: float, own: float) -> str:
    return f"{format_percent(share)}, {format_seconds(own)}"


def _marked(text: str) -> str:
    """Return a text that plotly shows as it is, though it reads some markup; long ones are cut."""
    line = one_line(text)
    return escape(line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…", quote=False)
