"""A line for each record and each comparison, with what both have in common in the same columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from opperf.domain.case import Case
from opperf.domain.metric import METRICS
from opperf.domain.plan import Side
from opperf.domain.record import Run
from opperf.parent.documents.comparison import ComparisonRun
from opperf.parent.reports.text import case_text, for_csv

COLUMNS = (
    *("run", "started", "labels", "operator", "case", "inputs", "direction", "framework", "implementation", "version"),
    *("device", "mode", "threads", "status", "time_s", "low_s", "high_s"),
    *("base_framework", "base_version", "base_time_s", "verdict", "ratio", "ratio_low", "ratio_high", "pairs"),
    *("metric", "base_value", "value"),
)


def _columns() -> dict[str, str]:
    """Return the columns, and of those of other metrics than the time the metric."""
    names = (name for name, metric in METRICS.items() if metric.compared is not None and name != "time")
    metrics = {f"{name}_{METRICS[name].unit.suffix}".lower(): name for name in names}
    return {**dict.fromkeys(COLUMNS, ""), **metrics}


def heading() -> str:
    """Return the line of the columns' names."""
    return _line({name: name for name in _columns()})


def lines(document: Run | ComparisonRun) -> Iterator[str]:
    """Yield the lines of a run."""
    run = document if isinstance(document, Run) else document.run
    labels = " ".join(f"{name}={value}" for name, value in run.labels.items())
    common = {"run": run.id, "started": run.started, "labels": labels}
    for record in run.records:
        low, high = record.time.interval if record.time and record.time.interval else (None, None)
        metrics = {name: value.value for name, value in record.metrics.items()}
        yield _line(
            {
                **common,
                **_trial(record.trial.case, record.trial.direction, record.trial.side),
                "version": record.details.version,
                "status": record.status,
                "time_s": metrics.get("time"),
                "low_s": low,
                "high_s": high,
                **{column: metrics.get(metric) for column, metric in _columns().items() if metric},
            }
        )
    for comparison in () if isinstance(document, Run) else document.comparisons:
        low, high = comparison.verdict.interval or (None, None)
        yield _line(
            {
                **common,
                **_trial(comparison.case, comparison.direction, comparison.new),
                "version": comparison.new_version,
                "status": comparison.status,
                "time_s": comparison.new_time,
                "base_framework": comparison.base.framework,
                "base_version": comparison.base_version,
                "base_time_s": comparison.base_time,
                "verdict": comparison.verdict.verdict,
                "ratio": comparison.verdict.ratio,
                "ratio_low": low,
                "ratio_high": high,
                "pairs": comparison.verdict.pairs,
                "metric": comparison.metric,
                "base_value": comparison.levels[0],
                "value": comparison.levels[1],
            }
        )


def _trial(case: Case, direction: str, side: Side) -> dict[str, object]:
    return {
        "operator": case.operator,
        "case": case.id,
        "inputs": case_text(case),
        "direction": direction,
        "framework": side.framework,
        "implementation": side.spelling,
        "device": side.device,
        "mode": side.mode,
        "threads": side.threads,
    }


def _line(values: dict[str, object]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow([for_csv(values.get(name)) for name in _columns()])
    return text.getvalue()
