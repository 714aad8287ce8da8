"""PARAM's file of results: JSON, one object a line, each on the disk before the next operator begins.

PARAM's fields and units are kept: times are milliseconds, memory is megabytes (of 2^20 bytes). `statistics`, `status`
and fields that PARAM does not have are added.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from opperf.compat.param.metrics import MILLI, fields
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, near
from opperf.domain.files.destination import explain_errors
from opperf.domain.files.line_file import LineFile
from opperf.domain.measurement import Outcome, Samples
from opperf.domain.plan import Settings
from opperf.domain.record import Statistics
from opperf.param.cases import ConfigCase
from opperf.parent.analysis.summary import record

#: The statistics that have the unit of a time.
TIMES = ("mean", "median", "p50", "p90", "p99", "min", "max", "stdev")
COUNTS = ("precision", "samples", "discarded", "calls_per_sample", "clock", "interval_reason")


class Lines:
    """A file of lines, opened for the length of a run."""

    def __init__(self, path: Path, *, append: bool) -> None:
        with explain_errors(path):
            self._file = LineFile(path, path.open("ab" if append else "wb"))

    def add(self, line: Mapping[str, Any]) -> None:
        """Write a line, and see that it is on the disk."""
        self._file.add([json.dumps(line)])

    def close(self) -> None:
        """Close the file."""
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
    """Return the outcome of a case: a failure counts first, then what was measured.

    >>> _status(["ok", "skipped"]), _status(["ok", "failed"]), _status(["skipped"]), _status([])
    ('ok', 'failed', 'skipped', 'not_run')
    """
    return next((status for status in ("failed", "ok", "skipped") if status in directions), "not_run")


@dataclass(frozen=True)
class LineStyle:
    """How outcomes become lines: with which settings they were measured, and whether each call is waited for."""

    settings: Settings
    discrete: bool

    @property
    def _metric_name(self) -> str:
        """The metric of opperf that PARAM's time is: each call waited for, or blocks of calls."""
        return "latency" if self.discrete else "time"

    def line(
        self, case: ConfigCase, operator: str, outcomes: Mapping[str, Outcome], reports: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the line of one case, with what became of each direction, and what tools saw of it."""
        reports = reports or {}
        bad = {name: outcome for name, outcome in outcomes.items() if outcome.status != "ok"}
        return {
            "op_name": operator,
            "id": short(case, operator),
            "metric": {name: {**self._metric(outcome), **reports.get(name, {})} for name, outcome in outcomes.items()},
            "config": dict(case.config),
            "run_id": case.run_id,
            "case_id": case.case.id,
            "version": next((one.version for one in outcomes.values() if one.version is not None), None),
            "status": _status([outcome.status for outcome in outcomes.values()]),
            "reasons": {name: outcome.reason.to_json() for name, outcome in bad.items() if outcome.reason is not None},
        }

    def samples(self, outcome: Outcome) -> Samples | None:
        """Return the samples of an outcome that its times are made of."""
        measurement = outcome.measurement
        if measurement is None:
            return None
        return measurement.samples(self._metric_name) or measurement.time

    def summary(self, outcome: Outcome) -> Statistics | None:
        """Return the summary of those samples, disturbed ones left out."""
        metrics = record(outcome.trial, [outcome], self.settings).metrics
        metric = metrics.get("latency" if self.discrete and "latency" in metrics else "time")
        return metric if isinstance(metric, Statistics) else None

    def _metric(self, outcome: Outcome) -> dict[str, Any]:
        samples, measurement, summary = self.samples(outcome), outcome.measurement, self.summary(outcome)
        if samples is None or measurement is None or summary is None:
            return {}
        on_device = outcome.trial.side.device != "cpu"
        return {
            **fields(samples, measurement.quantity("memory_peak"), on_device=on_device, discrete=self.discrete),
            "statistics": {
                "unit": "ms",
                "of": self._metric_name,
                **{name: getattr(summary, name) * MILLI for name in TIMES},
                **{name: getattr(summary, name) for name in COUNTS},
            },
            "warnings": [warning.to_json() for warning in measurement.warnings],
            "facts": dict(measurement.facts),
        }


def cases_between(cases: Sequence[ConfigCase], resume: str | None, stop: str | None) -> list[ConfigCase]:
    """Return the cases from one run id on, and before another; raises `InputError` for ids that are not there.

    None at all where there is none, as PARAM does: the config may have nothing to run, and the second id come first.
    """
    if not cases:
        return []
    first = 0 if resume is None else _place(cases, resume, "--resume-id")
    last = len(cases) if stop is None else _place(cases, stop, "--stop-id")
    return list(cases[first:last])


def short(case: ConfigCase, operator: str) -> str:
    """Return a run id without its operator, as PARAM prints it."""
    return case.run_id.removeprefix(f"{operator}|")


def _place(cases: Sequence[ConfigCase], name: str, flag: str) -> int:
    """Return the place of a run id: PARAM's whole one, or the short one where only one operator has it.

    PARAM puts the ids of all builds so far into one: `0|0|1|0` is input 0 of build 1.
    """
    whole = [i for i, case in enumerate(cases) if case.run_id == name or case.run_id == name.replace(":", "|", 1)]
    ends = [i for i, case in enumerate(cases) if case.run_id.endswith(f"|{name}") and _parts(case, name)]
    places = whole or ends
    if len(places) == 1:
        return places[0]
    if not places and (last := _of_last_build(name)) is not None:
        with suppress(InputError):
            return _place(cases, last, flag)
    if places:
        names = ", ".join(f"`{cases[i].run_id}`" for i in places[:5])
        raise InputError(f"`{flag} {name}` matches several cases", hint=f"write one of {names}", slug="run_id")
    close = near(name, [case.run_id for case in cases])
    text = ", ".join(f"`{one}`" for one in close or [case.run_id for case in cases[:5]])
    raise InputError(f"no run id `{name}` for `{flag}`", hint=f"there are {text}", slug="run_id")


def _of_last_build(name: str) -> str | None:
    """Return the id without the builds before its last one; None where it has no more than one.

    >>> _of_last_build("torch.mm|0|0_0|0_1|3"), _of_last_build("0|0|1|0"), _of_last_build("torch.mm|0|0|0")
    ('torch.mm|0|0_1|3', '0|1|0', None)
    """
    parts = (name.replace(":", "|", 1) if name.count(":") == 1 else name).split("|")
    first = 0 if parts[0][:1].isdecimal() else 1
    if len(parts) - first < 4:
        return None
    return "|".join([*parts[: first + 1], *parts[-2:]])


def _parts(case: ConfigCase, name: str) -> bool:
    """Whether a short id is all of a run id but its operator: `1|0|0` is not the end of `x|1|1|0|0`."""
    return case.run_id.count("|") == name.count("|") + 1
