"""What comparisons say that know the truth: which of them count, and what a suite of them comes to."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from opperf.domain.case import Case
from opperf.domain.plan import Side, Trial
from opperf.parent.documents.comparison import PairValue, Verdict
from opperf.parent.documents.floor import Suites
from opperf.parent.measuring.contest import Contest
from opperf.parent.measuring.floors import Kind, Round, complete, floor, suites

TRIAL = Trial(Case("exp"), Side("torch"), "forward")
IDENTICAL, SLOWER, ELSEWHERE = Kind(), Kind(0.05), Kind(elsewhere=True)


def contest(
    word: str, ratios: Sequence[float] = (0.99, 1.0, 1.01), *, planned: int = 3, seconds: float = 4.0
) -> Contest:
    """Return a comparison that ended with a word after pairs of these ratios."""
    base = {"min": 1.0, "median": 1.0, "p90": 1.0}
    pairs = [PairValue(math.log(ratio), base, {**base, "min": ratio}, 24) for ratio in ratios]
    verdict = Verdict(word, 1.0, (0.99, 1.01), "", len(pairs))
    return Contest(TRIAL, TRIAL, TRIAL, stage1=pairs, planned=planned, seconds=seconds, verdict=verdict)


def failed() -> Contest:
    """Return one that could not be measured."""
    return Contest(TRIAL, TRIAL, TRIAL, failure="it raised", verdict=Verdict("failed", None, None, "", 0))


@pytest.mark.parametrize(
    ("one", "counts"),
    [
        (contest("same"), True),
        (contest("slower", planned=8), True),  # one stage was enough
        (contest("inconclusive"), True),
        (contest("inconclusive", planned=8), False),  # cut short by a budget, or stopped
        (failed(), False),
    ],
)
def test_only_a_comparison_that_came_to_its_end_counts(one: Contest, counts: bool) -> None:
    assert complete(one) is counts


def test_a_floor_tells_how_often_each_kind_was_called_changed_and_what_it_cost() -> None:
    rounds = [
        Round(IDENTICAL, (contest("same", seconds=3.0),)),
        Round(SLOWER, (contest("slower", [1.05] * 3),)),
        Round(IDENTICAL, (contest("faster", seconds=5.0),)),
        Round(SLOWER, (contest("inconclusive", [1.05] * 3, seconds=8.0),)),
        Round(SLOWER, (contest("inconclusive", [1.05] * 3, planned=8),)),
        Round(SLOWER, (contest("faster", [1.05] * 3, seconds=6.0),)),
    ]
    result = floor(rounds, 0, "2026-11-26")
    assert result is not None
    assert (result.alarms, result.comparisons, result.seconds) == (1, 2, 4.0)
    assert result.displacement is None
    detection = result.detection
    assert detection is not None
    assert (detection.effect, detection.detections, detection.inconclusive, detection.comparisons) == (0.05, 1, 1, 3)
    assert detection.ratio == pytest.approx(1.05)
    assert detection.seconds == 6.0


def test_what_another_layout_moves_is_no_regression_but_part_of_the_floor() -> None:
    rounds = [
        Round(IDENTICAL, (contest("same"),)),
        Round(ELSEWHERE, (contest("slower", [1.04] * 3),)),
        Round(ELSEWHERE, (contest("faster", [0.94] * 3),)),
        Round(ELSEWHERE, (contest("inconclusive", [0.5] * 2, planned=8),)),  # too few pairs to tell
    ]
    result = floor(rounds, 0, "")
    assert result is not None
    assert (result.alarms, result.comparisons) == (0, 1)
    layouts = result.displacement
    assert layouts is not None
    assert (layouts.layouts, layouts.alarms, layouts.comparisons) == (2, 2, 2)
    assert result.moved == layouts.moved == pytest.approx(-math.log(0.94))


def test_a_layout_that_moves_less_than_pairs_spread_leaves_the_floor_as_it_is() -> None:
    alone = floor([Round(IDENTICAL, (contest("same"),))], 0, "")
    both = floor([Round(IDENTICAL, (contest("same"),)), Round(ELSEWHERE, (contest("same", [1.001] * 3),))], 0, "")
    assert alone is not None
    assert both is not None
    assert both.moved == alone.moved


def test_a_case_without_pairs_of_identical_code_has_no_floor_whatever_else_was_compared() -> None:
    assert floor([Round(SLOWER, (contest("slower"),)), Round(IDENTICAL, (failed(),))], 0, "") is None


def test_a_suite_counts_where_all_of_it_was_compared_and_is_called_changed_once_however_many_cases_are() -> None:
    same, wolf, cut = contest("same"), contest("slower"), contest("inconclusive", planned=8)
    rounds = [Round(IDENTICAL, (same, same, failed())), Round(IDENTICAL, (wolf, wolf, failed()))]
    others = [Round(IDENTICAL, (same, cut, failed())), Round(SLOWER, (wolf, wolf, failed()))]
    assert suites([*rounds, *others]) == Suites(cases=2, suites=2, alarms=1, cut=1)
    assert suites([]) == Suites(0, 0, 0)
