"""A profile as one web page that needs nothing else: operators by share, spans and memory over time, stacks, tables.

The charts are plotly's, whose script is in the page, so that nothing is fetched; the page forbids itself to. Whatever
comes from a program is escaped: by the template engine, and once more where plotly reads its own markup in a text.
What the page holds and what it draws at a time is bounded, and the page says what it leaves out.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from opperf.domain.errors import InputError
from opperf.domain.profile.event import Profile
from opperf.domain.profile.rows import PEAK
from opperf.domain.units import format_flop_rate, format_seconds
from opperf.parent.reports.profile_page.flame import frames
from opperf.parent.reports.profile_page.tables import groupings, outside
from opperf.parent.reports.profile_page.timeline import drawing, typical, windows
from opperf.parent.reports.text import one_line

FOLDER = Path(__file__).parent
#: In the order in which they run; each declares functions for the last.
SCRIPTS = ("page.js", "timeline.js", "axis.js", "flow.js", "flame.js", "start.js")


def render(profile: Profile) -> str:
    """Return the page; raises `InputError` where plotly is not installed."""
    stretches, left_out = windows(profile)
    tables = groupings(profile)
    begins: dict[int, int] = {}
    for event in profile.events:
        begins[event.process] = min(event.begin, begins.get(event.process, event.begin))
    bars = {str(table["by"]): table["bars"] for table in tables}
    data = {"time": drawing(profile, stretches), "shares": bars, "flame": frames(profile)}
    filler = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    filler.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return filler.from_string((FOLDER / "page.html").read_text(encoding="utf-8")).render(
        title=_title(profile),
        processes=[_facts(number, facts, begins.get(number)) for number, facts in sorted(profile.processes.items())],
        notes=[one_line(note) for note in profile.notes],
        tables=tables,
        outside=outside(profile),
        windows=stretches,
        typical=typical(stretches),
        steps_left_out=left_out,
        data=data,
        plotly=_plotly(),
        script="\n".join((FOLDER / name).read_text(encoding="utf-8") for name in SCRIPTS),
    )


def _plotly() -> str:
    """Return the script that draws the charts."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as problem:
        raise InputError(
            "the page of a profile needs plotly, which is not installed",
            hint="`pip install plotly`, or take another format",
            slug="no_package",
        ) from problem
    return str(get_plotlyjs())


def _title(profile: Profile) -> str:
    commands = dict.fromkeys(_text(facts["command"]) for facts in profile.processes.values() if facts.get("command"))
    return f"Profile of {', '.join(commands)}" if commands else "Profile"


def _facts(number: int, facts: Mapping[str, object], begin: int | None) -> dict[str, object]:
    """Return the facts of a process: its framework as the heading, then everything else."""
    texts = {name: _text(value) for name, value in facts.items() if value not in (None, "") and name != PEAK}
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
