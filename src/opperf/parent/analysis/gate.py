"""Judge comparisons, and a run by recorded expectations: which are regressions, and why.

A regression is a `slower` verdict, or a peak of memory that grew by more than the tolerance, and by a page at least.
Memory is counted exactly and only compared within one framework and mode, so no interval is needed.

Nothing is interleaved with what was measured long ago, so a change beyond the threshold counts only where it is beyond
what `opperf noise` saw identical code move by on this machine, too. The uncertainty of the expectation counts as much
as that of the run: both have a value for each process, and the interval is over both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, geometric_mean

from opperf.domain.code import own_metric
from opperf.domain.dataclass import dataclass
from opperf.domain.measurement import Quantity
from opperf.domain.metric import METRICS
from opperf.domain.plan import Trial
from opperf.domain.reason import Warning
from opperf.domain.record import Record, Run
from opperf.domain.units import format_bound, format_bytes, format_ratios, plural
from opperf.parent.analysis.counts import VECTORISED
from opperf.parent.analysis.summary import PROCESSES
from opperf.parent.analysis.two_runs import MACHINE, Welch, machine_differences, process_logs
from opperf.parent.documents.comparison import Comparison, PeakMemory, Verdict, moved
from opperf.parent.documents.floor import Floor, floor_key
from opperf.parent.documents.judgement import Expectation, Finding, Judgement
from opperf.parent.documents.tolerances import Tolerances


def judgement_of(
    comparisons: Sequence[Comparison], tolerances: Tolerances, *, against: str = "base", inconclusive: str = "fail"
) -> Judgement:
    """Judge comparisons by the rules of a gate; the tolerance of an operator holds for its time and memory."""
    whose = "the base's" if against == "base" else "the expected"
    findings = tuple(_finding(one, tolerances.of(one.case.operator), whose) for one in comparisons)
    return Judgement(findings, tolerances.usual, against, inconclusive, tolerances.own)


def _finding(comparison: Comparison, tolerance: float, whose: str) -> Finding:
    """Return the finding on one comparison. Memory growth is reported in addition to the time."""
    verdict = comparison.verdict
    growth = memory_growth(comparison, tolerance)
    if comparison.status != "ok":
        return Finding(comparison.status, comparison, verdict.reason)
    if verdict.verdict == "slower":
        return Finding("slower", comparison, "; ".join(filter(None, (_time_text(comparison, whose), growth))))
    if growth is not None:
        return Finding("memory", comparison, growth)
    if verdict.verdict == "inconclusive":
        settle = None if verdict.settle is None else f"to decide: {verdict.settle}"
        return Finding("inconclusive", comparison, "; ".join(filter(None, (_limit(verdict), verdict.reason, settle))))
    return Finding(verdict.verdict, comparison, _time_text(comparison, whose))


def memory_growth(comparison: Comparison, tolerance: float) -> str | None:
    """Say by how much the peak of memory grew; None when that is not worth a word, or not known on both sides."""
    if not moved(comparison.memory):
        return None
    base, new = comparison.memory["peak"]
    if new <= base * (1 + tolerance):
        return None
    share = f" (+{new / base - 1:.1%})" if base else ""
    return f"peak memory grew from {format_bytes(base)} to {format_bytes(new)}{share}"


def _time_text(comparison: Comparison, whose: str) -> str:
    """Write the ratio and its interval: `1.1 times the base's time, 95 % interval [1.09, 1.11]`."""
    verdict = comparison.verdict
    if verdict.ratio is None:
        return verdict.reason
    metric = METRICS[comparison.metric]
    if metric.compared == "exact":
        words = verdict.reason.partition(";")[0]
        text = f"{words}: {verdict.ratio:.3f} times {whose} {metric.words}, {format_ratios(verdict.interval)}"
        return "; ".join([text, *(one.message for one in comparison.warnings if one.slug == VECTORISED)])
    text = f"{verdict.ratio:.3f} times {whose} {metric.words}"
    if verdict.interval is None:
        return text
    text = f"{text}, {100 * verdict.confidence:g} % interval {format_ratios(verdict.interval)}"
    return "; ".join(filter(None, (text, _limit(verdict))))


def _limit(verdict: Verdict) -> str | None:
    """Say what is known where no change was called, as `no change beyond ±2.3%`."""
    return None if verdict.bound is None else f"no change beyond {format_bound(verdict.bound)}"


#: Reasons of a skip that say nothing of the framework: the trial was not reached.
NOT_REACHED = ("budget", "not_run")


def expectations_of(run: Run) -> tuple[Expectation, ...]:
    """Return an expectation for each trial of a run that was measured."""
    machine = run.machine
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


def merge_expectations(old: Sequence[Expectation], new: Sequence[Expectation]) -> tuple[Expectation, ...]:
    """Return the old expectations with the new ones in their places; what was not measured this time stays."""
    by_key = {expectation.trial.key: expectation for expectation in old}
    return tuple((by_key | {expectation.trial.key: expectation for expectation in new}).values())


def compare_expected(
    expectations: Sequence[Expectation],
    run: Run,
    thresholds: Tolerances,
    floors: Mapping[tuple[object, ...], Floor] | None = None,
) -> list[Comparison]:
    """Return a comparison for each trial of a run and for each expectation; neither is dropped without the other.

    `thresholds` are shares of the time that is expected; `floors` are those of this machine, where they are measured.
    """
    expected = {expectation.trial.key: expectation for expectation in expectations}
    records = {record.trial.key: record for record in run.records}
    keys = dict.fromkeys([*records, *expected])
    limits = _Limits(thresholds, floors or {})
    return [_compare(expected.get(key), records.get(key), run, limits) for key in keys]


@dataclass(frozen=True)
class _Limits:
    """What a change must exceed to be one: the user's threshold, and how far identical code moved on this machine."""

    thresholds: Tolerances
    floors: Mapping[tuple[object, ...], Floor]

    def floor(self, trial: Trial) -> float:
        """Return the log-ratio that processes of identical code lay apart by; 0 where that is not measured."""
        floor = self.floors.get(floor_key(trial))
        return 0.0 if floor is None else floor.between


