"""Stages, looks and budgets of a live comparison, with pairs that say and take what a test wants."""

from __future__ import annotations

import math
import random
import signal
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any

import pytest

from opperf.domain.case import Case
from opperf.domain.errors import OperatorFailure
from opperf.domain.measurement import Measurement
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Reason
from opperf.parent.analysis.counts import FLOOR
from opperf.parent.analysis.verdict import Progress, Rule, sufficient
from opperf.parent.documents.comparison import Comparison, PairValue
from opperf.parent.documents.floor import series_key, series_side
from opperf.parent.measuring import comparing as comparing
from opperf.parent.measuring import next_pair
from opperf.parent.measuring import pairs as pairing
from opperf.parent.measuring.comparing import Comparing
from opperf.parent.measuring.contest import Contest, outcome
from opperf.parent.workers.rounds import Patience

#: Seconds that a pair takes.
PAIR = 10.0


class Clock:
    """Stands for `time` in the module that is tested."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        """Return seconds."""
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that only pairs move."""
    made = Clock()
    for module in (comparing, next_pair, pairing):
        monkeypatch.setattr(module, "time", made)
    return made


def compared(
    clock: Clock,
    ratios: Iterator[float | BaseException],
    rule: Rule | None = None,
    *,
    starting: float = 0.0,
    contests: int = 1,
    patience: list[Patience] | None = None,
    allocator: str = "fixed",
    every: list[Contest] | None = None,
    past: float = 0.0,
    call: float = 1e-3,
    **settings: Any,
) -> Comparison:
    """Return what is said of the first comparison, whose pairs say these log-ratios one after the other.

    Starting a pair takes so many seconds; `patience` is told what each contest in it was given. A pair raises what is
    an exception, and says nothing where its ratio is no number; `every` is told the contests. A `call` of the base
    takes so many seconds.
    """

    class Scripted:
        turn, alive = 1, True
        facts: tuple[dict[str, str], ...] = ({}, {})

        def __init__(self, *_: object) -> None:
            clock.now += starting

        def check(self, *_: object) -> None:
            pass

        def compare(self, _base: Trial, _new: Trial, given: Patience) -> PairValue:
            clock.now += PAIR
            if patience is not None:
                patience.append(given)
            ratio = next(ratios, None)
            if ratio is None:
                raise OperatorFailure(Reason("operator_error", "this operator always raises"))
            if isinstance(ratio, BaseException):
                raise ratio
            if math.isnan(ratio):
                return PairValue(None, None, None)
            one = dict.fromkeys(("min", "median", "p90", "turn"), call)
            return PairValue(ratio, one, {**one, "turn": call * math.exp(ratio)})

        def memory(self, *_: object) -> list[Measurement]:
            return []

        def close(self) -> None:
            pass

    duel: Callable[..., Any] = Scripted
    trial = Trial(Case("add"), Side("null", allocator=allocator), "forward")
    pasts: dict[tuple[object, ...], float] = {
        series_key(trial.case.id, "forward", series_side(trial.side), "time"): past
    }
    known = Settings(check="none", **settings), rule or Rule(), lambda _: None
    comparison = Comparing(*known, duel=duel, pasts=pasts)
    several = [Contest(trial, trial, trial, metric=known[0].metric) for _ in range(contests)]
    (every if every is not None else []).extend(several)
    comparison.run(several)
    return outcome(several[0])


def noisy(centre: float, spread: float) -> Iterator[float]:
    """Return log-ratios around a centre, for ever."""
    draw = random.Random(1)
    while True:
        yield draw.gauss(centre, spread)


def test_a_large_change_is_decided_by_one_stage_within_the_budget(clock: Clock) -> None:
    said = compared(clock, noisy(0.35, 0.01), budget=5 * PAIR - 1)
    assert (said.verdict.verdict, said.verdict.pairs, said.verdict.settle) == ("slower", 5, None)
    assert said.verdict.ratio == pytest.approx(1.42, rel=0.1)


@pytest.mark.parametrize(("metric", "pairs"), [("tracked", 3), ("energy", 12)])
def test_three_pairs_are_enough_for_a_number_that_is_read_once_and_has_no_ratio(
    metric: str, pairs: int, clock: Clock
) -> None:
    contests: list[Contest] = []
    said = compared(clock, repeat(math.nan), every=contests, metric=metric)
    assert (said.verdict.verdict, contests[0].pairs) == ("inconclusive", pairs)


@pytest.mark.parametrize(("centre", "word"), [(1.36, "slower"), (-1.36, "faster")])
def test_three_pairs_decide_where_each_is_beyond_three_times(clock: Clock, centre: float, word: str) -> None:
    said = compared(clock, noisy(centre, 0.03))
    assert (said.verdict.verdict, said.verdict.pairs) == (word, 3)
    assert "all 3 pairs are beyond" in said.verdict.reason


