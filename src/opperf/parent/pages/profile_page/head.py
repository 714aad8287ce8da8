"""The head of a page of profiles, and how the page is filled: its style, its scripts, and what it holds.

The template engine escapes whatever comes from a program, or it never becomes markup.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path

from opperf.domain.profile.compilation import COMPILED
from opperf.domain.profile.event import Profile
from opperf.domain.profile.module_tree import PARAMETERS
from opperf.domain.profile.rows import PEAK
from opperf.domain.units import format_flop_rate, format_seconds
from opperf.parent.pages.charts import STYLE
from opperf.parent.pages.templates import template_engine
from opperf.parent.reports.text import one_line

FOLDER = Path(__file__).parent
#: In the order in which they run; each declares functions for the last.
SCRIPTS = (
    "../tables.js", "page.js", "spans.js", "axis.js", "trace.js", "timeline.js", "flame.js", "change.js", "start.js",
)  # fmt: skip


def fill(template: str, **values: object) -> str:
    """Return a page."""
    filler = template_engine(FOLDER)
    filler.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return filler.get_template(template).render(
        style=STYLE + "".join((folder / "page.css").read_text(encoding="utf-8") for folder in (FOLDER.parent, FOLDER)),
        script="\n".join((FOLDER / name).read_text(encoding="utf-8") for name in SCRIPTS),
        **values,
    )


def title(profile: Profile) -> str:
    """Return the title of the page: the command that was profiled."""
    commands = dict.fromkeys(_text(facts["command"]) for facts in profile.processes.values() if facts.get("command"))
    return f"Profile of {', '.join(commands)}" if commands else "Profile"


def processes(profile: Profile) -> list[dict[str, object]]:
    """Return the facts of each process: its framework as the heading, then everything else."""
    begins: dict[int, int] = {}
    for event in profile.events:
        begins[event.process] = min(event.begin, begins.get(event.process, event.begin))
    return [_facts(number, facts, begins.get(number)) for number, facts in sorted(profile.processes.items())]


def _facts(number: int, facts: Mapping[str, object], begin: int | None) -> dict[str, object]:
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
