"""Verdicts from log-ratios: what stands out, what is confirmed, what stays open."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from opperf.parent.analysis.verdict import Rule, confirm, decide, decide_early, manifold, screen, spending

RULE = Rule(tolerance=0.02, pairs=5)


def around(centre: float, spread: float = 0.002, count: int = 5) -> list[float]:
    """Return log-ratios around a centre."""
    return [centre + spread * (i - (count - 1) / 2) for i in range(count)]


def test_looks_are_at_five_eight_and_twelve_pairs() -> None:
    assert Rule(pairs=5).looks == (5, 8, 12)


def test_identical_sides_are_the_same_at_the_first_look() -> None:
    assert screen({0: around(0.0)}, 0, RULE) == (set(), {0})


def test_a_clear_change_is_flagged_for_the_second_stage() -> None:
    assert screen({0: around(0.05), 1: around(0.0)}, 0, RULE) == ({0}, {1})


def test_a_change_that_nobody_minds_is_not_flagged_however_clear() -> None:
    flagged, same = screen({0: around(0.005, spread=0.0001)}, 0, RULE)
    assert (flagged, same) == (set(), {0})


def test_noise_goes_on_to_the_next_look() -> None:
    assert screen({0: around(0.01, spread=0.03)}, 0, RULE) == (set(), set())


def test_what_chance_explains_one_time_in_three_is_not_flagged() -> None:
    assert screen({0: around(0.015, spread=0.02)}, 0, RULE) == (set(), set())


def test_many_operators_make_a_weak_finding_unbelievable() -> None:
    weak = around(0.03, spread=0.012)
    alone, _ = screen({0: weak}, 0, RULE)
    crowd, _ = screen({0: weak, **{i: around(0.0, spread=0.03) for i in range(1, 60)}}, 0, RULE)
    assert (alone, crowd) == ({0}, set())


@pytest.mark.parametrize(("centre", "word"), [(0.05, "slower"), (-0.05, "faster")])
def test_a_change_that_both_stages_see_is_called(centre: float, word: str) -> None:
    verdict = confirm(around(centre), around(centre), RULE)
    assert verdict.verdict == word
    assert verdict.ratio == pytest.approx(math.exp(centre))
    assert verdict.interval is not None
    assert verdict.interval[0] < math.exp(centre) < verdict.interval[1]


def test_the_reported_ratio_is_that_of_the_second_stage() -> None:
    assert confirm(around(0.10), around(0.05), RULE).ratio == pytest.approx(math.exp(0.05))


@pytest.mark.parametrize(("centre", "pairs"), [(0.03, 12), (0.10, 12), (0.15, 7), (0.30, 5)])
def test_a_large_change_needs_fewer_pairs_to_be_told_from_none(centre: float, pairs: int) -> None:
    assert RULE.second_looks(around(centre, spread=0.04))[0] == pairs


def test_a_change_that_the_second_stage_does_not_see_is_the_same() -> None:
    assert confirm(around(0.05), around(0.001), RULE).verdict == "same"


def test_a_change_of_just_the_tolerance_asks_for_twice_the_pairs() -> None:
    assert decide([RULE.band] * 4, RULE).settle == "about 8 pairs instead of 4: `--settle --max-pairs 8`"


def test_stages_that_disagree_settle_nothing() -> None:
    verdict = confirm(around(0.05), around(-0.05), RULE)
    assert (verdict.verdict, verdict.reason) == ("inconclusive", "the two stages disagree: 1.051 and 0.951")


def test_stages_whose_intervals_lie_apart_do_not_agree() -> None:
    verdict = confirm([-0.24, -0.27, -0.26, -0.74, -0.25], [-1.11, -1.27, -1.20, -1.19, -1.22], RULE)
    assert (verdict.verdict, verdict.reason) == ("inconclusive", "the two stages disagree: 0.703 and 0.302")


def test_stages_that_lie_apart_by_less_than_the_tolerance_agree() -> None:
    assert confirm(around(0.050, spread=0.0001), around(0.062, spread=0.0001), RULE).verdict == "slower"


def test_an_interval_that_says_little_more_than_the_direction_is_no_answer() -> None:
    verdict = confirm(around(-1.0, spread=0.3), around(-1.2, spread=0.45), RULE)
    assert verdict.interval is not None
    assert verdict.interval[1] < 1
    assert (verdict.verdict, verdict.reason) == ("inconclusive", "the interval spans a factor of 5.9")
    assert decide_early([-1.0, -1.2, -1.1, -2.0, -3.0], RULE) is None


def test_a_change_within_the_tolerance_is_not_called_slower() -> None:
    verdict = confirm(around(0.018), around(0.018, spread=0.004), RULE)
    assert verdict.verdict == "inconclusive"
    assert verdict.settle is not None


def test_a_noisy_second_stage_is_inconclusive_and_says_what_would_settle_it() -> None:
    verdict = confirm(around(0.05), around(0.05, spread=0.06), RULE)
    assert verdict.verdict == "inconclusive"
    assert "`--settle --max-pairs 50`" in (verdict.settle or "")


def test_too_few_pairs_are_inconclusive() -> None:
    assert decide([0.01], RULE).verdict == "inconclusive"
    assert confirm(around(0.05), [0.05], RULE).verdict == "inconclusive"


def test_an_interval_inside_the_tolerance_is_the_same() -> None:
    assert decide(around(0.004), RULE).verdict == "same"


def test_an_interval_that_leaves_the_tolerance_is_inconclusive() -> None:
    assert decide(around(0.0, spread=0.05), RULE).verdict == "inconclusive"


def test_five_pairs_that_agree_on_a_large_ratio_need_no_second_stage() -> None:
    verdict = decide_early(around(-math.log(80), spread=0.05), RULE)
    assert verdict is not None
    assert (verdict.verdict, verdict.pairs, verdict.confidence) == ("faster", 5, 0.999)
    assert verdict.ratio == pytest.approx(1 / 80)
    assert verdict.interval is not None
    assert verdict.interval[1] < 0.98
    assert "the first pairs were enough: all 5 pairs and their 99.9% interval are beyond ±2%" in verdict.reason


@pytest.mark.parametrize(
    "ratios",
    [
        around(0.05, spread=0.01),  # the 99.9 % interval is not beyond the tolerance
        [0.3, 0.3, 0.3, 0.3, 0.01, 0.3, 0.3, 0.3],  # one pair is not, which the trimmed interval does not show
        around(1.0, count=4),
    ],
)
def test_one_stage_is_not_enough_where_a_pair_or_the_interval_leaves_a_doubt(ratios: list[float]) -> None:
    assert decide_early(ratios, RULE) is None


def test_one_stage_is_not_enough_within_what_identical_code_moves_by() -> None:
    assert decide_early(around(0.10), RULE) is not None
    assert decide_early(around(0.10), Rule(floor=0.12)) is None


def test_a_look_of_the_second_stage_spends_its_share_of_the_error() -> None:
    pairs = around(0.05, spread=0.025)
    assert confirm(around(0.05), pairs, RULE).verdict == "slower"
    assert confirm(around(0.05), pairs, RULE, share=0.2).verdict == "inconclusive"


def test_one_pair_far_off_hardly_moves_what_eight_others_say() -> None:
    assert decide([*around(0.001, count=8), 0.4], RULE).verdict == "same"


def test_looks_that_go_on_spend_the_whole_error_and_end_at_the_most_pairs() -> None:
    looks = Rule(most=40).looks
    assert looks == (5, 8, 12, 20, 32, 40)
    assert sum(spending(looks)) == pytest.approx(1)
    assert Rule(most=10).looks == (5, 8, 10)
    assert Rule(pairs=5, most=3).looks == (5,)


def test_what_is_inconclusive_says_how_large_a_change_may_still_be() -> None:
    verdict = decide(around(0.0, spread=0.02), RULE)
    assert verdict.interval is not None
    assert verdict.bound == pytest.approx(max(1 - verdict.interval[0], verdict.interval[1] - 1))
    assert confirm(around(0.10), around(0.10), RULE).bound is None


def test_a_family_needs_more_of_each_of_its_comparisons() -> None:
    many = Rule(family=200)
    barely = around(0.10, spread=0.012)
    assert decide_early(barely, RULE) is not None
    assert decide_early(barely, many) is None
    pairs = around(0.05, spread=0.025)
    assert confirm(around(0.05), pairs, RULE).verdict == "slower"
    assert confirm(around(0.05), pairs, many).verdict == "inconclusive"
    assert confirm(around(0.05), around(0.001), many).verdict == "same"
    assert many.second_looks(around(0.30, spread=0.06))[0] > RULE.second_looks(around(0.30, spread=0.06))[0]


def verdict_of_draws(draw: Callable[[], float], rule: Rule) -> str:
    """Return the verdict on pairs as they are drawn, by the stages of a live comparison."""
    stage1: list[float] = []
    for look, pairs in enumerate(rule.looks):
        stage1 += [draw() for _ in range(pairs - len(stage1))]
        flagged, same = screen({0: stage1}, look, rule)
        if same:
            return "same"
        if flagged:
            break
    else:
        return decide(stage1, rule).verdict
    clear = decide_early(stage1, rule)
    if clear is not None:
        return clear.verdict
    looks, stage2 = rule.second_looks(stage1), list[float]()
    for pairs, share in zip(looks, spending(looks)):
        stage2 += [draw() for _ in range(pairs - len(stage2))]
        verdict = confirm(stage1, stage2, rule, share).verdict
        if verdict != "inconclusive":
            break
    return verdict


@pytest.mark.parametrize("spread", [0.02, 0.05, 0.15])
def test_of_many_copies_of_a_reference_none_is_called_changed(spread: float) -> None:
    generator = random.Random(20)
    copies = 200

    def changed(rule: Rule, families: int) -> int:
        """Return the number of families of copies of which any is called changed."""
        words = [verdict_of_draws(lambda: generator.gauss(0, spread), rule) for _ in range(families * copies)]
        rows = [words[start : start + copies] for start in range(0, len(words), copies)]
        return sum(bool({"faster", "slower"} & {*row}) for row in rows)

    assert changed(Rule(family=copies), 8) == 0  # one in twenty is what the rule allows


def test_each_by_its_own_rule_some_of_many_copies_would_be() -> None:
    generator = random.Random(1)
    words = [verdict_of_draws(lambda: generator.gauss(0, 0.05), RULE) for _ in range(1500)]
    assert {"faster", "slower"} & {*words}


def test_pairs_beyond_three_times_whose_interval_says_little_are_no_verdict() -> None:
    assert manifold([1.2, 1.25, 3.0], RULE) is None
    assert manifold([1.36, 1.37], RULE) is None
    assert manifold([1.36, 1.37, 1.38], Rule(floor=1.4)) is None


@pytest.mark.parametrize("sign", [1, -1])
def test_three_pairs_beyond_one_and_a_half_times_decide_if_they_agree(sign: int) -> None:
    verdict = manifold([sign * ratio for ratio in (0.66, 0.67, 0.69)], RULE, is_long=True)
    assert verdict is not None
    assert (verdict.verdict, verdict.pairs, verdict.confidence) == ("slower" if sign > 0 else "faster", 3, 0.99)
    assert (
        manifold([sign * ratio for ratio in (0.45, 0.6, 0.95)], RULE, is_long=True) is None
    )  # their interval says little
    assert manifold([sign * ratio for ratio in (0.40, 0.41, 0.42)], RULE, is_long=True) is None  # one is not beyond it
    assert manifold([sign * ratio for ratio in (0.66, 0.67, 0.69)], RULE) is None  # of short calls


def test_three_pairs_of_many_comparisons_are_held_to_the_error_of_all() -> None:
    pairs = [0.64, 0.67, 0.70]
    assert manifold(pairs, RULE, is_long=True) is not None
    assert manifold(pairs, Rule(family=200), is_long=True) is None


def test_three_pairs_decide_what_takes_twice_as_long_and_their_interval_holds_it() -> None:
    draw = random.Random(1)
    for spread, least in ((0.013, 0.999), (0.05, 0.7), (0.1, 0.25)):
        verdicts = [
            manifold([draw.gauss(math.log(2), spread) for _ in range(3)], RULE, is_long=True) for _ in range(2000)
        ]
        intervals = [one.interval for one in verdicts if one is not None and one.interval is not None]
        assert len(intervals) / 2000 >= least
        assert sum(low < 2 < high for low, high in intervals) / len(intervals) > 0.95


@pytest.mark.parametrize("spread", [0.02, 0.05, 0.1])
def test_three_pairs_of_identical_code_decide_nothing_however_heavy_their_tails(spread: float) -> None:
    draw = random.Random(1)

    def pair() -> float:  # Student's t with two degrees of freedom: its variance is not finite
        return draw.gauss(0, spread) / math.sqrt((draw.gauss(0, 1) ** 2 + draw.gauss(0, 1) ** 2) / 2)

    assert not [verdict for _ in range(5000) if (verdict := manifold([pair() for _ in range(3)], RULE, is_long=True))]


def test_the_interval_of_three_pairs_holds_a_change_of_four_times() -> None:
    draw = random.Random(1)
    verdicts = [manifold([draw.gauss(math.log(4), 0.03) for _ in range(3)], RULE) for _ in range(2000)]
    intervals = [one.interval for one in verdicts if one is not None and one.interval is not None]
    assert len(intervals) > 1990
    assert 0.93 < sum(low < 4 < high for low, high in intervals) / len(intervals) < 0.97