@pytest.mark.parametrize(("centre", "word"), [(0.7, "slower"), (-0.7, "faster")])
def test_three_pairs_decide_a_call_that_takes_long_and_twice_as_long_on_either_side(
    clock: Clock, centre: float, word: str
) -> None:
    said = [compared(clock, noisy(centre, 0.02), call=call).verdict for call in (0.04, 0.1)]
    assert [(one.verdict, one.pairs) for one in said] == [(word, 5), (word, 3)]


def test_a_comparison_that_the_budget_ends_is_decided_by_pairs_that_are_all_beyond_three_times(clock: Clock) -> None:
    # The first pair said nothing, so that there are three after the fourth.
    said = compared(clock, iter([math.nan, 1.36, 1.37, 1.38, 1.36]), budget=4 * PAIR - 1)
    assert (said.verdict.verdict, said.verdict.pairs) == ("slower", 3)


def test_a_change_must_be_beyond_what_its_series_moved_by_before(clock: Clock) -> None:
    said = compared(clock, noisy(0.05, 0.002), past=0.08)
    assert said.verdict.verdict == "inconclusive"
    assert said.verdict.reason == "a change is seen, but this series moved by up to 8.3% between builds before"
    assert compared(clock, noisy(0.05, 0.002), past=0.01).verdict.verdict == "slower"


def test_one_pair_within_three_times_asks_for_more(clock: Clock) -> None:
    assert compared(clock, iter([1.36, 1.0, *[1.36] * 22])).verdict.pairs > 3


@pytest.mark.parametrize(
    ("stop", "name"),
    [(KeyboardInterrupt(), "Ctrl-C"), (SystemExit(128 + signal.SIGTERM), "SIGTERM"), (ValueError("a bug"), "an error")],
)
def test_what_ended_a_comparison_is_told(clock: Clock, stop: BaseException, name: str) -> None:
    contests: list[Contest] = []
    with pytest.raises(type(stop)):
        compared(clock, iter([0.1, stop]), every=contests)
    assert contests[0].verdict is not None
    assert contests[0].verdict.reason == (
        f"{name} ended the comparison after 1 pair; there is no ratio below 3 usable pairs"
    )


def test_pairs_beyond_three_times_are_a_verdict_where_a_signal_ends_the_comparison(clock: Clock) -> None:
    contests: list[Contest] = []
    with pytest.raises(KeyboardInterrupt):
        # The interval of the first three spans more than the change.
        compared(clock, iter([1.2, 1.9, 1.3, 1.4, KeyboardInterrupt()]), every=contests)
    assert contests[0].verdict is not None
    assert (contests[0].verdict.verdict, contests[0].verdict.pairs) == ("slower", 4)


def test_a_change_that_needs_a_second_stage_keeps_the_first_where_the_budget_ends(clock: Clock) -> None:
    said = compared(clock, iter([0.03, 0.06, 0.05, 0.07, 0.04]), budget=5 * PAIR - 1)
    verdict = said.verdict
    assert (verdict.verdict, verdict.reason) == ("inconclusive", "the budget ran out after 5 pairs")
    assert verdict.ratio == pytest.approx(1.0513, abs=1e-4)
    assert verdict.interval is not None
    assert verdict.interval[0] > 1


def test_the_budget_that_would_do_is_told_by_the_time_of_the_pairs_so_far(clock: Clock) -> None:
    said = compared(clock, iter([0.2, -0.2]), budget=2 * PAIR - 1)
    assert said.verdict.reason == "the budget ran out after 2 pairs; there is no ratio below 3 usable pairs"
    # Ten of the twelve pairs that are planned were not measured.
    assert said.verdict.settle == f"about {12 * PAIR:g} s: `--budget {12 * PAIR:g}`"


def test_a_budget_that_ends_with_the_last_look_is_not_the_reason(clock: Clock) -> None:
    said = compared(clock, noisy(0.0, 0.2), budget=12 * PAIR - 1)
    assert (said.verdict.verdict, said.verdict.pairs) == ("inconclusive", 12)
    assert said.verdict.reason == "the interval is wider than ±2%"


def test_a_side_that_cannot_be_measured_has_failed(clock: Clock) -> None:
    said = compared(clock, iter([]))
    assert (said.status, said.verdict.verdict) == ("failed", "failed")
    assert said.verdict.reason == "not measured: this operator always raises"


@pytest.mark.parametrize(("allocator", "starts"), [("fixed", 5), ("default", 10)])
def test_comparisons_share_no_children_where_the_allocator_is_left_alone(
    clock: Clock, allocator: str, starts: int
) -> None:
    began = clock.now
    compared(clock, noisy(0.0, 0.001), starting=1000.0, contests=2, allocator=allocator)
    assert (clock.now - began) // 1000 == starts


def test_a_change_that_modes_may_account_for_is_not_called_by_either_stage(clock: Clock) -> None:
    said = compared(clock, iter([-1.0, -1.01, -0.3, -0.99, -1.0, *[-1.0, -1.01, -0.99] * 5]))
    assert said.verdict.verdict == "inconclusive"
    assert "new has two modes" in said.verdict.reason


