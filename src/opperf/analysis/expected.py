"""Judge a run against recorded expectations, and make expectations of a run.

Nothing is interleaved with what was measured long ago, so the threshold must be wider than what identical code moves
by on that machine. The uncertainty of the expectation counts as much as that of the run: both have a value for each
process, and the interval is over both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

from opperf.analysis.recorded import MACHINE, PROCESSES, Welch, machine_differences, process_logs
from opperf.comparison import Comparison, Verdict
from opperf.expectation import Expectation
from opperf.reason import Warning
from opperf.record import Quantity, Record, Run

#: Reasons of a skip that say nothing of the framework: the trial was not reached.
UNREACHED = ("budget", "not_run")


def expectations_of(run: Run) -> tuple[Expectation, ...]:
    """Return an expectation for each trial of a run that was measured."""
    machine = run.environment.get("machine") or {}
    return tuple(
        Expectation(
            record.trial,
            tuple(math.exp(value) for value in process_logs(record)),
            memory_peak=None if (peak := _peak(record)) is None else int(peak.value),
            memory_source=None if peak is None else peak.source,
            version=_version(record),
            machine={name: machine.get(name) for name in MACHINE},
            recorded=run.started,
        )
        for record in run.records
        if process_logs(record)
    )


def updated(old: Sequence[Expectation], new: Sequence[Expectation]) -> tuple[Expectation, ...]:
    """Return the old expectations with the new ones in their places; what was not measured this time stays."""
    known = {expectation.trial.key: expectation for expectation in old}
    return tuple((known | {expectation.trial.key: expectation for expectation in new}).values())


def compare_expected(expectations: Sequence[Expectation], run: Run, threshold: float) -> list[Comparison]:
    """Return a comparison for each trial of a run and for each expectation; neither is dropped without the other."""
    expected = {expectation.trial.key: expectation for expectation in expectations}
    measured = {record.trial.key: record for record in run.records}
    keys = dict.fromkeys([*measured, *expected])
    return [_compared(expected.get(key), measured.get(key), run, threshold) for key in keys]


def _compared(expected: Expectation | None, record: Record | None, run: Run, threshold: float) -> Comparison:
    known = expected or record
    if known is None:
        raise ValueError("neither an expectation nor a record")
    status, verdict = _verdict(expected, record, threshold)
    logs = [] if record is None else process_logs(record)
    return Comparison(
        case=known.trial.case,
        direction=known.trial.direction,
        base=known.trial.side,
        new=known.trial.side,
        verdict=verdict,
        base_time=None if expected is None else expected.time,
        new_time=math.exp(fmean(logs)) if logs else None,
        memory=_memory(expected, record),
        warnings=() if expected is None or record is None else _doubts(expected, record, run),
        status=status,
    )


def _verdict(expected: Expectation | None, record: Record | None, threshold: float) -> tuple[str, Verdict]:
    """Return the status of a comparison, and the verdict on it."""

    def none(status: str, reason: str, settle: str | None = None) -> tuple[str, Verdict]:
        return status, Verdict("inconclusive", None, None, reason, 0, settle)

    if record is None:
        return none("skipped", "expected, but not measured this time")
    if record.status != "ok":
        told = "no reason is recorded" if record.reason is None else record.reason.message
        if record.reason is not None and record.reason.slug in UNREACHED:
            return none("ok", told, record.reason.hint)
        gone = record.status == "skipped" and expected is not None
        return none("failed" if gone else record.status, f"{record.status}: {told}")
    if expected is None:
        return none("skipped", "new: no expectation is recorded", "`--update-expected` records one")
    new, old = process_logs(record), [math.log(value) for value in expected.times]
    if min(len(old), len(new)) < PROCESSES:
        reason = f"{len(old)} process(es) behind the expectation and {len(new)} now; both need {PROCESSES}"
        return none("ok", reason, f"`--processes {PROCESSES}` or more")
    return "ok", _timed(old, new, threshold)


def _timed(old: Sequence[float], new: Sequence[float], threshold: float) -> Verdict:
    """Return the verdict on times: a change is one when the whole interval is beyond the threshold."""
    test, band = Welch.of(old, new), math.log1p(threshold)
    ratio, interval = math.exp(test.mean), (math.exp(test.low), math.exp(test.high))
    if test.low > band:
        return Verdict("slower", ratio, interval, f"the interval lies above +{threshold:.0%}", len(new))
    if test.high < -band:
        return Verdict("faster", ratio, interval, f"the interval lies below 1/{1 + threshold:.2f}", len(new))
    if test.high < band:
        return Verdict("same", ratio, interval, f"the interval lies below +{threshold:.0%}", len(new))
    settle = "more `--processes`, or a wider `--threshold`"
    return Verdict("inconclusive", ratio, interval, f"the interval holds +{threshold:.0%}", len(new), settle)


def _memory(expected: Expectation | None, record: Record | None) -> dict[str, object]:
    """Return both peaks where they were counted in the same way."""
    peak = None if record is None else _peak(record)
    if expected is None or expected.memory_peak is None or peak is None or peak.source != expected.memory_source:
        return {}
    peaks = [expected.memory_peak, int(peak.value)]
    return {"peak": peaks, "same": peaks[0] == peaks[1], "source": peak.source}


def _doubts(expected: Expectation, record: Record, run: Run) -> tuple[Warning, ...]:
    """Name what else changed since the expectation was recorded."""
    found = []
    unlike = machine_differences(expected.machine, run.environment.get("machine") or {})
    if unlike:
        told = f"the expectation is of another machine ({'; '.join(unlike)})"
        found.append(Warning("other_machine", told, "keep a file for each kind of machine"))
    version = _version(record)
    if None not in (version, expected.version) and version != expected.version:
        found.append(Warning("other_version", f"version: {expected.version} and {version}"))
    return tuple(found)


def _peak(record: Record) -> Quantity | None:
    found = record.metrics.get("memory_peak")
    return found if isinstance(found, Quantity) else None


def _version(record: Record) -> str | None:
    found = record.facts.get("version")
    return None if found is None else str(found)
