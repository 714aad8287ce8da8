"""Levels of builds by weighted least squares, held against each other."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opperf.domain.stats.significance import Estimate
from opperf.parent.analysis.ratio_graph import Edge, RatioGraph


def solved(edges: list[Edge], base: str, new: str) -> tuple[float, float]:
    """Return the difference and its standard error by NumPy's dense algebra."""
    builds = sorted({build for edge in edges for build in (edge.base, edge.new)})
    design = np.array([[(build == edge.new) - (build == edge.base) for build in builds[1:]] for edge in edges], float)
    weights = np.array([edge.estimate.error**-2 for edge in edges])
    normal = design.T @ (weights[:, None] * design)
    levels = np.linalg.solve(normal, design.T @ (weights * [edge.estimate.log_ratio for edge in edges]))
    pick = np.array([(build == new) - (build == base) for build in builds[1:]], float)
    return float(pick @ levels), float(math.sqrt(pick @ np.linalg.solve(normal, pick)))


@given(st.integers(2, 9), st.integers(0, 1 << 30))
def test_levels_and_errors_are_those_of_weighted_least_squares(count: int, seed: int) -> None:
    generator = random.Random(seed)
    builds = [str(i) for i in range(count)]
    pairs = [*itertools.pairwise(builds), *generator.sample(list(itertools.combinations(builds, 2)), count // 2)]
    edges = [Edge(*pair, Estimate(generator.gauss(0, 0.1), generator.uniform(0.01, 0.1))) for pair in pairs]
    graph = RatioGraph(edges)
    for base, new in itertools.combinations(builds, 2):
        both = graph.estimate(base, new)
        assert both is not None
        assert (both.log_ratio, both.error) == pytest.approx(solved(edges, base, new), abs=1e-9)


def test_a_closure_holds_an_edge_against_all_the_others() -> None:
    edges = [
        Edge("a", "b", Estimate(0.02, 0.01)),
        Edge("b", "c", Estimate(0.03, 0.02)),
        Edge("a", "c", Estimate(0.09, 0.02)),
        Edge("c", "d", Estimate(0.5, 0.1)),
    ]
    closures = RatioGraph(edges).closures()
    assert [closure.edge for closure in closures] == edges[:3]  # nothing is held against a bridge
    assert [closure.gap.log_ratio for closure in closures] == pytest.approx([-0.04, -0.04, 0.04])
    assert [closure.gap.error for closure in closures] == pytest.approx([0.03] * 3)
    assert closures[0].sigmas == pytest.approx(4 / 3)


def test_builds_that_no_way_joins_are_not_compared() -> None:
    graph = RatioGraph([Edge("a", "b", Estimate(0.1, 0.01)), Edge("c", "d", Estimate(0.2, 0.01))])
    assert graph.estimate("a", "c") is None
    assert graph.estimate("a", "unheard of") is None
    back = graph.estimate("d", "c")
    assert back is not None
    assert [back.log_ratio, back.error] == pytest.approx([-0.2, 0.01])
    assert graph.builds == ("a", "b", "c", "d")


def test_a_new_anchor_with_overlap_joins_old_builds_to_new_ones() -> None:
    old = [Edge("1.0", f"1.{i}", Estimate(0.01 * i, 0.005)) for i in range(1, 4)]
    new = [Edge("1.2", f"1.{i}", Estimate(0.01 * (i - 2), 0.005)) for i in range(3, 6)]
    far = RatioGraph([*old, *new]).estimate("1.0", "1.5")
    assert far is not None
    assert far.log_ratio == pytest.approx(0.05)
    direct, last = 0.005**2, 0.005**2
    detour = 2 * 0.005**2  # by 1.3, which both anchors were compared with
    assert far.error == pytest.approx(math.sqrt(direct * detour / (direct + detour) + last))


def test_a_ratio_and_its_interval_make_an_estimate_that_gives_the_interval_back() -> None:
    estimate = Estimate.of(1.05, (1.02, 1.05**2 / 1.02), confidence=0.99)
    assert estimate.interval(0.99) == pytest.approx((1.02, 1.05**2 / 1.02))
    assert Estimate.of(1.0, (1.0, 1.0)).error > 0
