"""Looks at the points of a space, cheap and many: random points with a neighbour, and runs of consecutive sizes."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import product
from typing import Protocol

from opperf.parent.commands.explore.regions import MULTIPLES, remedies
from opperf.parent.commands.explore.space import CONTIGUOUS, Dimension, Point, Space, draw_size

#: The share of all looks that go to runs of consecutive sizes, and to random points with a neighbour.
RUNS, SCATTER = 0.3, 0.3
#: The share of the time that they may take; what is left is for neighbours, the smallest cases and regions.
LOOKING = 0.6
#: Consecutive sizes of a run: one of each residue up to 32, and the next.
RUN = 33
#: A space of no more points than this is looked at whole.
FEW = 80
#: Tries to draw a point that the operator takes.
DRAWS = 30


class Meter(Protocol):
    """What answers the search."""

    def cost(self, point: Point) -> float | None:
        """Return the cost of a point, in any unit; None where it cannot be measured."""

    def excess(self, point: Point, other: Point) -> tuple[float, float] | None:
        """Return the interval of the log-ratio of two points' costs, measured by turns; None without an answer."""

    def level(self, point: Point) -> tuple[float, float] | None:
        """Return the interval of the log of a point's cost; None without an answer."""

    def spent(self, share: float = 1.0) -> bool:
        """Whether this share of the time is over, after which no more may be measured."""


class Looks:
    """The points of a space that were looked at, as many as allowed, and what each costs."""

    def __init__(self, space: Space, meter: Meter, generator: random.Random, looks: int) -> None:
        self._space, self._meter, self._random, self._looks = space, meter, generator, looks
        self._work: dict[Point, tuple[float, ...] | None] = {}
        self.costs: dict[Point, float | None] = {}
        self.out_of_time = False
        #: Takes the number of points that were looked at, after each.
        self.step: Callable[[int], None] = lambda _: None

    def spent(self) -> bool:
        """Whether all looks are used."""
        return len(self.costs) >= self._looks or self._is_late()

    def _is_late(self, share: float = 1.0) -> bool:
        """Whether this share of the time is over; it is asked only where there is more to look at."""
        late = self._meter.spent(share)
        self.out_of_time |= late
        return late

    def cost(self, point: Point) -> float | None:
        """Return the cost of a point, measured once."""
        if point not in self.costs:
            impossible = self.work(point) is None or self.spent()
            if impossible:
                return None
            self.costs[point] = self._meter.cost(point)
            self.step(len(self.costs))
        return self.costs[point]

    def work(self, point: Point) -> tuple[float, ...] | None:
        """Return how much work a point is; None where it is no case."""
        if point not in self._work:
            case = self._space.case(point) if self._inside(point) else None
            self._work[point] = None if case is None else self._space.work(case)
        return self._work[point]

    def _inside(self, point: Point) -> bool:
        # One more than the bounds is still a neighbour.
        return all(1 <= size <= 2 * one.high for size, one in zip(point.sizes, self._dimensions))

    @property
    def _dimensions(self) -> tuple[Dimension, ...]:
        return self._space.dimensions

    def look(self) -> None:
        """Look at random points and at runs of sizes, as far as looks and time go; at a small space whole."""
        free = [place for place, one in enumerate(self._dimensions) if one.free]
        count = math.prod(one.high - one.low + 1 for one in self._dimensions) * len(self._space.layouts)
        if count <= FEW:
            ranges = [range(one.low, one.high + 1) for one in self._dimensions]
            for sizes, layout in product(product(*ranges), self._space.layouts):
                self.cost(Point(sizes, layout))
            return
        # A small space has no more new points at some time: hence as many tries as there are looks.
        for _ in range(self._looks):
            if len(self.costs) < self._looks * SCATTER and not self._is_late(SCATTER / (SCATTER + RUNS) * LOOKING):
                self._scatter(self._random.choice(free))
        for i in range(self._looks):
            if len(self.costs) < self._looks * (SCATTER + RUNS) and not self._is_late(LOOKING):
                self._run(free[i % len(free)])

    def _scatter(self, place: int) -> None:
        """Look at a random point whose size in one dimension may be special, and at a neighbour there."""
        point = self._draw()
        point = point.at(place, self._special(self._dimensions[place]))
        if self.cost(point) is None:
            self.costs.setdefault(point, None)
            return
        if point.layout != CONTIGUOUS:
            self.cost(Point(point.sizes))
        else:
            choice = [other for one in remedies(place, point.sizes[place]) if (other := one.apply(point))]
            self.cost(self._random.choice(choice))

    def _special(self, dimension: Dimension) -> int:
        """Return a size: any, a power of two, or an odd multiple of one."""
        size = draw_size(dimension, self._random)
        kind = self._random.random()
        if kind < 0.3:
            size = 1 << (size.bit_length() - 1)
        elif kind < 0.6:
            step = self._random.choice(MULTIPLES)
            size -= size % step
        return min(dimension.high, max(dimension.low, size))

    def _run(self, place: int) -> None:
        """Look at consecutive sizes of one dimension, more often at large ones."""
        dimension, point = self._dimensions[place], self._draw()
        first = max(draw_size(dimension, self._random), draw_size(dimension, self._random))
        first = max(dimension.low, min(first, dimension.high - RUN + 1))
        for size in range(first, min(first + RUN, dimension.high + 1)):
            self.cost(Point(point.at(place, size).sizes))

    def _draw(self) -> Point:
        for _ in range(DRAWS):
            point = self._space.draw(self._random)
            if self.work(point) is not None:
                return point
        return point
