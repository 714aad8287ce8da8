"""Where a series of builds changes, by how much, and how sure that is."""

from __future__ import annotations

import math
import random
from itertools import combinations

import pytest
from tests.each import each

from opperf.domain.stats.significance import Estimate
from opperf.parent.analysis.change_points import (
    PENALTY,
    Change,
    Point,
    absolute,
    changes,
    fence,
    points,
    scatter,
    steps,
    time_changes,
)
from opperf.parent.analysis.ratio_graph import Edge, RatioGraph

FIVE = math.log(1.05)


def series(levels: list[float], error: float = 0.005, *, seed: int = 0, steps: bool = True) -> list[Point]:
    """Return a series whose levels and steps are the given ones, with errors drawn as they say."""
    generator = random.Random(seed)
    points = []
    for i, level in enumerate(levels):
        step = None
        if steps and i:
            step = Estimate(level - levels[i - 1] + generator.gauss(0, error), error)
        points.append(Point(f"b{i}", Estimate(level + generator.gauss(0, error), error), step))
    return points


@each("steps", [True, False])
@each("seed", range(20))
def test_a_change_is_between_the_builds_it_lies_between(seed: int, steps: bool) -> None:
    (change,) = changes(series([0.0] * 12 + [FIVE] * 8, seed=seed, steps=steps))
    assert (change.before, change.after, change.confirmed) == ("b11", "b12", True)
    low, high = change.size.interval(0.999)
    assert low < 1.05 < high


def test_no_change_is_seen_in_200_quiet_series_of_100_builds() -> None:
    named = [change for seed in range(200) for change in changes(series([0.0] * 100, seed=seed)) if change.confirmed]
    assert named == []


def test_a_change_behind_which_one_build_stands_is_not_confirmed() -> None:
    (change,) = changes(series([0.0] * 12 + [FIVE]))
    assert (change.after, change.confirmed) == ("b12", False)


def test_a_step_makes_the_size_of_a_change_better_known() -> None:
    alone, together = (series([0.0] * 12 + [FIVE] * 2, steps=steps) for steps in (False, True))
    errors = [changes(points)[0].size.error / scatter(points) for points in (alone, together)]
    # Two levels against twelve, and one step: 1 / (1/2 + 1/12) and 1 add up.
    assert errors == pytest.approx([0.005 * math.sqrt(1 / 2 + 1 / 12), 0.005 / math.sqrt(1 / (1 / 2 + 1 / 12) + 1)])


def test_what_is_below_the_tolerance_is_no_change() -> None:
    small = series([0.0] * 20 + [0.015] * 20, error=0.001)
    assert changes(small) == []
    (change,) = changes(small, tolerance=0.01)
    assert change.after == "b20"


def test_several_changes_up_and_down_are_told_apart() -> None:
    levels = [0.0] * 10 + [FIVE] * 6 + [0.0] * 10 + [-FIVE] * 5
    assert [change.after for change in changes(series(levels))] == ["b10", "b16", "b26"]


def test_nights_that_scatter_more_than_their_errors_widen_them() -> None:
    generator = random.Random(1)
    points = [Point(str(i), Estimate(generator.gauss(0, 0.05), 0.005)) for i in range(60)]
    assert 6 < scatter(points) < 16
    assert changes(points) == []


def test_the_partition_is_the_best_of_all() -> None:
    points = series([0.0, 0.0, 0.03, 0.03, 0.0, 0.05, 0.05], error=0.004, seed=3)
    factor = scatter(points) ** 2

    def cost(starts: tuple[int, ...]) -> float:
        total = PENALTY * len(starts)
        for start, end in zip((0, *starts), (*starts, len(points))):
            levels = [point.level.log_ratio for point in points[start:end]]
            mean = sum(levels) / len(levels)
            total += sum((level - mean) ** 2 for level in levels) / 0.004**2 / factor
            steps = [point.step for point in points[start + 1 : end]]
            total += sum((step.log_ratio / step.error) ** 2 for step in steps if step is not None) / factor
        return total

    every = [starts for count in range(len(points)) for starts in combinations(range(1, len(points)), count)]
    best = min(every, key=cost)
    assert [change.after for change in changes(points, tolerance=0)] == [f"b{start}" for start in best]


@each("steps", [True, False])
def test_a_long_partition_is_the_best_of_all_that_a_last_change_leads_to(steps: bool) -> None:
    """Quiet for longer than a block of candidates, and then with changes that leave few of them."""
    levels = [0.0] * 60 + [FIVE] * 3 + [0.02] * 20 + [FIVE, FIVE, 0.0, 0.0] * 4
    points = series(levels, error=0.006, seed=5, steps=steps)
    error = 0.006 * scatter(points)

    def cost(start: int, end: int) -> float:
        inside = [point.level.log_ratio for point in points[start:end]]
        mean = sum(inside) / len(inside)
        moves = [point.step.log_ratio for point in points[start + 1 : end] if point.step is not None]
        return sum((value / error) ** 2 for value in [*moves, *(level - mean for level in inside)]) + PENALTY

    best: list[tuple[float, list[int]]] = [(0.0, [])]
    for end in range(1, len(points) + 1):
        total, start = min((best[start][0] + cost(start, end), start) for start in range(end))
        best.append((total, [*best[start][1], start]))
    expected = [f"b{start}" for start in best[-1][1][1:]]
    assert len(expected) > 5
    assert {change.after for change in changes(points, tolerance=0)} == set(expected)


@pytest.mark.parametrize("count", [0, 1])
def test_a_series_of_one_build_has_no_change(count: int) -> None:
    assert changes(series([0.0] * count)) == []


