"""Search an operator's points for cliffs: cheap looks at many, then neighbours, then the smallest that still shows it.

A cliff is a point that costs more than a neighbour by a factor although the neighbour does as much work, or more than
the smaller work of a neighbour explains. Looks are single measurements in one process. What they propose is measured
against its neighbour by turns, in one pair of processes, and a doubtful answer counts as no. So a disturbed look costs
time and names nothing.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median

from opperf.domain.dataclass import dataclass
from opperf.parent.commands.explore.looks import Looks, Meter
from opperf.parent.commands.explore.regions import MULTIPLES, Proportion, Region, Remedy, Sizes, remedies
from opperf.parent.commands.explore.space import CONTIGUOUS, Point, Space

#: How far apart two sizes of a run may be to be neighbours.
REACH = 16
#: A look shows a cliff from this power of the factor on: looks are noisier than pairs.
SUSPICION = 0.75
#: Random points whose work lies within this factor tell how cost grows with work.
VICINITY = 3.0
#: Points that differ by more than this factor in a size are not compared.
NEAR = 4.0


@dataclass(frozen=True)
class Cliff:
    """A point that costs too much, the neighbour that shows it, and where else it is so."""

    point: Point
    other: Point | None
    remedy: Remedy
    region: Region


class Search(Looks):
    """One search: `run` yields cliffs as they are found."""

    #: Whether each dimension may have sizes of a kind, such as a residue; else that of the neighbour alone has.
    kinds_everywhere = False

    def __init__(self, space: Space, meter: Meter, factor: float, generator: random.Random, looks: int) -> None:
        super().__init__(space, meter, generator, looks)
        self._bar = math.log(factor)
        self.unexamined = 0

    def run(self) -> Iterator[Cliff]:
        """Look, then examine what is suspicious, the clearest first."""
        self.look()
        regions: list[Region] = []
        suspects = self._suspects()
        for done, (point, neighbour) in enumerate(suspects):
            if self.spent():
                self.unexamined = len(suspects) - done
                return
            if any(point in region for region in regions):
                continue
            cliff = self._examine(point, neighbour)
            if cliff is not None and not any(cliff.point in region for region in regions):
                regions.append(cliff.region)
                yield cliff

    # Suspicion

    def excess(self, point: Point, neighbour: Point) -> float | None:
        """Return by how much a point costs more than another, as a log, beyond what its own greater work explains."""
        mine, theirs = self.cost(point), self.cost(neighbour)
        here, there = self.work(point), self.work(neighbour)
        if not mine or not theirs or here is None or there is None:
            return None
        return math.log(mine / theirs) - more_work(here, there)

    def _suspects(self) -> list[tuple[Point, Point]]:
        """Return pairs that look like the two sides of a cliff: neighbours first, and the clearest of each first."""
        candidates = []
        points = [point for point, cost in self.costs.items() if cost]
        for point in filter(self._space.holds, points):
            best: tuple[float, Point] | None = None
            for neighbour in points:
                distance = self._distance(point, neighbour)
                if neighbour is point or distance is None or (best is not None and distance >= best[0]):
                    continue
                excess = self.excess(point, neighbour)
                if excess is not None and excess >= self._bar * SUSPICION:
                    best = (distance, neighbour)
            if best is not None:
                excess = self.excess(point, best[1]) or 0.0
                candidates.append((best[0] > 0, -excess / (1 + 4 * best[0]), point.sizes, point, best[1]))
        return [(point, other) for *_, point, other in sorted(candidates, key=lambda one: one[:3])]

    def _distance(self, point: Point, neighbour: Point) -> float | None:
        """Return how far apart two points are: 0 for neighbours, None for those that do not compare."""
        if point.layout != neighbour.layout:
            return 0.0 if point.sizes == neighbour.sizes and neighbour.layout == CONTIGUOUS else None
        changes = [(a, b) for a, b in zip(point.sizes, neighbour.sizes) if a != b]
        if len(changes) == 1 and abs(changes[0][0] - changes[0][1]) <= REACH:
            return 0.0
        distance = math.fsum(abs(math.log(a / b)) for a, b in changes)
        return distance if distance <= math.log(NEAR) else None

    # Examination

    def _examine(self, point: Point, other: Point) -> Cliff | None:
        """Find the neighbours between which the cliff is, and the smallest of its kind."""
        pair = self._neighbours(point, other)
        if pair is None:
            return None
        point, remedy = pair
        if not self._surely(point, remedy):
            return None
        return self._smallest(point, remedy)

    def _neighbours(self, point: Point, neighbour: Point) -> tuple[Point, Remedy] | None:
        if point.layout != neighbour.layout:
            return (point, Remedy()) if self._shows(point, Remedy()) else None
        differing = [place for place, (a, b) in enumerate(zip(point.sizes, neighbour.sizes)) if a != b]
        for place in differing:
            remedy = self._best_remedy(point, place)
            if remedy is not None:
                return point, remedy
        return self._approach(point, neighbour, differing)

    def _best_remedy(self, point: Point, place: int) -> Remedy | None:
        """Return the remedy that helps most in one dimension; less work is one only where nothing else helps."""
        excesses = {}
        for remedy in remedies(place, point.sizes[place]):
            other = remedy.apply(point)
            excess = None if other is None else self.excess(point, other)
            if excess is not None and excess >= self._bar * SUSPICION:
                excesses[remedy] = excess
        more = {remedy: excess for remedy, excess in excesses.items() if remedy.shift >= 0}
        return max(more or excesses, key=lambda remedy: excesses[remedy], default=None)

    def _approach(self, point: Point, neighbour: Point, differing: Sequence[int]) -> tuple[Point, Remedy] | None:
        """Walk from a slow point to a fast one, a dimension at a time, to the step where the cost changes."""
        slow = point
        for place in differing:
            fast = slow.at(place, neighbour.sizes[place])
            if fast != neighbour and self._is_slow(fast, slow=point, fast=neighbour):
                slow = fast
                continue
            low, high = slow.sizes[place], neighbour.sizes[place]
            while abs(high - low) > 1:
                middle = (low + high) // 2
                verdict = self._is_slow(slow.at(place, middle), slow=point, fast=neighbour)
                if verdict is None:
                    return None
                low, high = (middle, high) if verdict else (low, middle)
            edge, remedy = slow.at(place, low), Remedy(place, shift=high - low)
            return (edge, remedy) if self._shows(edge, remedy) else None
        return None

    def _is_slow(self, point: Point, *, slow: Point, fast: Point) -> bool | None:
        """Whether a point costs like the slow one rather than like the fast one, for its work."""
        cost, here = self.cost(point), self.work(point)
        if not cost or here is None:
            return None
        growth = self._growth(here[0])

        def expected(end: Point) -> float:
            return math.log(self.costs[end] or 1) + growth * math.log(here[0] / (self.work(end) or here)[0])

        return 2 * math.log(cost) > expected(slow) + expected(fast)

    def _growth(self, work: float) -> float:
        """Return how the log of the cost grows with that of the work around some work: between 0 and 1."""
        near = [
            (math.log(there[0]), math.log(cost))
            for point, cost in self.costs.items()
            if cost and (there := self.work(point)) and 1 / VICINITY <= there[0] / work <= VICINITY
        ]
        slopes = [
            (b[1] - a[1]) / (b[0] - a[0]) for i, a in enumerate(near) for b in near[i + 1 :] if abs(b[0] - a[0]) > 0.3
        ]
        return min(1.0, max(0.0, median(slopes))) if slopes else 1.0

    def _shows(self, point: Point, remedy: Remedy) -> bool:
        """Whether a look says that a point costs more than its neighbour."""
        other = remedy.apply(point)
        excess = None if other is None else self.excess(point, other)
        return excess is not None and excess >= self._bar * SUSPICION

    def _surely(self, point: Point, remedy: Remedy) -> bool:
        """Whether turns say so as well; what is inconclusive is a no."""
        neighbour = remedy.apply(point)
        here, there = self.work(point), None if neighbour is None else self.work(neighbour)
        if neighbour is None or here is None or there is None or not self._shows(point, remedy):
            return False
        interval = self._meter.excess(point, neighbour)
        return interval is not None and interval[0] - more_work(here, there) > self._bar

    # The smallest case and its region

    def _smallest(self, point: Point, remedy: Remedy) -> Cliff:
        place = remedy.place
        if place is not None and point.layout != CONTIGUOUS and self._surely(Point(point.sizes), remedy):
            point = Point(point.sizes)
        kinds = [self._alike(point, remedy, i) for i in range(len(point.sizes))]
        step = place is not None and not remedy.multiple and kinds[place].alone
        proportion: Proportion | None = None
        for axis, dimension in enumerate(self._dimensions):
            if (step and axis == place) or kinds[axis].alone or point.sizes[axis] <= dimension.low:
                continue
            partner = self._follow(point, remedy, axis) if step else None
            if partner is not None:
                point, proportion = partner
            else:
                point = self._least(point, remedy, axis, kinds[axis].members(dimension.low, point.sizes[axis] - 1))
        sizes = [self._extent(point, remedy, i, kind, step=step and i == place) for i, kind in enumerate(kinds)]
        if proportion is not None and place is not None:
            free = self._dimensions[proportion.of]
            sizes[proportion.of] = Sizes(free.low, free.high)
            sizes[place] = replace(sizes[place], proportion=proportion)
        return Cliff(point, remedy.apply(point), remedy, Region(tuple(sizes), point.layout))

    def _alike(self, point: Point, remedy: Remedy, place: int) -> Sizes:
        """Return which sizes of a dimension are like a point's: all, those of a residue, powers of two, or it alone."""
        dimension, size = self._dimensions[place], point.sizes[place]

        def shows(other: int) -> bool:
            return self._shows(point.at(place, other), remedy)

        if place != remedy.place and not (dimension.free and self.kinds_everywhere):
            return Sizes(1, dimension.high)
        if place != remedy.place and shows(size - 1 if size > dimension.low else size + 1):
            return Sizes(1, dimension.high)
        for modulus in MULTIPLES:
            up = [size + k * modulus for k in (1, 2, 3) if size + k * modulus <= dimension.high]
            down = [size - k * modulus for k in (1, 2, 3) if size - k * modulus >= dimension.low]
            witnesses = up if len(up) >= 2 else down
            if len(witnesses) >= 2 and all(map(shows, witnesses)):
                return Sizes(size, size, modulus, size % modulus)
        if size & (size - 1) == 0 and size > 2:
            powers = [other for other in (2 * size, size // 2) if dimension.low <= other <= dimension.high]
            if any(map(shows, powers)):
                return Sizes(size, size, powers=True)
        return Sizes(size, size, alone=True)

    def _least(self, point: Point, remedy: Remedy, place: int, sizes: Sequence[int]) -> Point:
        """Return the point with the smallest of some sizes that surely shows it, if those above it do so too."""
        low, high = 0, len(sizes)
        if sizes and self._surely(point.at(place, sizes[0]), remedy):
            return point.at(place, sizes[0])
        while low + 1 < high and not self.spent():
            middle = (low + high) // 2
            if self._surely(point.at(place, sizes[middle]), remedy):
                point, high = point.at(place, sizes[middle]), middle
            else:
                low = middle
        return point

    def _follow(self, point: Point, remedy: Remedy, axis: int) -> tuple[Point, Proportion] | None:
        """Return the point with the least size in another dimension, and how the step follows that dimension.

        None where the step stays where it is, or does not move in proportion.
        """
        place, least = remedy.place, self._dimensions[axis].low
        if place is None or self._shows(point.at(axis, least), remedy):
            return None
        above = remedy.shift < 0
        bound = Proportion.between(point.sizes[place] - above, point.sizes[axis], axis, above=above)
        for size in range(least, point.sizes[axis]):
            edge = bound.first(size) - (not above)
            if edge >= self._dimensions[place].low:
                step = point.at(axis, size).at(place, edge)
                return (step, bound) if self._surely(step, remedy) else None
        return None

    def _extent(self, point: Point, remedy: Remedy, place: int, alike: Sizes, *, step: bool) -> Sizes:
        """Return the sizes of one dimension that show it, from the point's on, by looks."""
        dimension, low = self._dimensions[place], point.sizes[place]
        if step:
            upward = remedy.shift < 0
            return Sizes(low, dimension.high) if upward else Sizes(dimension.low, low)
        if alike.alone:
            return Sizes(low, low)
        sizes = [size for size in alike.members(low, dimension.high) if self.work(point.at(place, size)) is not None]
        first, last = 0, len(sizes) - 1
        if last > 0 and not self._shows(point.at(place, sizes[last]), remedy):
            while first + 1 < last and not self.spent():
                middle = (first + last) // 2
                shows = self._shows(point.at(place, sizes[middle]), remedy)
                first, last = (middle, last) if shows else (first, middle)
            last = first
        return Sizes(low, sizes[last], alike.modulus, alike.residue, alike.powers)


class LevelSearch(Search):
    """A search for points whose cost is beyond that of most others by a factor, whatever their neighbours cost.

    The cost is one that does not grow with the work: how often another side's time, or that of the machine's limit.
    """

    kinds_everywhere = True
    typical = 0.0

    def run(self) -> Iterator[Cliff]:
        """Look, then find the smallest of what costs most."""
        self.look()
        costs = {point: cost for point, cost in self.costs.items() if cost and self._space.holds(point)}
        self.typical = median(map(math.log, costs.values())) if costs else 0.0
        regions: list[Region] = []
        for point in sorted(costs, key=lambda point: -costs[point]):
            if self.spent() or not self._shows(point, Remedy()):
                return
            if not any(point in region for region in regions) and self._surely(point, Remedy()):
                level = self._smallest(point, Remedy())
                regions.append(level.region)
                yield replace(level, other=None)

    def _shows(self, point: Point, remedy: Remedy) -> bool:
        cost = self.cost(point)
        return bool(cost) and math.log(cost or 1) >= self._least_level(self._bar)

    def _surely(self, point: Point, remedy: Remedy) -> bool:
        interval = self._meter.level(point) if self._shows(point, remedy) else None
        return interval is not None and interval[0] >= self._least_level(self._bar * SUSPICION)

    def _least_level(self, bar: float) -> float:
        return max(0.0, self.typical) + bar


def more_work(here: tuple[float, ...], there: tuple[float, ...]) -> float:
    """Return the log of how many times the work of another case one is, by the measure that grows most; 0 for less."""
    return max(0.0, *(math.log(a / b) for a, b in zip(here, there)))
