"""What is said of a contest: times, ratio and interval of the same pairs."""

from __future__ import annotations

import math
import random
import re
from dataclasses import replace
from statistics import fmean

import pytest
from tests.each import check_each

from opperf.domain.case import Case
from opperf.domain.measurement import Measurement, Quantity, Sample, Samples
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.record import Run
from opperf.parent.analysis.verdict import Rule, confirm, decide
from opperf.parent.commands.bisect.bench import observation
from opperf.parent.documents.comparison import ComparisonRun, PairValue
from opperf.parent.measuring.contest import Contest, outcome
from opperf.parent.reports import render
from opperf.parent.reports.formats import names
from opperf.parent.workers.rounds import pair_value


def turn(generator: random.Random, microseconds: float) -> Samples:
    """Return a turn of two samples on a machine whose speed changes, with a slow one now and then."""
    times = [microseconds * generator.lognormvariate(0, 0.2) * generator.choice((1, 1, 1, 3)) for _ in range(2)]
    return Samples(tuple(Sample(100, round(time * 1e5), round(time * 1e5)) for time in times))


def pair(generator: random.Random, base: float, new: float) -> PairValue:
    """Return a pair of processes, each of which is faster or slower than others by itself."""
    mood = generator.lognormvariate(0, 0.3)
    return pair_value([(turn(generator, base * mood), turn(generator, new * mood)) for _ in range(18)])


def contest(stage1: list[PairValue], stage2: list[PairValue]) -> Contest:
    """Return a contest of these pairs, with the verdict that they amount to."""
    trial = Trial(Case("add"), Side("torch"), "forward")
    made = Contest(trial, trial, trial, stage1, stage2)
    rule = Rule()
    made.verdict = confirm(made.ratios1, made.ratios2, rule) if stage2 else decide(made.ratios1, rule)
    return made


@pytest.mark.parametrize("stages", [(5, 0), (5, 7), (12, 5)])
def test_the_times_of_a_comparison_lie_as_far_apart_as_its_ratio_says(stages: tuple[int, int]) -> None:
    def check(seed: int) -> None:
        generator = random.Random(seed)
        result = outcome(contest(*([pair(generator, 925, 1300) for _ in range(count)] for count in stages)))
        assert result.base_time is not None
        assert result.new_time is not None
        assert result.verdict.ratio == pytest.approx(result.new_time / result.base_time)
        assert 400e-6 < result.base_time < 2000e-6

    check_each(range(20), check, "seed {}".format)


def test_the_times_of_a_pair_are_those_of_its_rounds_minima() -> None:
    rounds = [(Samples((Sample(1, ns, ns),) * 2), Samples((Sample(1, 2 * ns, 2 * ns),) * 2)) for ns in (90, 100, 110)]
    result = pair_value(rounds * 3)
    assert result.base is not None
    assert result.new is not None
    assert result.base["turn"] == pytest.approx(math.exp(fmean(map(math.log, (90e-9, 100e-9, 110e-9)))), rel=0.01)
    assert result.new["turn"] == pytest.approx(2 * result.base["turn"])


def test_a_second_stage_without_a_ratio_leaves_the_times_of_the_first() -> None:
    generator = random.Random(0)
    silent = PairValue(None, None, None, 2, "2 rounds")
    result = outcome(contest([pair(generator, 100, 200) for _ in range(5)], [silent, silent]))
    assert result.base_time is not None
    assert result.new_time is not None
    assert result.new_time / result.base_time == pytest.approx(2, rel=0.2)


SILENT = PairValue(None, None, None, 2, "2 rounds with undisturbed samples of both sides")


@pytest.mark.parametrize("usable", [0, 1, 2])
def test_below_three_usable_pairs_no_report_has_a_ratio_or_a_time(usable: int) -> None:
    generator = random.Random(0)
    result = outcome(contest([*(pair(generator, 100, 200) for _ in range(usable)), *[SILENT] * 10], []))
    assert (result.verdict.verdict, result.verdict.ratio, result.verdict.interval) == ("inconclusive", None, None)
    assert (result.base_time, result.new_time, dict(result.tails)) == (None, None, {})
    assert result.verdict.pairs == usable
    assert "there is no ratio below 3 usable pairs" in result.verdict.reason
    assert result.verdict.reason.endswith("the last unusable pair had 2 rounds with undisturbed samples of both sides")
    run = ComparisonRun(Run("1", "2026-11-26T00:00:00+00:00", (), Settings()), (result,))
    for form in names():
        text = " ".join(render(run, form).split())
        assert "no ratio below 3 usable pairs" in text, form
        assert not re.search(r"\d (us|ms|ns)\b", text), form


