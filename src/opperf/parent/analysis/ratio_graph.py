"""Builds and the ratios measured between them: estimates for any two builds.

Each comparison is an edge: the log-ratio of two builds with its standard error. Least squares, weighted by the errors,
give every build a level (Gauss, Theoria combinationis, 1821); where builds can be reached from each other in several
ways, each edge can be held against all the others, which is a test of the measuring itself: r(A,C) = r(A,B) r(B,C).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias

from opperf.domain.dataclass import dataclass
from opperf.domain.stats.significance import Estimate

Vector: TypeAlias = dict[str, float]
#: An edge that keeps less than this of its own weight is a bridge, up to rounding: no other edge constrains it.
LEAST_FREEDOM = 1e-9


class Compared(Protocol):
    """A comparison, whoever keeps it: how much longer one build takes than another."""

    @property
    def base(self) -> str:
        """The build that the other is held against."""

    @property
    def new(self) -> str:
        """The other."""

    @property
    def estimate(self) -> Estimate:
        """The log-ratio of the new one to the base."""


@dataclass(frozen=True)
class Edge:
    """One comparison: how much longer `new` takes than `base`."""

    base: str
    new: str
    estimate: Estimate


@dataclass(frozen=True)
class Closure:
    """An edge held against what all other edges say of its two builds: `gap` is the difference of the two."""

    edge: Compared
    gap: Estimate

    @property
    def sigmas(self) -> float:
        """How many standard errors the two are apart."""
        return abs(self.gap.log_ratio) / self.gap.error


class RatioGraph:
    """The levels of builds, by all the comparisons that join them.

    >>> graph = RatioGraph([
    ...     Edge("1.0", "1.1", Estimate(0.02, 0.01)),
    ...     Edge("1.1", "1.2", Estimate(0.03, 0.01)),
    ...     Edge("1.0", "1.2", Estimate(0.04, 0.01)),
    ... ])
    >>> both = graph.estimate("1.0", "1.2")
    >>> round(both.log_ratio, 4), round(both.error, 4)
    (0.0433, 0.0082)
    >>> [(closure.edge.new, round(closure.gap.log_ratio, 3)) for closure in graph.closures()]
    [('1.1', 0.01), ('1.2', 0.01), ('1.2', -0.01)]
    """

    def __init__(self, edges: Iterable[Compared]) -> None:
        self._edges = tuple(edges)
        self._component = _components(self._edges)
        # The first build of each component is the zero of its levels.
        zeros = set(self._component.values())
        self._unknowns = [build for build in self._component if build not in zeros]
        self._factor = _Factor(self._unknowns, self._edges)
        self._levels = self._factor.solve(self._moments())

    @property
    def builds(self) -> Sequence[str]:
        """The builds, in the order of their first edges."""
        return tuple(self._component)

    def estimate(self, base: str, new: str) -> Estimate | None:
        """Return how much longer `new` takes than `base`, by all edges; None where no edges join the two."""
        if base not in self._component or self._component.get(base) != self._component.get(new):
            return None
        difference = self._levels.get(new, 0.0) - self._levels.get(base, 0.0)
        return Estimate(difference, math.sqrt(max(0.0, self._variance(base, new))))

    def closures(self) -> list[Closure]:
        """Return each edge of a cycle, held against the others; the error of the gap holds those of both."""
        closures = []
        for edge in self._edges:
            variance = edge.estimate.error**2
            share = self._variance(edge.base, edge.new) / variance
            if 1 - share > LEAST_FREEDOM:
                residual = edge.estimate.log_ratio - (
                    self._levels.get(edge.new, 0.0) - self._levels.get(edge.base, 0.0)
                )
                gap = Estimate(residual / (1 - share), math.sqrt(variance / (1 - share)))
                closures.append(Closure(edge, gap))
        return closures

    def _moments(self) -> Vector:
        moments: Vector = dict.fromkeys(self._unknowns, 0.0)
        for edge in self._edges:
            pull = edge.estimate.log_ratio / edge.estimate.error**2
            for build, sign in ((edge.base, -1), (edge.new, 1)):
                if build in moments:
                    moments[build] += sign * pull
        return moments

    def _variance(self, base: str, new: str) -> float:
        """Return the variance of the difference of two levels."""
        if base == new:
            return 0.0
        vector: Vector = {}
        for build, sign in ((base, -1.0), (new, 1.0)):
            if build in self._factor.order:
                vector[build] = sign
        solution = self._factor.solve(vector)
        return sum(sign * solution[build] for build, sign in vector.items())


class _Factor:
    """The normal equations, eliminated build by build (L D L^T); where builds follow each other, few terms remain."""

    def __init__(self, unknowns: Sequence[str], edges: Iterable[Compared]) -> None:
        rows: dict[str, Vector] = {build: {build: 0.0} for build in unknowns}
        for edge in edges:
            weight = edge.estimate.error**-2
            for node, neighbour in ((edge.base, edge.new), (edge.new, edge.base)):
                if node in rows:
                    rows[node][node] += weight
                    if neighbour in rows:
                        rows[node][neighbour] = rows[node].get(neighbour, 0.0) - weight
        # Builds with few neighbours go first: an anchor, which all are joined to, would join them all.
        self.order = {build: i for i, build in enumerate(sorted(unknowns, key=lambda build: len(rows[build])))}
        self._pivots: Vector = {}
        self._below: dict[str, Vector] = {}
        for build in self.order:
            row = rows.pop(build)
            pivot = self._pivots[build] = row.pop(build)
            below = self._below[build] = {other: value / pivot for other, value in row.items()}
            for node in below:
                del rows[node][build]
                for neighbour, value in row.items():
                    rows[node][neighbour] = rows[node].get(neighbour, 0.0) - below[node] * value

    def solve(self, right: Mapping[str, float]) -> Vector:
        """Return the levels that the equations have for a right side."""
        levels: Vector = dict.fromkeys(self.order, 0.0) | dict(right)
        for build in self.order:
            for other, factor in self._below[build].items():
                levels[other] -= factor * levels[build]
        for build in reversed(self.order):
            rest = sum(factor * levels[other] for other, factor in self._below[build].items())
            levels[build] = levels[build] / self._pivots[build] - rest
        return levels


def _components(edges: Sequence[Compared]) -> dict[str, str]:
    """Return the first build of each build's component, by build."""
    neighbours: dict[str, list[str]] = {}
    for edge in edges:
        neighbours.setdefault(edge.base, []).append(edge.new)
        neighbours.setdefault(edge.new, []).append(edge.base)
    component: dict[str, str] = {}
    for first in neighbours:
        waiting = [] if first in component else [first]
        while waiting:
            build = waiting.pop()
            if build not in component:
                component[build] = first
                waiting += neighbours[build]
    return {build: component[build] for build in neighbours}
