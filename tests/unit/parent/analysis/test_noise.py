"""Noise floors from pairs of identical code, and what they change in a verdict."""

from __future__ import annotations

import math

import pytest

from opperf.domain.case import Case
from opperf.domain.plan import Side, Trial
from opperf.domain.tensor import TensorSpec
from opperf.parent.analysis.verdict import Rule, confirm
from opperf.parent.documents.comparison import PairValue
from opperf.parent.documents.floor import Floor, floor_key
from opperf.parent.measuring.floors import floor_of

TRIAL = Trial(Case("exp", {"data": TensorSpec((4,))}), Side("torch"), "forward")


def pair(base: float, new: float) -> PairValue:
    """Return a pair whose clean minima are these, in seconds."""
    sides = [{"min": time, "median": time, "p90": time} for time in (base, new)]
    return PairValue(math.log(new / base), sides[0], sides[1], 18)


def floor(*pairs: PairValue) -> Floor:
    """Return the floor of these pairs."""
    result = floor_of(TRIAL, pairs, alarms=0, comparisons=1, moment="2026-11-21")
    assert result is not None
    return result


def noisy(spread: float, moved: float = 0.01) -> Floor:
    """Return a floor with that spread of pairs."""
    return Floor(TRIAL, 1e-3, 15, spread, moved, 0.1, 0, 3, "2026-11-21")


def test_a_floor_holds_the_spread_of_pairs_and_the_range_of_processes() -> None:
    result = floor(pair(1.00, 1.02), pair(1.00, 0.98), pair(1.10, 1.10))
    assert result.pairs == 3
    assert result.spread == pytest.approx(0.02, rel=0.01)
    assert result.between == pytest.approx(math.log(1.10 / 0.98))


def test_what_a_live_comparison_must_exceed_is_the_far_end_of_the_interval() -> None:
    one, other = [floor(pair(1, 1 + up), pair(1, 1 + up / 2), pair(1, 1.0)) for up in (0.02, -0.02)]
    # three pairs of mean 1 % and standard deviation 1 %: t = 4.303
    assert one.moved == pytest.approx(0.01 + 4.303 * 0.01 / math.sqrt(3), rel=0.02)
    assert other.moved == pytest.approx(one.moved, rel=0.02)


def test_pairs_that_said_nothing_make_no_floor() -> None:
    silent = PairValue(None, None, None, 2, "2 rounds")
    assert floor_of(TRIAL, [silent, pair(1, 1), pair(1, 1), silent], alarms=0, comparisons=1, moment="") is None


def test_a_floor_does_not_depend_on_the_version() -> None:
    old, new = (Trial(TRIAL.case, Side("numpy", environment=f"numpy=={version}"), "forward") for version in "12")
    assert floor_key(old) == floor_key(new)
    assert floor_key(old) != floor_key(TRIAL)


def test_a_noisy_operator_gets_more_pairs_and_a_quiet_one_does_not() -> None:
    assert Rule().with_floor(noisy(0.005)).looks == (5, 8, 12)
    assert Rule().with_floor(noisy(0.02)).looks == (7, 12, 17)
    assert Rule().with_floor(noisy(0.10)).looks == (12, 20, 29)


def test_a_change_under_the_floor_is_not_called_and_the_reason_names_it() -> None:
    change = [math.log(1.05) + 0.001 * i for i in range(5)]
    assert confirm(change, change, Rule()).verdict == "slower"
    under = confirm(change, change, Rule().with_floor(noisy(0.01, moved=math.log(1.08))))
    assert under.verdict == "inconclusive"
    assert under.reason == "a change is seen, but identical code varies by 8.0% here"


def test_a_floor_read_back_is_the_floor_that_was_written() -> None:
    result = floor(pair(1.00, 1.02), pair(1.00, 0.98), pair(1.10, 1.10))
    assert Floor.from_json(result.to_json()) == result