def test_times_without_errors_are_judged_by_their_own_scatter() -> None:
    generator = random.Random(2)
    seconds = [1e-3 * math.exp(generator.gauss(0, 0.02) + (0.2 if i >= 30 else 0.0)) for i in range(60)]
    (change,) = changes(absolute([str(i) for i in range(60)], seconds))
    assert change.after == "30"
    assert changes(absolute(["a", "b", "c"], [1e-3] * 3)) == []


@each("lone", [[0.2], [-0.2], [0.2, 0.4]])
def test_a_build_alone_that_times_came_back_from_is_no_change_either_way(lone: list[float]) -> None:
    """Nobody measured it again. Two that agree confirm each other, and what stays is a change."""
    generator = random.Random(4)

    def named(*levels: float) -> list[tuple[int, bool]]:
        seconds = [math.exp(level + generator.gauss(0, 0.01)) for level in [*[0.0] * 30, *levels]]
        every = time_changes([str(i) for i in range(len(seconds))], seconds)
        return [(int(change.after) - 30, change.confirmed) for change in every]

    assert named(*lone, *[0.0] * 8) == []
    assert named(*lone) == [(i, False) for i in range(len(lone))]
    assert named(0.2, 0.2, *[0.0] * 8) == [(0, True), (2, True)]
    assert named(*lone, *[0.1] * 8)[-1] == (len(lone), True)


def drifting_times(generator: random.Random, step: float) -> list[float]:
    """Return the times of sixty builds, each of which resembles the one before, and a step in their middle."""
    level, times = generator.gauss(0, 0.02), []
    for i in range(60):
        level = 0.7 * level + generator.gauss(0, 0.02 * math.sqrt(1 - 0.7**2))
        times.append(math.exp(level + (step if i >= 30 else 0)))
    return times


def test_times_that_resemble_their_neighbours_are_not_taken_for_steps() -> None:
    generator, builds = random.Random(3), [str(i) for i in range(60)]
    named = [changes(absolute(builds, drifting_times(generator, 0.0))) for _ in range(40)]
    assert sum(map(len, named)) <= 15  # 89 where neighbours were taken for independent
    found = [[change.after for change in changes(absolute(builds, drifting_times(generator, 0.2)))] for _ in range(40)]
    assert sum("30" in places for places in found) >= 38


def edge(base: str, new: str, ratio: float) -> Edge:
    return Edge(base, new, Estimate(math.log(ratio), 0.01))


def test_the_anchor_is_what_most_builds_were_compared_with() -> None:
    anchor, series_ = points([edge("1.0", "1.1", 1.1), edge("1.0", "1.2", 1.2), edge("1.1", "1.2", 1.09)], ())
    assert anchor == "1.0"
    assert [point.build for point in series_] == ["1.0", "1.1", "1.2"]
    assert [round(math.exp(point.level.log_ratio), 6) for point in series_] == [1.0, 1.1, 1.2]
    step = series_[2].step
    assert step is not None
    assert math.exp(step.log_ratio) == pytest.approx(1.09)


def test_a_build_that_was_not_compared_with_the_anchor_has_its_level_by_others() -> None:
    _, series_ = points(
        [edge("1.0", "1.1", 1.1), edge("1.0", "1.2", 1.2), edge("1.2", "1.3", 1.1), edge("8", "9", 2)], ()
    )
    assert [point.build for point in series_] == ["1.0", "1.1", "1.2", "1.3"]  # nothing joins 9 to them
    assert math.exp(series_[-1].level.log_ratio) == pytest.approx(1.32)


def test_comparisons_of_the_same_two_builds_count_by_their_errors() -> None:
    edges = [Edge("1.0", "1.1", Estimate(0.1, 0.01)), Edge("1.0", "1.1", Estimate(0.2, 0.02))]
    _, (_, point) = points(edges, ())
    by_graph = RatioGraph(edges).estimate("1.0", "1.1")
    assert by_graph is not None
    assert (point.level.log_ratio, point.level.error) == pytest.approx((by_graph.log_ratio, by_graph.error))


def test_builds_stand_in_their_order_and_not_in_that_of_their_comparisons() -> None:
    edges = [edge("1.1", "1.3", 1.3), edge("1.1", "1.2", 1.2), edge("1.1", "1.0", 0.9), edge("1.2", "1.3", 1.1)]
    anchor, series_ = points(edges, ["1.0", "1.1", "1.2", "1.3", "1.4"])
    assert anchor == "1.1"
    assert [point.build for point in series_] == ["1.0", "1.1", "1.2", "1.3"]
    assert [point.step is not None for point in series_] == [False, False, False, True]


def test_a_change_no_larger_than_what_its_series_moved_by_before_is_usual() -> None:
    unsteady = [0.03 * (-1) ** i for i in range(20)]
    changed = [level + FIVE for level in unsteady[:8]]
    points = series([*unsteady, *changed], error=0.002)
    quiet = series([0.0] * 20 + [FIVE] * 8, error=0.002)
    (change,) = changes(quiet)
    assert (change.usual, change.past < 0.02) == (False, True)
    assert fence(steps(points)[:19]) == pytest.approx(0.06, abs=0.01)
    assert Change("a", "b", Estimate(-FIVE, 0.001), past=fence(steps(points)[:19])).usual


def test_a_short_past_says_nothing_and_a_long_one_forgets() -> None:
    assert fence([0.1] * 7) == 0.0
    assert fence([0.5] * 400 + [0.01] * 100) == pytest.approx(0.01)
