"""Noise floors: how far each operator moves when it is compared with itself."""

from __future__ import annotations

import math
from collections.abc import Iterator

from opperf.domain.floor import Floor, NoiseRun
from opperf.domain.plan import Trial
from opperf.domain.stats.significance import wilson
from opperf.domain.units import format_seconds
from opperf.parent.reports.columns import of_jobs
from opperf.parent.reports.document import Block, Check, Column, Document, Legend, Note, table
from opperf.parent.reports.machine import crowds
from opperf.parent.reports.text import case_text, place, subject

LEGEND = Legend(
    {
        "live floor": "live floor: the change that `opperf compare` must exceed here",
        "between processes": "between processes: slowest / fastest; two recorded runs must differ by more",
    }
)


def document(noise: NoiseRun) -> Document:
    """Return the report."""
    blocks: list[Block] = [table(COLUMNS, noise.floors), Note(summary(noise)), *map(Note, crowds(noise.run)), LEGEND]
    return Document("opperf noise", blocks, noise.to_json, [*_checks(noise)], summary(noise), started=noise.run.started)


def _checks(noise: NoiseRun) -> Iterator[Check]:
    """Yield what a CI system shows: a floor is a test that passed, a trial without one could not be measured."""
    for floor in noise.floors:
        text = f"live floor {_percent(floor.moved)}"
        yield Check(*_words(floor.trial), "passed", text, seconds=floor.time, numbers={"moved": floor.moved})
    for trial, why in noise.unknown:
        yield Check(*_words(trial), "failed", why or "too few pairs", "error", "warning")


def _words(trial: Trial) -> tuple[str, str, str]:
    short = f"{subject(trial.case, trial.side)} {trial.direction}"
    return f"{short} {case_text(trial.case)}".rstrip(), place(trial.side), short


def summary(noise: NoiseRun) -> str:
    """Say how often identical code was called changed, and what could not be measured."""
    gaps = [
        f"no floor for {subject(trial.case, trial.side)} {trial.direction}: {why or 'too few pairs'}."
        for trial, why in noise.unknown
    ]
    return " ".join([_alarms(noise), *gaps])


def _alarms(noise: NoiseRun) -> str:
    if not noise.comparisons:
        return "Nothing was compared."
    low, high = wilson(noise.alarms, noise.comparisons)
    return (
        f"{noise.alarms} of {noise.comparisons} comparisons of identical code reported a change, at a tolerance of "
        f"{noise.tolerance:.0%}: {noise.alarms / noise.comparisons:.1%} (95 % interval {low:.1%} to {high:.1%})."
    )


def _percent(log_ratio: float) -> str:
    return f"{100 * math.expm1(log_ratio):.2f} %"


COLUMNS: tuple[Column[Floor], ...] = (
    Column("case_id", None, lambda floor: floor.trial.case.id),
    Column("operator", "operator", lambda floor: subject(floor.trial.case, floor.trial.side), least=10),
    Column("direction", "direction", lambda floor: floor.trial.direction, least=8, common=True),
    Column("inputs", "inputs", lambda floor: case_text(floor.trial.case), least=14, lines=6),
    Column("side", "side", lambda floor: place(floor.trial.side), least=12, common=True),
    Column("time_s", "time", lambda floor: floor.time, format_seconds, rank=4),
    Column("pairs", "pairs", lambda floor: floor.pairs, rank=0),
    Column("spread", "spread of pairs", lambda floor: floor.spread, _percent, rank=1),
    Column("moved", "live floor", lambda floor: floor.moved, _percent),
    Column("between", "between processes", lambda floor: floor.between, _percent, rank=3),
    Column(None, "false alarms", lambda floor: f"{floor.alarms} of {floor.comparisons}", rank=2),
    Column("alarms", None, lambda floor: floor.alarms),
    Column("comparisons", None, lambda floor: floor.comparisons),
    *of_jobs(lambda floor: floor.facts),
)
