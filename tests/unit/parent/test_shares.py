"""What each case of a suite is of the whole while it is compared: order, and the pairs of the tail."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from opperf.domain.case import Case
from opperf.domain.comparison import PairValue
from opperf.domain.measurement import Measurement
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.tensor import TensorSpec
from opperf.parent.analysis.verdict import Rule
from opperf.parent.contest import Contest
from opperf.parent.shares import by_share, tail
from opperf.parent.stages import Comparing

#: Seconds of a call, by operator; `view` is next to nothing of the whole, `rest` too, but for its calls.
TIMES = {"conv2d": 1e-2, "matmul": 5e-3, "view": 1e-6, "rest": 1e-6}


def contest(operator: str, count: int = 1) -> Contest:
    """Return the contest of a case that occurs so often."""
    trial = Trial(Case(operator, {"data": TensorSpec((64, 64))}), Side("null"), "forward", count=count)
    return Contest(trial, trial, trial)


class Scripted:
    """Stands for a pair of children; notes who was fought."""

    turn, alive = 1, True
    facts: tuple[dict[str, str], ...] = ({}, {})

    def __init__(self, order: list[str], ratios: Mapping[str, float]) -> None:
        self._order, self._ratios = order, ratios

    def check(self, *_: object) -> None:
        """Nothing is computed that could be wrong."""

    def compare(self, base: Trial, *_: object) -> PairValue:
        """Return a pair whose log-ratio has the sign of its number: identical code that scatters."""
        name = base.case.operator
        self._order.append(name)
        ratio = self._ratios.get(name, 0.05) * (-1) ** self._order.count(name)
        one = dict.fromkeys(("min", "median", "p90", "turn"), TIMES[name])
        return PairValue(ratio, one, {**one, "turn": TIMES[name] * math.exp(ratio)})

    def memory(self, *_: object) -> list[Measurement]:
        """Nothing is allocated."""
        return []

    def close(self) -> None:
        """Nothing was started."""


def compared(*contests: Contest, rule: Rule | None = None, **options: Any) -> list[str]:
    """Return the operators in the order in which their pairs were measured."""
    order: list[str] = []
    known = Settings(check="none"), rule or Rule(), lambda _: None
    duel: Callable[..., Any] = lambda *_, **__: Scripted(order, {})  # noqa: E731
    Comparing(*known, duel=duel, **options).run([*contests])
    return order


def test_what_takes_most_of_the_whole_goes_first_in_each_pair() -> None:
    order = compared(contest("view"), contest("rest", 100_000), contest("matmul"), contest("conv2d"))
    assert order[4:8] == ["rest", "conv2d", "matmul", "view"]


def test_what_was_not_measured_yet_is_ordered_by_its_formulas() -> None:
    large = Trial(Case("exp", {"data": TensorSpec((4096, 4096))}), Side("null"), "forward")
    ordered = by_share([contest("abs"), Contest(large, large, large), contest("abs", 10**6)])
    assert [(one.key.case.operator, one.key.count) for one in ordered] == [("abs", 10**6), ("exp", 1), ("abs", 1)]


def test_the_tail_of_a_suite_gets_as_few_pairs_as_have_a_ratio() -> None:
    contests = [contest("conv2d", 2), contest("matmul"), contest("view", 20)]
    order = compared(*contests, thrifty=True)
    assert [order.count(name) for name in ("conv2d", "matmul", "view")] == [12, 12, 3]
    assert contests[2].verdict is not None
    assert "it is 0.08% of the whole, and gets no more pairs" in contests[2].verdict.reason
    assert contests[2].verdict.ratio is not None


@pytest.mark.parametrize("options", [{}, {"thrifty": True, "rule": Rule(most=20)}])
def test_no_case_is_left_with_few_pairs_by_a_gate_or_where_the_user_wants_it_settled(options: dict[str, Any]) -> None:
    order = compared(contest("conv2d", 2), contest("view", 20), **options)
    assert order.count("view") == order.count("conv2d")


def test_operators_that_are_no_suite_have_no_tail() -> None:
    order = compared(contest("conv2d"), contest("view"), thrifty=True)
    assert order.count("view") == 12


def test_the_tail_is_next_to_nothing_of_the_whole_together() -> None:
    contests = [contest("abs", count) for count in (1000, 900, *[10] * 3)]
    assert [(one.key.count, round(share, 3)) for one, share in tail(contests)] == [(10, 0.005)]
