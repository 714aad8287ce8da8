"""Bencher's metric format: the last value of each benchmark, with its interval where there is one.

It has no units: `latency` is in nanoseconds by definition, and `ratio` is a custom measure.
https://bencher.dev/docs/reference/bencher-metric-format/
"""

from __future__ import annotations

from collections.abc import Iterable

from opperf.domain.case import Case
from opperf.domain.plan import Side
from opperf.domain.record import Run
from opperf.parent.documents.comparison import ComparisonRun

NANO = 1e9


def metrics(documents: Iterable[Run | ComparisonRun]) -> tuple[dict[str, dict[str, dict[str, float]]], int]:
    """Return the measures of each benchmark, the last of several, and how many came before the last.

    Documents come oldest first.
    """
    measures: dict[str, dict[str, dict[str, float]]] = {}
    count = 0
    for document in documents:
        run = document if isinstance(document, Run) else document.run
        for record in run.records:
            if record.time is not None:
                trial, time = record.trial, record.time
                values = measures.setdefault(_name(trial.case, trial.direction, trial.side), {})
                bounds = None if time.interval is None else (time.interval[0] * NANO, time.interval[1] * NANO)
                count += 1
                values["latency"] = _measure(time.value * NANO, bounds)
        for comparison in () if isinstance(document, Run) else document.comparisons:
            if comparison.verdict.ratio is not None:
                values = measures.setdefault(_name(comparison.case, comparison.direction, comparison.new), {})
                count += 1
                values[comparison.ratio_name] = _measure(comparison.verdict.ratio, comparison.verdict.interval)
    return measures, count - sum(map(len, measures.values()))


def _name(case: Case, direction: str, side: Side) -> str:
    """Return a name that no other series has."""
    place: list[object] = [side.spelling or side.framework, side.device, side.mode, f"threads={side.threads}"]
    return " ".join(map(str, [case.operator, direction, case.id, *place]))


def _measure(value: float, bounds: tuple[float, float] | None) -> dict[str, float]:
    return {"value": value, **({} if bounds is None else {"lower_value": bounds[0], "upper_value": bounds[1]})}