def test_a_comparison_says_what_its_results_were_checked_against() -> None:
    generator, checked = random.Random(0), {"base": "against NumPy", "new": "timed calls against it"}
    pairs = [replace(pair(generator, 100, 200), checked=checked) for _ in range(3)]
    assert outcome(contest([*pairs, SILENT], [])).facts == {"checked": checked}
    assert outcome(contest([pair(generator, 100, 200)] * 3, [])).facts == {}


def test_three_usable_pairs_have_a_ratio_and_times() -> None:
    generator = random.Random(0)
    result = outcome(contest([*(pair(generator, 100, 200) for _ in range(3)), *[SILENT] * 10], []))
    assert result.verdict.ratio is not None
    assert result.base_time is not None


@pytest.mark.parametrize("usable", [0, 1, 2])
def test_a_second_stage_of_too_few_pairs_leaves_the_estimate_of_the_first(usable: int) -> None:
    generator = random.Random(0)
    stages = [pair(generator, 100, 200) for _ in range(5)], [pair(generator, 100, 800) for _ in range(usable)]
    result = outcome(contest(stages[0], [*stages[1], SILENT]))
    assert (result.verdict.verdict, result.verdict.pairs) == ("inconclusive", 5)
    assert result.verdict.ratio == pytest.approx(2, rel=0.2)
    assert result.base_time is not None
    assert result.new_time is not None
    assert result.new_time / result.base_time == pytest.approx(result.verdict.ratio)


def in_mode(base: float, new: float, faults: tuple[int, int] = (0, 0)) -> PairValue:
    """Return a pair of processes whose calls take these microseconds and page faults."""
    first, second = (
        Samples((Sample(10, round(time * 1e4), 0, faults=10 * count),) * 2) for time, count in zip((base, new), faults)
    )
    return pair_value([(first, second)] * 6)


def of_modes(pairs: list[PairValue]) -> Contest:
    """Return a contest of these pairs in its first stage."""
    trial = Trial(Case("softmax"), Side("torch"), "forward")
    return Contest(trial, trial, trial, pairs)


def test_a_comparison_records_the_page_faults_of_a_call_in_each_process() -> None:
    made = contest([in_mode(1900, 680, (710, 130)), in_mode(1900, 680, (715, 130))], [in_mode(1900, 680, (7, 8))])
    made.verdict = decide(made.ratios1, Rule())
    result = outcome(made)
    assert (result.base_faults, result.new_faults) == ((710, 715, 7), (130, 130, 8))


def test_page_faults_of_a_call_that_takes_large_blocks_are_its_own() -> None:
    made = of_modes([in_mode(1900, 680, (710, 130))] * 5)
    assert made.doubt(Rule().change) is not None
    peak = Quantity(64e6, "profiler")
    made.memory = [Measurement({"time": Samples((Sample(1, 1, 1),)), "memory_peak": peak})] * 2
    assert made.doubt(Rule().change) is None


def test_a_bisection_knows_a_change_no_better_than_modes_leave_it() -> None:
    steady = observation(of_modes([in_mode(680, 1900)] * 5), Rule().change)
    modes = observation(of_modes([in_mode(680, new) for new in (1900, 1900, 1900, 680, 1900)]), Rule().change)
    mapped = observation(of_modes([in_mode(680, 1900, (130, 710))] * 5), Rule().change)
    assert steady is not None
    assert modes is not None
    assert mapped is not None
    apart = math.log(1900 / 680)
    assert (steady[1], modes[1], mapped[1]) == pytest.approx((0, apart, apart))
    assert observation(of_modes([in_mode(680, 1900)]), Rule().change) is None
