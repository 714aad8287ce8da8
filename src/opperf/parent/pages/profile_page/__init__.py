"""A profile as one web page that needs nothing else: operators by share, spans and memory over time, stacks, tables.

Bars are SVG as on other pages. What is enlarged, moved and pointed at is drawn by the page's own script, from the trace
that Perfetto reads and that can be saved from the page. Nothing is fetched; the page forbids itself to. Whatever comes
from a program is escaped by the template engine, or never becomes markup. What the page holds is bounded, and it says
what it leaves out.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from opperf.domain.profile.compilation import COMPILED
from opperf.domain.profile.event import Profile
from opperf.domain.profile.module_tree import PARAMETERS
from opperf.domain.profile.rows import PEAK
from opperf.domain.units import format_flop_rate, format_seconds
from opperf.parent.pages.charts import STYLE
from opperf.parent.pages.profile_page.flame import frames
from opperf.parent.pages.profile_page.tables import groupings, outside, peak
from opperf.parent.pages.profile_page.timeline import trace_of, typical, windows
from opperf.parent.reports.text import one_line

FOLDER = Path(__file__).parent
#: In the order in which they run; each declares functions for the last.
SCRIPTS = ("../tables.js", "page.js", "spans.js", "axis.js", "trace.js", "timeline.js", "flame.js", "start.js")


def render(profile: Profile) -> str:
    """Return the page."""
    stretches, left_out = windows(profile)
    tables = groupings(profile)
    begins: dict[int, int] = {}
    for event in profile.events:
        begins[event.process] = min(event.begin, begins.get(event.process, event.begin))
    trace = trace_of(profile)
    spans = [[window.begin - trace.epoch, window.end - window.begin] for window in stretches]
    filler = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    filler.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return filler.from_string((FOLDER / "page.html").read_text(encoding="utf-8")).render(
        title=_title(profile),
        processes=[_facts(number, facts, begins.get(number)) for number, facts in sorted(profile.processes.items())],
        notes=[one_line(note) for note in profile.notes],
        tables=tables,
        peak=peak(profile),
        outside=outside(profile),
        windows=stretches,
        typical=typical(stretches),
        steps_left_out=left_out,
        trace=trace,
        data={"windows": spans, "flame": frames(profile)},
        style=STYLE + "".join((folder / "page.css").read_text(encoding="utf-8") for folder in (FOLDER.parent, FOLDER)),
        script="\n".join((FOLDER / name).read_text(encoding="utf-8") for name in SCRIPTS),
    )


def _title(profile: Profile) -> str:
    commands = dict.fromkeys(_text(facts["command"]) for facts in profile.processes.values() if facts.get("command"))
    return f"Profile of {', '.join(commands)}" if commands else "Profile"


def _facts(number: int, facts: Mapping[str, object], begin: int | None) -> dict[str, object]:
    """Return the facts of a process: its framework as the heading, then everything else."""
    texts = {
        name: _text(value)
        for name, value in facts.items()
        if value not in (None, "") and name not in (PEAK, PARAMETERS, COMPILED)
    }
    peak = facts.get(PEAK)
    texts |= {"peak": format_flop_rate(peak)} if isinstance(peak, (int, float)) else {}
    texts |= (
        {} if begin is None else {"begun": f"{datetime.fromtimestamp(begin / 1e9, timezone.utc):%Y-%m-%d %H:%M:%S} UTC"}
    )
    heading = " ".join(texts.pop(name) for name in ("framework", "version") if name in texts)
    return {"heading": heading or "process", "facts": {"process": str(number), **texts}}


def _text(value: object) -> str:
    if isinstance(value, float):  # the floats among a process's facts are seconds
        return format_seconds(value)
    return one_line(" ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value))
