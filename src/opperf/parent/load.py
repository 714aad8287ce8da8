"""Documents that opperf wrote, read again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from opperf.domain.measurement import Outcome
from opperf.domain.record import Run
from opperf.parent.analysis.summary import record
from opperf.parent.store.documents import read_run
from opperf.parent.store.journal import read_journal


def read_results(path: Path) -> Run:
    """Return what a result file holds, or what the journal of a run that ended early amounts to."""
    if path.suffix != ".journal":
        return read_run(path)
    kept = read_journal(path)
    grouped: dict[tuple[object, ...], list[Outcome]] = {}
    for outcome in kept.outcomes:
        grouped.setdefault(outcome.trial.key, []).append(outcome)
    made = tuple(record(several[0].trial, several, kept.run.settings) for several in grouped.values())
    return replace(kept.run, records=(*kept.records, *made))