def _compare(expected: Expectation | None, record: Record | None, run: Run, limits: _Limits) -> Comparison:
    either = expected or record
    if either is None:
        raise ValueError("neither an expectation nor a record")
    status, verdict = _verdict(expected, record, limits)
    logs = [] if record is None else process_logs(record)
    return Comparison(
        case=either.trial.case,
        direction=either.trial.direction,
        base=either.trial.side,
        new=either.trial.side,
        verdict=verdict,
        base_time=None if expected is None else geometric_mean(expected.times),
        new_time=math.exp(fmean(logs)) if logs else None,
        memory=_memory(expected, record),
        warnings=() if expected is None or record is None else _doubts(expected, record, run),
        status=status,
        count=either.trial.count,
        facts={} if record is None or record.details.seconds is None else {"seconds": record.details.seconds},
    )


def _verdict(expected: Expectation | None, record: Record | None, limits: _Limits) -> tuple[str, Verdict]:
    """Return the status of a comparison, and the verdict on it."""

    def none(status: str, reason: str, settle: str | None = None) -> tuple[str, Verdict]:
        return status, Verdict("inconclusive" if status == "ok" else status, None, None, reason, 0, settle)

    if record is None:
        return none("skipped", "expected, but not measured this time")
    if record.status != "ok":
        text = "no reason is recorded" if record.reason is None else record.reason.message
        if record.reason is not None and record.reason.slug in NOT_REACHED:
            return none("ok", text, record.reason.hint)
        is_skipped = record.status == "skipped" and expected is not None
        return none("failed" if is_skipped else record.status, f"{record.status}: {text}")
    if (metric := own_metric(record.trial.side.implementation, record.trial.case.operator)) is not None:
        return none("skipped", f"`{metric}` is not expected but compared live: `opperf gate --base SIDE --new SIDE`")
    if expected is None:
        return none("skipped", "new: no expectation is recorded", "`--update-expected` records one")
    new, old = process_logs(record), [math.log(value) for value in expected.times]
    if min(len(old), len(new)) < PROCESSES:
        reason = f"{plural(len(old), 'process')} behind the expectation and {len(new)} now; both need {PROCESSES}"
        return none("ok", reason, f"`--processes {PROCESSES}` or more")
    threshold = limits.thresholds.of(record.trial.case.operator)
    return "ok", _time(old, new, threshold, limits.floor(record.trial))


def _time(old: Sequence[float], new: Sequence[float], threshold: float, floor: float) -> Verdict:
    """Return the verdict on times: it is a change if the whole interval is beyond the threshold and the floor."""
    test, band = Welch.of(old, new), math.log1p(threshold)
    ratio, interval = math.exp(test.mean), (math.exp(test.low), math.exp(test.high))
    if (test.low > band or test.high < -band) and not (test.low > floor or test.high < -floor):
        reason = f"beyond {threshold:.0%}, but not clear of the {math.expm1(floor):.1%} by which identical code varied"
        settle = "a live comparison: `opperf gate --base SIDE --new SIDE`"
        return Verdict("inconclusive", ratio, interval, reason, len(new), settle)
    if test.low > band:
        return Verdict("slower", ratio, interval, f"the interval lies above +{threshold:.0%}", len(new))
    if test.high < -band:
        return Verdict("faster", ratio, interval, f"the interval lies below 1/{1 + threshold:.2f}", len(new))
    if test.high < band:
        return Verdict("same", ratio, interval, f"the interval lies below +{threshold:.0%}", len(new))
    settle = "more `--processes`, or a wider `--threshold`"
    return Verdict("inconclusive", ratio, interval, f"the interval holds +{threshold:.0%}", len(new), settle)


def _memory(expected: Expectation | None, record: Record | None) -> PeakMemory:
    """Return both peaks where they were counted in the same way."""
    peak = None if record is None else _peak(record)
    if expected is None or expected.memory_peak is None or peak is None or peak.source != expected.memory_source:
        return {}
    peaks = (expected.memory_peak, int(peak.value))
    return {"peak": peaks, "same": peaks[0] == peaks[1], "source": peak.source}


def _doubts(expected: Expectation, record: Record, run: Run) -> tuple[Warning, ...]:
    """Name what else changed since the expectation was recorded."""
    result = []
    unlike = machine_differences(expected.machine, run.machine)
    if unlike:
        text = f"the expectation comes from another machine ({'; '.join(unlike)})"
        result.append(Warning("other_machine", text, "keep a file for each kind of machine"))
    version = _version(record)
    if None not in (version, expected.version) and version != expected.version:
        result.append(Warning("other_version", f"version: {expected.version} and {version}"))
    return tuple(result)


def _peak(record: Record) -> Quantity | None:
    metric = record.metrics.get("memory_peak")
    return metric if isinstance(metric, Quantity) else None


def _version(record: Record) -> str | None:
    return record.details.version
