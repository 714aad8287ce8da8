"""Modes: groups of pairs, page faults that differ, and what they leave of a verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from opperf.domain.case import Case
from opperf.domain.plan import Side, Trial
from opperf.domain.tensor import TensorSpec
from opperf.parent.analysis.modes import Doubt, doubt, fault_warnings, groups, hold
from opperf.parent.documents.comparison import PairValue, Verdict

FAST, SLOW = 680e-6, 1.9e-3
CHANGE = math.log(1.02)
SOFTMAX = Case("softmax", {"data": TensorSpec((1000, 1000))})
TRIAL = Trial(SOFTMAX, Side("torch"), "forward")
#: A change that five pairs would call certain.
FASTER = Verdict("faster", 0.36, (0.34, 0.38), "one stage was enough", 5, confidence=0.999)


def pair(base: float, new: float, faults: tuple[float, float] = (0.0, 0.0)) -> PairValue:
    """Return what a pair of processes says whose calls take these times and page faults."""
    first, second = ({"turn": time, "faults": count} for time, count in zip((base, new), faults))
    return PairValue(math.log(new / base), first, second, 24)


def said(pairs: Sequence[PairValue], base: Trial = TRIAL, new: Trial = TRIAL, peak: float | None = None) -> str:
    """Return the doubt that pairs leave, in words."""
    found = doubt(pairs, base, new, CHANGE, peak)
    return "" if found is None else found.reason


def test_a_side_that_was_slow_in_some_processes_has_two_modes() -> None:
    pairs = [pair(base, FAST * (1 + i / 500)) for i, base in enumerate([SLOW, FAST, SLOW, SLOW, FAST])]
    assert said(pairs) == (
        "base has two modes: 680 us and 1.90 ms; it was in the slow one in 3 of 5 processes, the other side in none"
    )


def test_both_sides_may_have_modes() -> None:
    pairs = [pair(SLOW, FAST), pair(FAST, SLOW), pair(FAST, FAST * 1.01), pair(SLOW, SLOW * 1.01), pair(FAST, FAST)]
    assert said(pairs).count("has two modes: 68") == 2


def test_pairs_of_different_stages_are_looked_at_together() -> None:
    ratios = [-0.24, -0.27, -0.26, -0.74, -0.25, -1.11, -1.27, -1.2, -1.19, -1.22]
    assert "has 3 modes" in said([pair(FAST / math.exp(ratio), FAST) for ratio in ratios])


def test_a_change_far_beyond_the_modes_stays_certain() -> None:
    assert said([pair(FAST * mode, 3 * FAST) for mode in (1.0, 1.2, 1.2, 1.0, 1.201)]) == ""


def test_modes_that_both_sides_share_leave_the_ratio_alone() -> None:
    assert said([pair(mode, 1.1 * mode) for mode in (FAST, SLOW, FAST, SLOW, FAST)]) == ""


@pytest.mark.parametrize("ratios", [[0.05, 0.08, 0.02, 0.06, 0.04], [0.0, 0.2, 0.4, 0.6, 0.8], [0.3, 0.31]])
def test_what_scatters_evenly_has_no_groups(ratios: list[float]) -> None:
    assert len(groups(ratios)) == 1


def test_one_pair_of_many_that_lies_a_little_off_is_no_group() -> None:
    even = [0.04 + i / 1000 for i in range(11)]
    assert len(groups([*even, 0.3])) == 1
    assert len(groups([*even, 0.6])) == 2
    assert len(groups([*even[:5], 0.3])) == 2


def test_a_verdict_under_a_doubt_is_not_certain_and_its_interval_holds_every_pair() -> None:
    pairs = [pair(base, FAST) for base in (SLOW, SLOW, SLOW, SLOW, FAST)]
    found = doubt(pairs, TRIAL, TRIAL, CHANGE, None)
    assert found is not None
    verdict = hold(FASTER, found)
    assert (verdict.verdict, verdict.reason) == ("inconclusive", found.reason)
    assert verdict.interval is not None
    assert verdict.interval[0] == 0.34
    assert verdict.interval[1] == pytest.approx(1.02)
    assert found.apart == pytest.approx(math.log(SLOW / FAST))


def test_what_is_open_or_the_same_stays_so() -> None:
    found = Doubt("base has two modes", 1.0)
    wide = Verdict("inconclusive", 0.8, (0.4, 1.6), "the interval is wider than ±2%", 5, "more pairs")
    assert hold(wide, found).reason == "the interval is wider than ±2%; base has two modes"
    same = replace(wide, verdict="same")
    assert (hold(same, found), hold(FASTER, None)) == (same, FASTER)


def test_page_faults_that_may_be_the_difference_leave_no_interval() -> None:
    found = doubt([pair(SLOW, FAST, (710, 130))] * 5, TRIAL, TRIAL, CHANGE, 8e6)
    assert found is not None
    assert found.reason.startswith("the page faults of a call differ (base 710, new 130)")
    assert hold(FASTER, found).interval is None


@pytest.mark.parametrize(
    ("faults", "times"),
    [
        ((130, 710), (SLOW, FAST)),  # the faster side took more
        ((20, 10), (SLOW, FAST)),  # too few to be the difference
        ((710, 710.4), (FAST, FAST + 1e-6)),  # as many on both sides
    ],
)
def test_page_faults_that_are_not_the_difference_raise_no_doubt(
    faults: tuple[float, float], times: tuple[float, float]
) -> None:
    assert said([pair(*times, faults)] * 5) == ""


@pytest.mark.parametrize(
    "new",
    [
        replace(TRIAL, side=Side("torch", implementation="torch.softmax")),
        replace(TRIAL, side=Side("jax")),
        replace(TRIAL, side=Side("torch", mode="compiled")),
        replace(TRIAL, side=Side("torch", allocator="default")),
        replace(TRIAL, case=Case("softmax", {"data": TensorSpec((1000, 1001))})),
    ],
)
def test_sides_that_run_other_code_or_sizes_may_differ_in_page_faults(new: Trial) -> None:
    pairs = [pair(SLOW, FAST, (710, 130))] * 5
    assert said(pairs, new=new) == ""
    assert said(pairs) != ""


def test_calls_that_take_large_blocks_map_them_by_rule() -> None:
    assert said([pair(SLOW, FAST, (710, 130))] * 5, peak=32 * 1024 * 1024) == ""


def test_a_side_whose_processes_differ_in_page_faults_is_told_so() -> None:
    pairs = [pair(SLOW, FAST, (0, 5)), pair(FAST, FAST, (700, 5)), pair(SLOW, FAST, (0, 4))]
    (warning,) = fault_warnings(pairs)
    assert warning.message == "base: its processes differ in page faults, from 0 to 700 a call"
    assert [*fault_warnings([PairValue(0.1, {"turn": 1.0}, {"turn": 1.1})] * 3)] == []
