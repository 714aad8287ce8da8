"""Noise floors in every format."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from opperf.domain.errors import unknown
from opperf.domain.stats.significance import wilson
from opperf.domain.units import format_seconds
from opperf.parent.reports import FORMATS, layout
from opperf.parent.reports.cells import comma_separated, markdown
from opperf.parent.reports.escaping import for_markdown
from opperf.parent.reports.layout import Grid, Heading, Note
from opperf.parent.reports.text import case_text, subject

if TYPE_CHECKING:
    from opperf.domain.floor import Floor, NoiseRun

HEADINGS = (
    Heading("operator", least=10),
    Heading("direction", least=8, common=True),
    Heading("inputs", least=14, lines=6),
    Heading("side", least=12, common=True),
    Heading("time", rank=4),
    Heading("pairs", rank=0),
    Heading("spread of pairs", rank=1),
    Heading("live floor"),
    Heading("between processes", rank=3),
    Heading("false alarms", rank=2),
)
TITLES = tuple(heading.title for heading in HEADINGS)
LEGEND = (
    "live floor: what `opperf compare` of two sides must exceed here; between processes: the slowest over the fastest, "
    "what two recorded runs must exceed"
)


def render(found: NoiseRun, format: str, width: int | None = None) -> str:
    """Return noise floors in one of the formats, with a line break at the end; raises `InputError` for another.

    `width` is the terminal's, None for a pipe or a file.
    """
    if format == "json":
        return json.dumps(found.to_json(), indent=1, allow_nan=False) + "\n"
    rows = [_cells(floor) for floor in found.floors]
    if format == "csv":
        return _csv(found)
    if format == "md":
        return "\n".join([markdown(TITLES, rows), "", for_markdown(f"{summary(found)} {LEGEND}.")]) + "\n"
    if format == "console":
        return layout.text([Grid(HEADINGS, rows), Note(summary(found)), Note(LEGEND)], width=width)
    raise unknown("format", format, FORMATS, hint=f"known: {', '.join(FORMATS)}")


def summary(found: NoiseRun) -> str:
    """Say how often identical code was called changed, and what could not be measured."""
    lost = [
        f"no floor for {subject(trial.case, trial.side)} {trial.direction}: {why or 'too few pairs'}."
        for trial, why in found.unknown
    ]
    return " ".join([_alarms(found), *lost])


def _alarms(found: NoiseRun) -> str:
    if not found.comparisons:
        return "Nothing was compared."
    low, high = wilson(found.alarms, found.comparisons)
    return (
        f"{found.alarms} of {found.comparisons} comparisons of identical code were called changed, at a tolerance of "
        f"{found.tolerance:.0%}: {found.alarms / found.comparisons:.1%} (95 % interval {low:.1%} to {high:.1%})."
    )


def _cells(floor: Floor) -> tuple[str, ...]:
    side = floor.trial.side
    return (
        subject(floor.trial.case, side),
        floor.trial.direction,
        case_text(floor.trial.case),
        f"{side.framework} ({side.environment}, {side.device}, {side.mode})",
        format_seconds(floor.time),
        str(floor.pairs),
        _percent(floor.spread),
        _percent(floor.moved),
        _percent(floor.between),
        f"{floor.alarms} of {floor.comparisons}",
    )


def _percent(log_ratio: float) -> str:
    return f"{100 * math.expm1(log_ratio):.2f} %"


def _csv(found: NoiseRun) -> str:
    names = ("time", "pairs", "spread", "moved", "between", "alarms", "comparisons")
    rows = (
        (floor.trial.case.id, *_cells(floor)[:4], *(getattr(floor, name) for name in names)) for floor in found.floors
    )
    return comma_separated(("case_id", *TITLES[:4], "time_s", *names[1:]), rows)
