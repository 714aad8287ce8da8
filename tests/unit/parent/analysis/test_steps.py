"""The posterior over the places of steps, on series that are known."""

from __future__ import annotations

import math
import random
from itertools import combinations, pairwise
from statistics import fmean, pvariance

import pytest

from opperf.parent.analysis.steps import Model, Observation, Posterior

BUILDS = 30


def observations(levels: list[float], places: list[int], error: float = 0.005) -> list[Observation]:
    """Compare some builds with the first and the last, exactly, but as if with an error."""
    ends = (0, len(levels) - 1)
    return [
        Observation(base, new, levels[new] - levels[base], error)
        for new in places
        for base in ends
        if base != new
    ]  # fmt: skip


def stepped(*steps: tuple[int, float]) -> list[float]:
    """Levels that step at some builds."""
    return [math.fsum(height for place, height in steps if build >= place) for build in range(BUILDS)]


def test_a_step_between_neighbours_that_were_measured_is_certain() -> None:
    posterior = Posterior(BUILDS, observations(stepped((12, 0.1)), [11, 12, 29]))
    assert posterior.best.steps == (12,)
    assert posterior.best.probability > 0.95
    assert posterior.best.heights[0] == pytest.approx(0.1, rel=0.01)


def test_between_what_was_measured_every_place_is_as_likely() -> None:
    posterior = Posterior(BUILDS, observations(stepped((12, 0.1)), [8, 16, 29]))
    assert posterior.bracket(0.9) == (8, 16)
    likely = posterior.best
    assert likely.gaps == (range(9, 17),)
    assert (likely.ways, likely.steps) == (8, (9,))
    assert likely.ways * likely.probability > 0.85


def test_the_build_in_the_middle_tells_most() -> None:
    posterior = Posterior(BUILDS, observations(stepped((12, 0.1)), [29]))
    uncertainties = [posterior.uncertainty(build) for build in range(1, BUILDS - 1)]
    assert uncertainties.index(max(uncertainties)) + 1 in (14, 15)


def test_two_steps_are_told_from_one() -> None:
    posterior = Posterior(BUILDS, observations(stepped((7, 0.1), (20, 0.08)), [6, 7, 19, 20, 29]))
    assert posterior.best.steps == (7, 20)
    assert posterior.best.heights == pytest.approx((0.1, 0.08), rel=0.05)


def test_steps_that_cancel_out_are_two_steps() -> None:
    posterior = Posterior(BUILDS, observations(stepped((7, 0.1), (20, -0.1)), [6, 7, 12, 19, 20, 29]))
    assert posterior.best.steps == (7, 20)


def test_a_slope_is_no_step() -> None:
    levels = [0.2 * build / (BUILDS - 1) for build in range(BUILDS)]
    posterior = Posterior(BUILDS, observations(levels, [4, 8, 12, 16, 20, 24, 29]))
    assert posterior.best.steps == ()
    assert posterior.best.probability > 0.95


def test_a_pair_of_neighbours_counts_as_evidence_of_the_step() -> None:
    far = observations(stepped((12, 0.1)), [8, 16, 29])
    posterior = Posterior(BUILDS, [*far, Observation(11, 12, 0.1, 0.005)])
    assert posterior.best.steps == (12,)
    assert posterior.best.probability > 0.95


def test_two_builds_have_one_place_for_a_step() -> None:
    posterior = Posterior(2, [Observation(0, 1, 0.1, 0.01)])
    assert [(model.steps, model.probability) for model in posterior.models] == [((1,), 1.0)]


def test_probabilities_add_up_and_are_in_order() -> None:
    generator = random.Random(0)
    noisy = [Observation(0, place, generator.gauss(0.05, 0.05), 0.03) for place in (5, 10, 15, 20, 29)]
    models = Posterior(BUILDS, noisy).models
    weights = [model.probability for model in models]
    assert math.fsum(model.ways * model.probability for model in models) == pytest.approx(1.0)
    assert all(before >= after for before, after in pairwise(weights))


def test_three_steps_are_told_from_two() -> None:
    steps = ((4, 0.1), (13, 0.1), (22, -0.1))
    posterior = Posterior(BUILDS, observations(stepped(*steps), [3, 4, 8, 12, 13, 17, 21, 22, 29]))
    assert posterior.best.steps == (4, 13, 22)
    assert posterior.best.heights == pytest.approx((0.1, 0.1, -0.1), rel=0.05)


@pytest.mark.parametrize("build", [3, 9, 14, 25])
def test_a_gap_stands_for_each_of_its_builds(build: int) -> None:
    """The mean and the variance of a level are those over all places that a step may have."""
    model = Model((range(5, 12), range(12, 20), range(12, 20)), 7 * 28, 1 / 196, (0.2, 0.1, 0.1))
    levels = [
        0.2 * (build >= first) + 0.1 * (build >= second) + 0.1 * (build >= third)
        for first in range(5, 12)
        for second, third in combinations(range(12, 20), 2)
    ]
    assert model.level(build, BUILDS) == pytest.approx((fmean(levels), pvariance(levels)))


def test_a_history_of_thousands_of_builds_is_as_quick_as_one_of_tens() -> None:
    """What was measured decides the work: with each place a model of its own there would be ten thousand million."""
    levels = [0.1 * (build >= 2000) for build in range(4000)]
    posterior = Posterior(4000, observations(levels, [1000, 1999, 2000, 3000, 3999]))
    assert posterior.best.steps == (2000,)
    assert len(posterior.models) < 100


def test_five_steps_up_and_down_are_told() -> None:
    steps = ((4, 0.3), (9, -0.3), (13, 0.2), (20, 0.1), (25, -0.3))
    measured = [place for step, _ in steps for place in (step - 1, step)]
    posterior = Posterior(BUILDS, observations(stepped(*steps), [*measured, BUILDS - 1]))
    assert posterior.best.gaps == tuple(range(step, step + 1) for step, _ in steps)
    assert posterior.best.heights == pytest.approx([height for _, height in steps], rel=0.05)
    assert posterior.best.probability > 0.85


def test_what_is_the_same_all_over_has_no_step() -> None:
    posterior = Posterior(BUILDS, observations([0.0] * BUILDS, [8, 16, 24, 29]))
    (story, *_) = posterior.stories()
    assert (story.gaps, story.slope, story.placed) == ((), False, True)
    assert story.probability > 0.9


def test_stories_are_of_steps_beyond_a_height_whatever_smaller_ones_there_are() -> None:
    levels = stepped((7, 0.3), (20, 0.012))
    posterior = Posterior(BUILDS, observations(levels, [6, 7, 13, 17, 24, 29]))
    (story, *_) = posterior.stories(0.02)
    assert story.gaps == (range(7, 8),)
    assert story.heights == pytest.approx((0.3,), rel=0.05)
    assert story.probability > 0.95
    assert math.fsum(one.probability for one in posterior.stories(0.02)) == pytest.approx(1.0, abs=1e-4)


def test_measuring_the_same_builds_again_and_again_says_ever_less() -> None:
    """A build lies a little off by itself: that is no step, however often it is seen."""
    once = [Observation(0, place, 0.004 * (place == 12), 0.001) for place in (6, 11, 12, 13, 20, 29)]
    often = [*once, *(Observation(0, 12, 0.004, 0.001) for _ in range(100))]
    assert Posterior(BUILDS, often).stories(0.002)[0].gaps == ()
