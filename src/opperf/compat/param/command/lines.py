"""PARAM's file of results: JSON, one object a line, each on the disk before the next operator begins.

PARAM's fields and units are kept: times are milliseconds, memory is megabytes (of 2^20 bytes). `statistics`, `status`
and whatever else PARAM does not have stands beside them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opperf.catalog.param.cases import ConfigCase
from opperf.catalog.param.sweeps import plain
from opperf.compat.param.command.ids import short
from opperf.compat.param.times import MILLI, fields
from opperf.domain.files.destination import explain_errors
from opperf.domain.measurement import Outcome, Samples
from opperf.domain.plan import Settings
from opperf.domain.record import Statistics
from opperf.parent.analysis.summary import record

#: The statistics that have the unit of a time.
TIMES = ("mean", "median", "p50", "p90", "p99", "min", "max", "stdev")
COUNTS = ("precision", "samples", "discarded", "calls_per_sample", "clock", "interval_reason")


class Lines:
    """A file of lines, opened for the length of a run."""

    def __init__(self, path: Path, *, append: bool) -> None:
        with explain_errors(path):
            self._file = path.open("a" if append else "w", encoding="utf-8")
        self.path = path

    def add(self, line: Mapping[str, Any]) -> None:
        """Write a line, and see that it is on the disk."""
        with explain_errors(self.path):
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()
            if self.path.is_file():
                os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        with suppress(OSError):  # what could not be written was told when it was added
            self._file.close()


def output_path(prefix: str, stamp: str, *, append: bool) -> Path:
    """Return where results go: the file itself, PARAM's name for a new one, or the latest one to append to.

    `stamp` is `PID_TIME`, which makes a name new.
    """
    path = Path(prefix)
    if path.suffix == ".json":
        return path
    if append:
        digits = "[0-9]*"
        there = [one for one in path.parent.glob(f"{path.name}_{digits}_{digits}.json") if one.is_file()]
        there = [one for one in there if one.stem.removeprefix(f"{path.name}_").replace("_", "").isdecimal()]
        if there:
            return max(there, key=lambda one: one.stat().st_mtime)
    return path.with_name(f"{path.name}_{stamp}.json")


def _status(directions: Sequence[str]) -> str:
    """Return what became of a case: a failure counts first, then what was measured.

    >>> _status(["ok", "skipped"]), _status(["ok", "failed"]), _status(["skipped"]), _status([])
    ('ok', 'failed', 'skipped', 'not_run')
    """
    return next((status for status in ("failed", "ok", "skipped") if status in directions), "not_run")


@dataclass(frozen=True)
class Shown:
    """How outcomes become lines: with which settings they were measured, and whether each call is waited for."""

    settings: Settings
    discrete: bool

    @property
    def _metric_name(self) -> str:
        """The metric of opperf that PARAM's time is: each call waited for, or blocks of calls."""
        return "latency" if self.discrete else "time"

    def line(
        self, made: ConfigCase, operator: str, outcomes: Mapping[str, Outcome], reports: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the line of one case, with what became of each direction, and what tools saw of it."""
        reports = reports or {}
        bad = {name: outcome for name, outcome in outcomes.items() if outcome.status != "ok"}
        return {
            "op_name": operator,
            "id": short(made, operator),
            "metric": {name: {**self._metric(outcome), **reports.get(name, {})} for name, outcome in outcomes.items()},
            "config": {"build": plain(made.build), "input": plain(made.given)},
            "run_id": made.run_id,
            "case_id": made.case.id,
            "version": next((one.version for one in outcomes.values() if one.version is not None), None),
            "status": _status([outcome.status for outcome in outcomes.values()]),
            "reasons": {name: outcome.reason.to_json() for name, outcome in bad.items() if outcome.reason is not None},
        }

    def samples(self, outcome: Outcome) -> Samples | None:
        """Return the samples of an outcome that its times are made of."""
        measured = outcome.measurement
        if measured is None:
            return None
        return measured.samples(self._metric_name) or measured.time

    def summary(self, outcome: Outcome) -> Statistics | None:
        """Return the summary of those samples, disturbed ones left out."""
        metrics = record(outcome.trial, [outcome], self.settings).metrics
        metric = metrics.get("latency" if self.discrete and "latency" in metrics else "time")
        return metric if isinstance(metric, Statistics) else None

    def _metric(self, outcome: Outcome) -> dict[str, Any]:
        samples, measured, summary = self.samples(outcome), outcome.measurement, self.summary(outcome)
        if samples is None or measured is None or summary is None:
            return {}
        on_device = outcome.trial.side.device != "cpu"
        return {
            **fields(samples, measured.quantity("memory_peak"), on_device=on_device, discrete=self.discrete),
            "statistics": {
                "unit": "ms",
                "of": self._metric_name,
                **{name: getattr(summary, name) * MILLI for name in TIMES},
                **{name: getattr(summary, name) for name in COUNTS},
            },
            "warnings": [warning.to_json() for warning in measured.warnings],
            "facts": dict(measured.facts),
        }
