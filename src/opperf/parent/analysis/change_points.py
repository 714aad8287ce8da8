"""Where a series of builds changes: the partition into constant pieces that explains it best, each piece at a price.

A build has a level, its log-ratio to the anchor, and mostly a step, its log-ratio to the build before it, each with a
standard error from its comparison. Within a piece levels are the same and steps are zero, up to their errors. The
partition is optimal, by dynamic programming over the last change (Jackson et al., IEEE Signal Processing Letters 12
(2005), 105-108), pruned as by Killick et al. (J. Am. Statist. Assoc. 107 (2012), 1590-1598).

The errors say how well a night's comparison is known, not how nights differ. Where neighbouring builds scatter by more
than their errors, all errors are widened by as much.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache, reduce
from itertools import accumulate, pairwise
from statistics import fmean, quantiles

from opperf.domain.dataclass import dataclass
from opperf.domain.stats.order import median
from opperf.domain.stats.significance import LEAST_ERROR, Estimate
from opperf.parent.analysis.ratio_graph import Compared, RatioGraph
from opperf.parent.documents.tolerances import TOLERANCE

#: What a change must gain in squared standard errors. By level and step together, chance gains so much in exp(-16 / 2)
#: of places, 3 in 10,000; a change needs it on two nights, and named changes are counted by `benchmarks/nights.py`.
PENALTY = 16.0
#: A change is confirmed once this many builds support it: one alone may have met a bad night.
LEAST_BUILDS = 2
#: The steps that the past of a series is, at most, and at least.
MOST_PAST, LEAST_PAST = 100, 8
#: Tukey's upper fence lies so many interquartile ranges above the third quartile (Exploratory Data Analysis, 1977).
FENCE = 1.5
#: So many candidates of a partition are looked at together, or passed over: of 16 to 128, the fewest were fastest.
BLOCK = 16
#: The median of a squared standard normal variable.
MEDIAN_SQUARE = 0.4549


@dataclass(frozen=True)
class Point:
    """A build in a series: how it stands to the anchor, and to the build before it where the two were compared."""

    build: str
    level: Estimate
    step: Estimate | None = None


@dataclass(frozen=True)
class Change:
    """A change between two consecutive builds. `confirmed` is False while too few builds support it.

    `past` is the log-ratio that the series moved by before, from build to build; 0 where too little is known.
    """

    before: str
    after: str
    size: Estimate
    confirmed: bool = True
    past: float = 0.0

    @property
    def usual(self) -> bool:
        """Whether the series moved as far before."""
        return abs(self.size.log_ratio) <= self.past


def changes(points: Sequence[Point], *, tolerance: float = TOLERANCE, penalty: float = PENALTY) -> list[Change]:
    """Return the changes of a series that are larger than the tolerance, a share of the time, in order.

    >>> quiet = Estimate(0.0, 0.005)
    >>> levels = [0.0, 0.002, -0.001, 0.051, 0.049]
    >>> series = [Point(f"1.{i}", Estimate(level, 0.005)) for i, level in enumerate(levels)]
    >>> [(change.before, change.after, round(change.size.log_ratio, 3)) for change in changes(series)]
    [('1.2', '1.3', 0.05)]
    """
    if len(points) < 2:
        return []
    points_with_neighbours = _widen(points)
    starts = _partition(points_with_neighbours, penalty)
    while True:
        sizes = _sizes(points_with_neighbours, starts)
        small = min(range(len(sizes)), key=lambda i: abs(sizes[i].log_ratio), default=None)
        if small is None or abs(sizes[small].log_ratio) >= math.log1p(tolerance):
            break
        del starts[small + 1]
    moves = steps(points)
    return [
        Change(
            *(points[start - 1].build, points[start].build, size),
            confirmed=end - start >= LEAST_BUILDS,
            past=fence(moves[: start - 1]),
        )
        for (start, end), size in zip(pairwise([*starts[1:], len(points)]), sizes, strict=True)
    ]


def steps(points: Sequence[Point]) -> list[float]:
    """Return the log-ratio of each build to the one before: as it was measured, else by their levels."""
    return [
        new.level.log_ratio - base.level.log_ratio if new.step is None else new.step.log_ratio
        for base, new in pairwise(points)
    ]


def fence(steps: Sequence[float]) -> float:
    """Return the log-ratio that the last steps of a series hardly exceed, either way; 0 where there are too few.

    It is the upper fence of their sizes: real changes among them hardly move it while they are fewer than a quarter.

    >>> round(fence([0.01, -0.02, 0.01, -0.01, 0.02, -0.01, 0.01, 0.02, 0.5]), 3)
    0.035
    """
    sizes = [abs(step) for step in steps[-MOST_PAST:]]
    if len(sizes) < LEAST_PAST:
        return 0.0
    first, _, third = quantiles(sizes, n=4, method="inclusive")
    return third + FENCE * (third - first)


def points(edges: Sequence[Compared], order: Sequence[str]) -> tuple[str, list[Point]]:
    """Return the anchor of comparisons, and the builds that were compared with it, in the order of builds.

    The anchor is the build that most others were compared with, the first of those. A build that was not compared with
    it has its level by way of others (`RatioGraph`); one that no comparison joins to the anchor is left out.
    """
    bases = Counter(edge.base for edge in edges)
    anchor = max(bases, key=bases.__getitem__)
    pairs: dict[tuple[str, str], list[Estimate]] = {}
    for edge in edges:
        pairs.setdefault((edge.base, edge.new), []).append(edge.estimate)

    @cache
    def graph() -> RatioGraph:  # nights compare each build with the anchor: hardly any series needs one
        return RatioGraph(edges)

    def estimate(base: str, new: str) -> Estimate | None:
        return reduce(_both, pairs[base, new]) if (base, new) in pairs else None

    series: list[Point] = []
    there = dict.fromkeys((anchor, *(edge.new for edge in edges)))
    for build in dict.fromkeys((*filter(there.__contains__, order), *there)):
        if build == anchor:
            series.append(Point(anchor, Estimate(0.0, LEAST_ERROR)))
            continue
        level = estimate(anchor, build) or graph().estimate(anchor, build)
        if level is None:
            continue
        before = series[-1].build if series else anchor
        step = estimate(before, build) if before != anchor else None
        series.append(Point(build, level, step))
    return anchor, series


def absolute(builds: Sequence[str], seconds: Sequence[float]) -> list[Point]:
    """Return the points of a series of times. Their errors are not recorded, so their scatter is used instead.

    Times of different nights also depend on the machine's state, so changes in such a series are much less certain, and
    neighbours resemble each other: the mean of a piece is known worse than the number of its builds says. So the error
    is the long-run standard deviation within pieces, by their first-order autocorrelation (Andrews, Econometrica 59
    (1991), 817-858). The first guess comes from differences of neighbours. It grows, and pieces are joined, until both
    agree.
    """
    levels = [math.log(value) for value in seconds]
    steps = [abs(new - base) for base, new in pairwise(levels)]
    error = math.sqrt(median([step * step for step in steps]) / MEDIAN_SQUARE / 2) if steps else 0.0
    while True:
        error = max(error, 1e-9)
        points = [Point(build, Estimate(level, error)) for build, level in zip(builds, levels, strict=True)]
        wider = _long_run(levels, _partition(points, PENALTY)) if points else 0.0
        if wider <= error * (1 + 1e-6):
            return points
        error = wider


def time_changes(builds: Sequence[str], seconds: Sequence[float], *, tolerance: float = TOLERANCE) -> list[Change]:
    """Return the changes of a series of times that are larger than the tolerance, in order.

    A build alone that the series came back from is left out, both ways: it may have met a bad night, and no other night
    measured it again. Several may follow each other, as long as no two agree.

    >>> times = [1.0, 1.01, 1.0, 1.01, 1.5, 1.0, 1.01, 1.0, 1.01, 1.2, 1.21]
    >>> [(change.before, change.after) for change in time_changes("abcdefghijk", times)]
    [('i', 'j')]
    """
    result: list[Change] = []
    excursion: list[Change] = []
    for change in changes(absolute(builds, seconds), tolerance=tolerance):
        excursion.append(change)
        if change.confirmed:
            net = sum(part.size.log_ratio for part in excursion)
            if len(excursion) == 1 or abs(net) >= math.log1p(tolerance):
                result += excursion
            excursion = []
    return result + excursion


def _long_run(levels: Sequence[float], starts: Sequence[int]) -> float:
    """Return the long-run standard deviation of levels about the means of their pieces; 0 where none is left over."""
    pieces = [levels[start:end] for start, end in pairwise([*starts, len(levels)])]
    means = [fmean(piece) for piece in pieces]
    residuals = [[level - mean for level in piece] for piece, mean in zip(pieces, means, strict=True)]
    square = sum(value * value for piece in residuals for value in piece)
    product = sum(base * new for piece in residuals for base, new in pairwise(piece))
    if len(pieces) == len(levels) or not square:
        return 0.0
    resemblance = max(product / square, 0.0)
    return math.sqrt(square / (len(levels) - len(pieces)) * (1 + resemblance) / (1 - resemblance))


def scatter(points: Sequence[Point]) -> float:
    """Return by how much neighbouring builds differ more than their errors say: a factor on errors, one at least."""
    squares = [
        (new.level.log_ratio - base.level.log_ratio) ** 2 / (base.level.error**2 + new.level.error**2)
        for base, new in pairwise(points)
    ]
    squares += [(point.step.log_ratio / point.step.error) ** 2 for point in points if point.step is not None]
    return math.sqrt(max(1.0, median(squares) / MEDIAN_SQUARE)) if squares else 1.0


def _widen(points: Sequence[Point]) -> list[Point]:
    factor = scatter(points)

    def widen(estimate: Estimate) -> Estimate:
        return Estimate(estimate.log_ratio, estimate.error * factor)

    return [
        Point(point.build, widen(point.level), None if point.step is None else widen(point.step)) for point in points
    ]


def _partition(points: Sequence[Point], penalty: float) -> list[int]:
    """Return the first place of each piece of the best partition.

    The step at a change costs nothing by itself; the penalty accounts for its gain. What a piece costs only grows with
    its end. So of a block of starts, the least that they cost when they were last looked at is a bound, and a block is
    passed over where another start costs less than that: a quiet series keeps all of them, and most are passed over.
    """
    weights = [0.0, *accumulate(point.level.error**-2 for point in points)]
    sums = [0.0, *accumulate(point.level.log_ratio * point.level.error**-2 for point in points)]
    squares = [0.0, *accumulate((point.level.log_ratio / point.level.error) ** 2 for point in points)]
    steps = [
        0.0,
        *accumulate(0.0 if point.step is None else (point.step.log_ratio / point.step.error) ** 2 for point in points),
    ]

    def begin(start: int, cost: float) -> tuple[int, float, float, float]:
        """Return a piece that is open: its start, what it costs less what its end decides, and its first sums."""
        return start, cost - squares[start] - steps[start + 1], weights[start], sums[start]

    last, favourite = [0], 0
    blocks, bounds = [[begin(0, -penalty)]], [-penalty]
    for end in range(1, len(points) + 1):
        weight, total, spent = weights[end], sums[end], squares[end] + steps[end]
        least, start = math.inf, 0
        for number in (favourite, *range(len(blocks))):
            if bounds[number] >= least:
                continue
            block = blocks[number]
            costs = [
                cost + spent - (rest := total - before) * rest / (weight - lighter)
                for _, cost, lighter, before in block
            ]
            bounds[number] = bound = min(costs)
            if bound < least:
                least, favourite, start = bound, number, block[costs.index(bound)][0]
            if max(costs) > least + penalty:  # it can never be the best again
                blocks[number] = [one for one, cost in zip(block, costs) if cost <= least + penalty]
                bounds[number] = bound if blocks[number] else math.inf
        last.append(start)
        if end < len(points):
            if len(blocks[-1]) == BLOCK:
                blocks.append([])
                bounds.append(math.inf)
            blocks[-1].append(begin(end, least + penalty))
            bounds[-1] = min(bounds[-1], least + penalty)
    starts = [last[-1]]
    while starts[-1] > 0:
        starts.append(last[starts[-1]])
    return starts[::-1]


def _sizes(points: Sequence[Point], starts: Sequence[int]) -> list[Estimate]:
    """Return the size of each change, by the levels of the pieces on both sides and the steps between them.

    Pieces are a chain: what all before a change say of the level before it, and all after it of the level after it, are
    two independent estimates, which go along the chain from either end (Kalman, J. Basic Eng. 82 (1960), 35-45).
    """
    levels = []
    for start, end in pairwise([*starts, len(points)]):
        weight = sum(point.level.error**-2 for point in points[start:end])
        level = sum(point.level.log_ratio * point.level.error**-2 for point in points[start:end]) / weight
        levels.append(Estimate(level, weight**-0.5))
    steps = [points[start].step for start in starts[1:]]
    backwards = [None if step is None else Estimate(-step.log_ratio, step.error) for step in steps]
    before = _along(levels, steps)
    after = _along(levels[::-1], backwards[::-1])[::-1]
    sizes = [
        Estimate(new.log_ratio - base.log_ratio, math.hypot(base.error, new.error))
        for base, new in zip(before, after[1:])
    ]
    return [size if step is None else _both(size, step) for size, step in zip(sizes, steps, strict=True)]


def _along(levels: Sequence[Estimate], steps: Sequence[Estimate | None]) -> list[Estimate]:
    """Return each level by itself and all before it, which the steps between them lead to."""
    result = [levels[0]]
    for level, step in zip(levels[1:], steps, strict=True):
        if step is not None:
            base = result[-1]
            level = _both(level, Estimate(base.log_ratio + step.log_ratio, math.hypot(base.error, step.error)))
        result.append(level)
    return result


def _both(first: Estimate, second: Estimate) -> Estimate:
    """Combine two independent estimates of the same, weighted by their errors."""
    weights = first.error**-2, second.error**-2
    total = sum(weights)
    return Estimate((first.log_ratio * weights[0] + second.log_ratio * weights[1]) / total, total**-0.5)