def test_a_flag_that_is_not_confirmed_goes_on_to_the_last_look(clock: Clock) -> None:
    flagged, unclear = [0.020, 0.022, 0.018, 0.021, 0.019], [-0.018, 0.021, 0.002, -0.001, 0.003]
    said = compared(clock, iter([*flagged, *unclear, *[0.0] * 7]))
    assert (said.verdict.verdict, said.verdict.reason) == ("same", "the second stage did not confirm the first")
    assert len(said.log_ratios[1]) > 5


def test_a_comparison_that_settles_goes_on_until_its_interval_decides(clock: Clock) -> None:
    default = compared(clock, noisy(0.0, 0.035))
    settled = compared(clock, noisy(0.0, 0.035), Rule(most=50))
    assert (default.verdict.verdict, default.verdict.pairs) == ("inconclusive", 12)
    assert settled.verdict.verdict == "same"
    assert settled.verdict.pairs in Rule(most=50).looks[3:]


def test_times_lie_as_far_apart_as_the_ratio_where_pairs_far_off_are_left_out(clock: Clock) -> None:
    said = compared(clock, iter([0.0, 0.03, -0.03, 0.01, -0.01, 0.02, -0.02, 0.5] * 4))
    assert said.base_time is not None
    assert said.new_time is not None
    assert said.verdict.ratio == pytest.approx(said.new_time / said.base_time)
    assert said.new_time < 1.01 * said.base_time


def test_times_are_of_the_first_stage_where_the_budget_ends_in_the_second(clock: Clock) -> None:
    said = compared(clock, iter([0.03, 0.06, 0.05, 0.07, 0.04, 0.5, 0.1]), budget=7 * PAIR - 1)
    assert said.verdict.reason == "the budget ran out after 7 pairs"
    assert said.base_time is not None
    assert said.new_time == pytest.approx(said.base_time * math.exp(0.05))


def test_a_comparison_that_had_no_pair_is_taken_to_need_as_long_as_the_others() -> None:
    assert sufficient(60.0, [Progress(50.0, 5, 0), Progress(0.0, 0, 12)]) == 180.0
    assert sufficient(60.0, [Progress(0.0, 0, 12)]) is None


@pytest.mark.parametrize(("contests", "seconds"), [(1, 6.0), (4, 1.5)])
def test_what_a_pair_may_take_longer_is_its_share_of_starting_the_children(
    contests: int, seconds: float, clock: Clock
) -> None:
    given: list[Patience] = []
    rule = Rule(tolerance=0.04)
    said = compared(clock, noisy(0.0, 0.001), rule, starting=6.0, contests=contests, patience=given)
    assert said.verdict.verdict == "same"
    assert given == [Patience(seconds, rule.band / 2)] * (5 * contests)


def test_what_is_said_of_a_pairs_sampling_reaches_each_pair(clock: Clock) -> None:
    given: list[Patience] = []
    compared(clock, noisy(0.0, 0.001), Rule(sampling=1.5, precision=0.01), patience=given)
    assert given == [Patience(0.0, math.log1p(0.01), None, 1.5)] * 5


def test_a_pair_does_not_go_on_beyond_the_budget(clock: Clock) -> None:
    given: list[Patience] = []
    compared(clock, noisy(0.0, 0.001), starting=6.0, budget=16.0, patience=given)
    compared(clock, noisy(0.0, 0.001), starting=6.0, budget=8.0, patience=given)
    assert [one.seconds for one in given] == [6.0, 0.0, 2.0]


def test_layouts_that_disagree_are_joined_by_more_and_one_may_stand_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    layouts: list[int] = []

    class Counted:
        turn, alive = 1, True
        facts: tuple[dict[str, str], ...] = ({}, {})

        def __init__(self, *_: object, layout: int, **__: object) -> None:
            layouts.append(layout)

        def check(self, *_: object) -> None:
            pass

        def memory(self, *_: object) -> list[Measurement]:
            return []

        def compare(self, *_: object) -> PairValue:
            ratio = 0.002 if layouts[-1] == 1 else 0.01
            one = {"instructions": 1e6}
            return PairValue(ratio, one, {"instructions": 1e6 * math.exp(ratio)}, 1, clock="instructions")

        def close(self) -> None:
            pass

    monkeypatch.setattr(pairing, "CountingDuel", Counted)
    trial = Trial(Case("null:steady"), Side("null"), "forward")
    contest = Contest(trial, trial, trial)
    Comparing(Settings(clock="instructions"), Rule(), lambda _: None, timed=False).run([contest])
    assert contest.verdict is not None
    assert layouts == list(range(7))
    assert contest.verdict.verdict == "slower"
    floor = 1 + FLOOR
    assert contest.verdict.interval == pytest.approx((math.exp(0.01) / floor, math.exp(0.01) * floor))
