"""Runs judged by what is expected of them, and what is expected made of runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import scipy
from tests.each import each

from opperf.domain.case import Case
from opperf.domain.measurement import Measurement, Memory, Outcome, Sample, Samples
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Reason
from opperf.domain.record import Record, Run
from opperf.domain.tensor import TensorSpec
from opperf.parent.analysis.gate import compare_expected, expectations_of, merge_expectations
from opperf.parent.analysis.summary import record
from opperf.parent.documents.comparison import Comparison
from opperf.parent.documents.floor import Floor
from opperf.parent.documents.judgement import Expectation
from opperf.parent.documents.tolerances import Tolerances

TRIAL = Trial(Case("add", {"lhs": TensorSpec((4,)), "rhs": TensorSpec((4,))}), Side("torch"), "forward")
OTHER = replace(TRIAL, direction="backward")


def measured(*microseconds: float, trial: Trial = TRIAL, peak: int = 1000, version: str = "1") -> Record:
    """Return the record of a trial with one process for each time."""
    outcomes = [
        Outcome(
            trial,
            process,
            "ok",
            Measurement(
                {
                    "time": Samples(tuple(Sample(1, round(time * 1000), round(time * 1000)) for _ in range(12))),
                    **Memory(peak, peak, "scripted").metrics(),
                }
            ),
            version=version,
        )
        for process, time in enumerate(microseconds)
    ]
    return record(trial, outcomes, Settings(processes=max(1, len(microseconds))))


def run(*records: Record, cpu: str = "A") -> Run:
    """Return a run with these records."""
    environment: dict[str, Any] = {"machine": {"cpu": cpu, "cores_usable": 2}}
    return Run("r", "2026-11-21T00:00:00+00:00", (), Settings(), environment=environment, records=records)


def judged(old: Sequence[float], new: Sequence[float], threshold: float = 0.1) -> Comparison:
    """Return the comparison of a run with what an earlier one made expected."""
    (result,) = compare_expected(expectations_of(run(measured(*old))), run(measured(*new)), Tolerances(threshold))
    return result


def floor(between: float, trial: Trial = TRIAL) -> dict[tuple[object, ...], Floor]:
    """Return what identical code of a trial was seen to move by, as a ratio of processes."""
    result = Floor(trial, 100e-6, 10, 0.01, 0.01, math.log(between), 0, 2, "2026-11-21")
    return {result.key: result}


def test_an_expectation_has_the_clean_minimum_of_each_process_and_the_machine() -> None:
    (result,) = expectations_of(run(measured(100, 101, 105)))
    assert result.times == pytest.approx((100e-6, 101e-6, 105e-6))
    assert result.time == pytest.approx(101e-6)
    assert (result.memory_peak, result.memory_source, result.version) == (1000, "scripted", "1")
    assert result.machine["cpu"] == "A"
    assert result.recorded == "2026-11-21T00:00:00+00:00"


def test_what_was_not_measured_makes_no_expectation() -> None:
    assert expectations_of(run(Record(TRIAL, "failed", Reason("crash", "it crashed")))) == ()


@pytest.mark.parametrize(
    ("new", "word"),
    [
        ([120, 120.1, 120.2], "slower"),
        ([105, 105.1, 105.2], "same"),
        ([95, 95.1, 95.2], "same"),
        ([80, 80.1, 80.2], "faster"),
        ([105, 110, 115], "inconclusive"),
    ],
)
def test_the_whole_interval_decides(new: list[float], word: str) -> None:
    result = judged([100, 100.1, 100.2], new)
    assert (result.verdict.verdict, result.status) == (word, "ok")


def test_the_interval_counts_the_spread_of_both() -> None:
    old, new = [100.0, 102.0, 104.0], [108.0, 109.0, 113.0]
    logs = [[math.log(value) for value in values] for values in (new, old)]
    expected = scipy.stats.ttest_ind(*logs, equal_var=False).confidence_interval(0.95)
    interval = judged(old, new).verdict.interval
    assert interval is not None
    assert interval[0] == pytest.approx(math.exp(expected.low))
    assert interval[1] == pytest.approx(math.exp(expected.high))


def test_fewer_than_three_processes_on_either_side_decide_nothing() -> None:
    for old, new in (([100, 100], [200, 200, 200]), ([100, 100, 100], [200, 200])):
        result = judged(old, new).verdict
        assert result.verdict == "inconclusive"
        assert "both need 3" in result.reason


def test_neither_a_trial_nor_an_expectation_without_the_other_is_dropped() -> None:
    expectations = expectations_of(run(measured(1, 1, 1)))
    result = compare_expected(expectations, run(measured(1, 1, 1, trial=OTHER)), Tolerances(0.1))
    assert [(one.direction, one.status, one.verdict.reason) for one in result] == [
        ("backward", "skipped", "new: no expectation is recorded"),
        ("forward", "skipped", "expected, but not measured this time"),
    ]


@pytest.mark.parametrize("status", ["failed", "skipped"])
def test_what_was_expected_and_is_not_there_any_more_has_failed(status: str) -> None:
    gone = Record(TRIAL, status, Reason("no_such_operator", "torch has no add"))
    (result,) = compare_expected(expectations_of(run(measured(1, 1, 1))), run(gone), Tolerances(0.1))
    assert (result.status, result.verdict.reason) == ("failed", f"{status}: torch has no add")


def test_what_was_never_expected_and_is_not_there_is_skipped() -> None:
    (result,) = compare_expected((), run(Record(TRIAL, "skipped", Reason("no_gradient", "none"))), Tolerances(0.1))
    assert result.status == "skipped"


def test_a_trial_that_the_budget_did_not_reach_is_inconclusive() -> None:
    late = Record(TRIAL, "skipped", Reason("budget", "the budget ran out", "more"))
    (result,) = compare_expected(expectations_of(run(measured(1, 1, 1))), run(late), Tolerances(0.1))
    assert (result.status, result.verdict.verdict, result.verdict.settle) == ("ok", "inconclusive", "more")


def test_memory_is_compared_where_it_was_counted_alike() -> None:
    (expected,) = expectations_of(run(measured(1, 1, 1)))
    (result,) = compare_expected([expected], run(measured(1, 1, 1, peak=2000)), Tolerances(0.1))
    assert result.memory == {"peak": (1000, 2000), "same": False, "source": "scripted"}
    (result,) = compare_expected([replace(expected, memory_source="another")], run(measured(1, 1, 1)), Tolerances(0.1))
    assert result.memory == {}


def test_another_machine_and_another_version_are_named() -> None:
    expectations = expectations_of(run(measured(1, 1, 1)))
    (result,) = compare_expected(expectations, run(measured(1, 1, 1, version="2"), cpu="B"), Tolerances(0.1))
    assert {warning.slug for warning in result.warnings} == {"other_machine", "other_version"}
    assert "cpu: A and B" in result.warnings[0].message


def test_an_update_replaces_what_was_measured_and_keeps_the_rest_in_place() -> None:
    first, second = Expectation(TRIAL, (1.0,)), Expectation(OTHER, (2.0,))
    third = Expectation(replace(TRIAL, direction="forward_backward"), (4.0,))
    newer = replace(first, times=(3.0,))
    assert merge_expectations([first, second], [newer, third]) == (newer, second, third)


@each(
    ("between", "new", "word"),
    [
        (1.3, [120, 120.1, 120.2], "inconclusive"),
        (1.3, [80, 80.1, 80.2], "inconclusive"),
        (1.3, [140, 140.1, 140.2], "slower"),
        (1.3, [70, 70.1, 70.2], "faster"),
        (1.3, [105, 105.1, 105.2], "same"),
        (1.05, [120, 120.1, 120.2], "slower"),
    ],
)
def test_a_change_is_one_only_where_it_is_clear_of_what_identical_code_moved_by(
    between: float, new: list[float], word: str
) -> None:
    expectations = expectations_of(run(measured(100, 100.1, 100.2)))
    (result,) = compare_expected(expectations, run(measured(*new)), Tolerances(0.1), floor(between))
    assert result.verdict.verdict == word


def test_the_floor_of_another_trial_says_nothing() -> None:
    expectations = expectations_of(run(measured(100, 100.1, 100.2)))
    (result,) = compare_expected(expectations, run(measured(120, 120.1, 120.2)), Tolerances(0.1), floor(1.3, OTHER))
    assert result.verdict.verdict == "slower"


def test_a_change_below_the_floor_says_how_far_identical_code_moved_and_what_settles_it() -> None:
    expectations = expectations_of(run(measured(100, 100.1, 100.2)))
    (result,) = compare_expected(expectations, run(measured(120, 120.1, 120.2)), Tolerances(0.1), floor(1.3))
    assert result.verdict.reason == "beyond 10%, but not clear of the 30.0% by which identical code varied"
    assert result.verdict.settle == "a live comparison: `opperf gate --base SIDE --new SIDE`"


def test_an_operator_is_held_against_its_own_threshold() -> None:
    expectations, now = expectations_of(run(measured(1, 1, 1))), run(measured(1.2, 1.2, 1.2))
    own = {TRIAL.case.operator: 0.3}
    (usual,) = compare_expected(expectations, now, Tolerances(0.1))
    (result,) = compare_expected(expectations, now, Tolerances(0.1, own))
    assert (usual.verdict.verdict, result.verdict.verdict) == ("slower", "same")
