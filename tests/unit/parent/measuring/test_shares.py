"""What each case of a suite is of the whole while it is compared: order, and the pairs of the tail."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import pytest

from opperf.domain.case import Case
from opperf.domain.measurement import Measurement
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.tensor import TensorSpec
from opperf.parent.analysis.verdict import Rule
from opperf.parent.documents.comparison import PairValue
from opperf.parent.measuring.comparing import Comparing
from opperf.parent.measuring.contest import Contest
from opperf.parent.measuring.shares import FEW_ROUNDS, by_share, tail, whole_interval, word_of_whole

#: Seconds of a call, by operator; `view` is next to nothing of the whole, `rest` too, but for its calls.
TIMES = {"conv2d": 1e-2, "matmul": 5e-3, "view": 1e-6, "rest": 1e-6}


class Around:
    """Stands for a pair of children of cases that scatter about a ratio, or each about its own."""

    turn, alive = 1, True
    facts: tuple[dict[str, str], ...] = ({}, {})
    patience: ClassVar[dict[str, Any]] = {}

    def __init__(self, order: list[str], ratio: float, others: Mapping[str, float]) -> None:
        self._order, self._ratio, self._others = order, ratio, others

    def check(self, *_: object) -> None:
        """Nothing is computed that could be wrong."""

    def compare(self, base: Trial, _: Trial, patience: Any) -> PairValue:
        """Return a pair that lies 3 % above or below the ratio."""
        name = base.case.operator
        self._order.append(name)
        self.patience[name] = patience.rounds
        log_ratio = math.log(self._others.get(name, self._ratio)) + 0.03 * (-1) ** (self._order.count(name) + len(name))
        one = dict.fromkeys(("min", "median", "p90", "turn"), 1e-3)
        return PairValue(log_ratio, one, {**one, "turn": 1e-3 * math.exp(log_ratio)})

    def memory(self, *_: object) -> list[Measurement]:
        """Nothing is allocated."""
        return []

    def close(self) -> None:
        """Nothing was started."""


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


def suite_of(ratio: float, **others: float) -> tuple[list[Contest], list[str], list[str]]:
    """Compare a suite of twelve cases whose ratios scatter about this one, thriftily: contests, order and notes."""
    names = [f"case{place}" for place in range(12)]
    contests, order, notes = [contest(name, 12 - place) for place, name in enumerate(names)], [], []  # type: ignore[var-annotated]
    duel: Callable[..., Any] = lambda *_, **__: Around(order, ratio, others)  # noqa: E731
    Comparing(Settings(check="none"), Rule(), notes.append, duel=duel, thrifty=True).run(contests)
    return contests, order, notes


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


def test_a_whole_that_is_decided_leaves_its_small_cases_and_goes_on_with_the_largest() -> None:
    contests, order, notes = suite_of(2.0)
    assert [order.count(f"case{place}") for place in (0, 9, 10, 11)] == [5, 5, 3, 3]
    reasons = [one.verdict.reason for one in contests[-2:] if one.verdict is not None]
    assert reasons == [
        f"more pairs are not needed for the whole, of which it is {share}" for share in ("2.56%", "1.28%")
    ]
    assert [one.verdict.verdict for one in contests[:10] if one.verdict is not None] == ["slower"] * 10
    (note,) = (note for note in notes if "decide the whole" in note)
    assert note.startswith("note: 3 pairs decide the whole: slower, [1.")


def test_a_whole_that_is_open_leaves_none_of_its_cases() -> None:
    contests, order, notes = suite_of(1.0)
    assert {order.count(one.key.case.operator) for one in contests} == {12}
    assert [note for note in notes if "decide the whole" in note] == []


def test_small_cases_have_few_rounds_once_their_share_is_known() -> None:
    suite_of(2.0)
    assert (Around.patience["case0"], Around.patience["case11"]) == (None, FEW_ROUNDS)


def test_what_has_no_ratio_may_take_half_or_twice_the_time() -> None:
    one, other = contest("conv2d"), contest("matmul")
    base = dict.fromkeys(("min", "median", "p90", "turn"), 1e-2)
    one.stage1 = [PairValue(ratio, base, base) for ratio in (0.69, 0.7, 0.71)]
    other.stage1 = [PairValue(None, None, None), PairValue(0.7, base, base)]
    known = whole_interval([one, other], 0.05)
    assert known is not None
    (low, high), pairs = known
    assert [math.exp(low), math.exp(high)] == pytest.approx([1.232, 2.032], abs=0.001)
    assert pairs == 3


@pytest.mark.parametrize(
    ("interval", "word"),
    [
        ((0.05, 0.5), "slower"),
        ((-0.5, -0.05), "faster"),
        ((-0.01, 0.01), "same"),
        ((-0.01, 0.5), None),
        ((0.01, 0.5), None),
    ],
)
def test_a_whole_is_decided_by_its_interval(interval: tuple[float, float], word: str | None) -> None:
    assert word_of_whole(interval, Rule()) == word
