"""Noise floors in every format."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from opperf.errors import unknown
from opperf.reports import FORMATS
from opperf.reports.cells import comma_separated, console, markdown
from opperf.reports.text import case_text, one_line
from opperf.stats.significance import wilson
from opperf.units import format_seconds

if TYPE_CHECKING:
    from opperf.floor import Floor, NoiseRun

TITLES = (
    "operator", "direction", "inputs", "side", "time", "pairs", "spread of pairs", "live floor", "between processes",
    "false alarms",
)  # fmt: skip
LEGEND = (
    "live floor: what `opperf compare` of two sides must exceed here; between processes: the slowest over the fastest, "
    "what two recorded runs must exceed"
)


def render(found: NoiseRun, format: str) -> str:
    """Return noise floors in one of the formats, with a line break at the end; raises `InputError` for another."""
    if format == "json":
        return json.dumps(found.to_json(), indent=1, allow_nan=False) + "\n"
    rows = [_cells(floor) for floor in found.floors]
    if format == "csv":
        return _csv(found)
    if format == "md":
        return "\n".join([markdown(TITLES, rows), "", f"{summary(found)} {LEGEND}."]) + "\n"
    if format == "console":
        return "\n".join([console(TITLES, rows), "", summary(found), LEGEND]) + "\n"
    raise unknown("format", format, FORMATS, hint=f"known: {', '.join(FORMATS)}")


def summary(found: NoiseRun) -> str:
    """Say how often identical code was called changed, and what could not be measured."""
    lost = [
        one_line(f"no floor for {trial.case.operator} {trial.direction}: {why or 'too few pairs'}.")
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
        one_line(floor.trial.case.operator),
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
