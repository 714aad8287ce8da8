"""Recorded runs, compared with caution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
import scipy

from opperf.domain.case import Case
from opperf.domain.measurement import Measurement, Outcome, Sample, Samples
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Reason, Warning
from opperf.domain.record import Record, Run
from opperf.domain.tensor import TensorSpec
from opperf.parent.analysis.summary import record
from opperf.parent.analysis.two_runs import Welch, compare_runs
from opperf.parent.analysis.verdict import Rule
from opperf.parent.documents.comparison import Comparison

TRIAL = Trial(Case("add", {"lhs": TensorSpec((4,)), "rhs": TensorSpec((4,))}), Side("torch"), "forward")
RULE = Rule(tolerance=0.02)


def recorded(*microseconds: float, trial: Trial = TRIAL, version: str = "1") -> Record:
    """Return the record of a trial with one process for each time."""
    outcomes = [
        Outcome(
            trial,
            process,
            "ok",
            Measurement({"time": Samples(tuple(Sample(1, round(time * 1000), round(time * 1000)) for _ in range(12)))}),
            version=version,
        )
        for process, time in enumerate(microseconds)
    ]
    return record(trial, outcomes, Settings(processes=max(1, len(microseconds))))


def run(*records: Record, cpu: str = "A") -> Run:
    """Return a run with these records."""
    return Run("r", "2026-11-21T00:00:00+00:00", (), Settings(), environment={"machine": {"cpu": cpu}}, records=records)


def compared(old: Sequence[float], new: Sequence[float]) -> Comparison:
    """Return the one comparison of two runs with a record each."""
    (result,) = compare_runs(run(recorded(*old)), run(recorded(*new)), RULE)
    return result


def test_the_interval_is_that_of_welch() -> None:
    old, new = [0.0, 0.1, 0.3], [0.2, 0.25, 0.4, 0.5]
    expected = scipy.stats.ttest_ind(new, old, equal_var=False).confidence_interval(0.95)
    result = Welch.of(old, new)
    assert result.low == pytest.approx(expected.low)
    assert result.high == pytest.approx(expected.high)


def test_a_change_clear_of_what_identical_code_moves_by_is_called() -> None:
    result = compared([100, 101, 102], [150, 151, 152])
    assert result.verdict.verdict == "slower"
    assert result.verdict.ratio == pytest.approx(151 / 101, rel=1e-3)
    assert compared([150, 151, 152], [100, 101, 102]).verdict.verdict == "faster"


def test_a_process_without_an_undisturbed_sample_counts_by_what_it_has() -> None:
    old = recorded(100, 101, 102)
    columns = [
        Samples(tuple(replace(sample, clean=False) for sample in Samples.from_json(process).samples)).to_json()
        for process in old.samples["time"]
    ]
    disturbed = replace(old, samples={**old.samples, "time": columns})
    (result,) = compare_runs(run(disturbed), run(recorded(150, 151, 152)), RULE)
    assert result.verdict.verdict == "slower"


def test_a_clear_change_within_the_floor_is_inconclusive_and_asks_for_a_live_comparison() -> None:
    result = compared([100, 100.1, 100.2], [108, 108.1, 108.2])
    assert result.verdict.verdict == "inconclusive"
    assert "opperf compare add" in (result.verdict.settle or "")


def test_an_interval_inside_the_tolerance_is_the_same() -> None:
    assert compared([100, 100.1, 100.2], [100.2, 100.3, 100.4]).verdict.verdict == "same"


def test_fewer_than_three_processes_settle_nothing() -> None:
    result = compared([100, 100], [200, 200])
    assert result.verdict.verdict == "inconclusive"
    assert result.verdict.ratio == pytest.approx(2)
    assert "--processes 3" in result.verdict.reason


def test_a_trial_that_only_one_run_has_is_listed() -> None:
    other = replace(TRIAL, direction="backward")
    result = compare_runs(run(recorded(1, 1, 1)), run(recorded(1, 1, 1, trial=other)), RULE)
    assert [(one.direction, one.status, one.verdict.reason) for one in result] == [
        ("forward", "skipped", "only the old run has it"),
        ("backward", "skipped", "only the new run has it"),
    ]


def test_a_failed_trial_is_listed_with_both_statuses() -> None:
    failed = Record(TRIAL, "failed", Reason("crash", "it crashed"))
    (result,) = compare_runs(run(recorded(1, 1, 1)), run(failed), RULE)
    assert (result.status, result.verdict.reason) == ("failed", "ok in the old run, failed in the new one")


def test_other_machines_versions_and_threads_are_named() -> None:
    threaded = replace(TRIAL, side=Side("torch", threads=2))
    old, new = run(recorded(1, 1, 1)), run(recorded(1, 1, 1, trial=threaded, version="2"), cpu="B")
    (result,) = compare_runs(old, new, RULE)
    assert {warning.slug for warning in result.warnings} == {"other_machine", "other_side", "other_version"}


def test_records_without_samples_are_compared_by_their_summary() -> None:
    bare = [replace(recorded(time, time, time), samples={}) for time in (100, 200)]
    (result,) = compare_runs(run(bare[0]), run(bare[1]), RULE)
    assert result.verdict.verdict == "inconclusive"
    assert math.isclose(result.verdict.ratio or 0, 2)


def test_a_change_that_modes_of_one_run_may_account_for_is_not_certain() -> None:
    slow, both = [1.90, 1.91, 1.89, 1.9, 1.9], [0.68, 0.681, 0.679, 0.68, 1.9]
    assert compared([one * 4 for one in slow], [one / 4 for one in both]).verdict.verdict == "faster"
    verdict = compared([*slow, *slow], [*both[:4], *both[:4], 1.9, 1.905]).verdict
    assert verdict.verdict == "inconclusive"
    assert "the processes of the new run fall into groups: 680 ns in 8 and 1.90 us in 2" in verdict.reason
    assert compared(slow, both[:4] * 2).verdict.verdict == "faster"


def test_two_modes_within_a_process_are_told() -> None:
    old, new = recorded(5, 5, 5), recorded(5, 5, 5)
    doubtful = replace(new, warnings=(Warning("two_modes", "the times fall into two groups", "why"),))
    (result,) = compare_runs(run(old), run(doubtful), RULE)
    assert [one.message for one in result.warnings] == ["new run: the times fall into two groups"]
