"""Where a series of builds steps: a posterior over places, from log-ratios between builds and their errors.

Builds have unknown levels on a scale of logs, and each observation is the difference of two of them. A model says at
which builds the level steps, up or down: at none, at one, at two, at as many more as there is evidence for, or a little
at each (a slope). The heights of its steps are normal around zero, so each model's evidence is that of a linear
regression (Bishop, Pattern Recognition and Machine Learning, 2006, section 3.4), and nothing has to be searched for.
Beside its model's level, each build has an offset of its own: its code lies elsewhere in memory. Measuring the same
two builds again and again therefore says ever less.

Observations cannot tell the places apart that lie between two measured builds. Such a gap is one place of a model,
with the weight of all of its builds, so the work grows with the builds that were measured and not with all.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from operator import mul

from opperf.domain.dataclass import dataclass
from opperf.domain.stats.significance import LEAST_ERROR

#: The standard deviation of a step's height before anything is measured, unless a larger one is: e^0.3 is a third more.
HEIGHT = 0.3
#: What two builds without a change may differ by, as the standard deviation of their log-ratio.
FLOOR = 0.003
#: How likely no step, one, two and so on are before anything is measured, and a slope. Two steps have as many places as
#: there are pairs of builds, and a slope has one: with a larger share it was named where there were two small steps.
STEPS = (0.4, 0.4, 0.12, 0.04, 0.01, 0.005, 0.005)
SLOPE = 0.001
#: Up to this many steps every model is looked at; one with more extends one of the best with one step fewer.
ENUMERATED, BEAM = 3, 20
#: More steps are tried while the best model with the last of them has this share of the best of all.
WORTH_MORE = 1e-4
#: The probability below which a model is left out of the uncertainty of levels.
NEGLIGIBLE = 1e-4


@dataclass(frozen=True)
class Observation:
    """The log of how much slower build `new` is than build `base`, and its standard error."""

    base: int
    new: int
    log_ratio: float
    error: float


@dataclass(frozen=True)
class Model:
    """Steps, each at one of the builds of its gap; with none there is a slope over all, or nothing changes.

    `probability` is that of each way to place the steps in their gaps, of which there are so many `ways`. `heights` are
    the most likely ones, or that of the slope.
    """

    gaps: tuple[range, ...]
    ways: int
    probability: float
    heights: tuple[float, ...]

    @property
    def mass(self) -> float:
        """The probability of all ways together."""
        return self.ways * self.probability

    @property
    def steps(self) -> tuple[int, ...]:
        """The builds at which the level steps, one of the ways: each is the first of its level."""
        counts = Counter(self.gaps)
        return tuple(sorted(gap[i] for gap, count in counts.items() for i in range(count)))

    def level(self, build: int, builds: int, least: float = 0.0) -> tuple[float, float]:
        """Return the level of a build above that of the first, its mean and its variance over the ways.

        Steps of no more than `least` do not count.
        """
        if not self.gaps:
            return math.fsum(self.heights) * build / (builds - 1), 0.0
        mean = variance = 0.0
        heights = dict(zip(self.gaps, self.heights))
        for gap, steps in Counter(self.gaps).items():
            if abs(heights[gap]) <= least:
                continue
            # Of the gap's places, some lie up to the build: how many of the steps do is hypergeometric.
            share = min(1.0, max(0.0, (build - gap.start + 1) / len(gap)))
            spread = (len(gap) - steps) / max(1, len(gap) - 1)
            mean += heights[gap] * steps * share
            variance += heights[gap] ** 2 * steps * share * (1 - share) * spread
        return mean, variance


@dataclass(frozen=True)
class Story:
    """What models have in common that agree on all steps beyond some height: where they are, and which way they go.

    Without a gap nothing changes by so much at once; with `slope` it does little by little, by the one height.
    """

    gaps: tuple[range, ...]
    heights: tuple[float, ...]
    probability: float
    slope: bool = False

    @property
    def placed(self) -> bool:
        """Whether each of its steps has one place."""
        return all(len(gap) == 1 for gap in self.gaps)


class Posterior:
    """What observations say of the steps of some builds."""

    def __init__(self, builds: int, observations: Iterable[Observation], floor: float = FLOOR) -> None:
        """Take at least two builds and one observation; two builds that do not differ may lie `floor` apart."""
        self.builds, self._floor = builds, floor
        self._observations = _pool(observations)
        self._height = max(HEIGHT, *(abs(one.log_ratio) for one in self._observations))
        self.measured = sorted({0, builds - 1} | {end for one in self._observations for end in (one.base, one.new)})
        self._gaps = [range(low + 1, high + 1) for low, high in pairwise(self.measured)]

    @cached_property
    def models(self) -> list[Model]:
        """Every model that counts, with its probability and its most likely heights, the most likely model first."""
        # The last column is that of a slope.
        rows = [
            [*(self._crossings(one, gap) for gap in self._gaps), (one.new - one.base) / (self.builds - 1)]
            for one in self._observations
        ]
        nothing = _Fit.of(*self._sums(rows), self._height)
        fits = [*self._stairs(nothing)]
        if self.builds > 2:
            slope = nothing.extend(len(self._gaps))
            fits.append((slope, slope.evidence + math.log(SLOPE)))
        most = max(mass for _, mass in fits)
        evidence = math.fsum(math.exp(mass - most) for _, mass in fits)
        models = []
        for fit, mass in fits:
            if mass > most + math.log(NEGLIGIBLE / 100):
                # A fit has its columns in the order in which they were added.
                steps = sorted((i, height) for i, height in zip(fit.columns, fit.heights) if i < len(self._gaps))
                gaps = tuple(self._gaps[i] for i, _ in steps)
                ways, heights = _ways(gaps), tuple(height for _, height in steps) or fit.heights
                models.append(Model(gaps, ways, math.exp(mass - most) / evidence / ways, heights))
        return sorted(models, key=lambda model: -model.probability)

    def _stairs(self, fit: _Fit) -> Iterator[tuple[_Fit, float]]:
        """Yield models with steps and their log masses, with more and more steps while there is evidence for that."""
        most, last = -math.inf, [fit]
        for steps, share in enumerate(STEPS[: self.builds]):
            prior = math.log(share / math.comb(self.builds - 1, steps))
            order = [
                (one, one.evidence + prior + math.log(ways))
                for one in (self._extensions(last, steps) if steps else last)
                if (ways := _ways(tuple(self._gaps[i] for i in one.columns)))
            ]
            yield from order
            best = max(mass for _, mass in order)
            most, last = max(most, best), [one for one, _ in order]
            if steps >= ENUMERATED - 1 and best < most + math.log(WORTH_MORE):
                break
            if steps >= ENUMERATED:
                last = [one for one, _ in sorted(order, key=lambda entry: -entry[1])[:BEAM]]

    def _extensions(self, last: Sequence[_Fit], steps: int) -> Iterator[_Fit]:
        """Yield models with one step more: in every gap, and each model once."""
        gaps = range(len(self._gaps))
        once = set[tuple[int, ...]]()
        for fit in last:
            for gap in gaps[fit.columns[-1] if fit.columns and steps <= ENUMERATED else 0 :]:
                columns = tuple(sorted((*fit.columns, gap)))
                if columns not in once and columns.count(gap) <= len(self._gaps[gap]):
                    once.add(columns)
                    yield fit.extend(gap)

    def _crossings(self, one: Observation, gap: range) -> float:
        """Return how often a step in a gap is in an observation: once, not at all, or against its direction."""
        return float((one.new >= gap[-1]) - (one.base >= gap[-1]))

    @cached_property
    def _covariance(self) -> list[list[float]]:
        """The covariance of observations without a step: their errors, and the offsets of builds that they share."""
        offset = self._floor**2 / 2
        several = self._observations
        matrix = [[offset * _shared(one, other) for other in several] for one in several]
        for place, one in enumerate(several):
            matrix[place][place] += one.error**2
        return matrix

    def _sums(self, rows: Sequence[Sequence[float]]) -> tuple[list[list[float]], list[float]]:
        """Return the weighted sums of a regression: of columns with each other, and with the log-ratios."""
        weighted = _solve(self._covariance, [[one.log_ratio, *row] for one, row in zip(self._observations, rows)])
        columns = range(len(rows[0]))
        sums = [
            [math.fsum(row[i] * one[j] for row, one in zip(rows, weighted)) for j in range(len(rows[0]) + 1)]
            for i in columns
        ]
        return [row[1:] for row in sums], [row[0] for row in sums]

    @property
    def best(self) -> Model:
        """The most likely model."""
        return self.models[0]

    def stories(self, least: float = 0.0) -> list[Story]:
        """Return the stories of models that agree on all steps beyond `least`, the most likely first."""
        heights: dict[tuple[object, ...], list[float]] = {}
        places: dict[tuple[object, ...], tuple[range, ...]] = {}
        masses: dict[tuple[object, ...], float] = defaultdict(float)
        for model in self.models:
            slope = not model.gaps and math.fsum(map(abs, model.heights)) > least
            large = [(gap, height) for gap, height in zip(model.gaps, model.heights) if abs(height) > least]
            key = slope, tuple((gap, height > 0) for gap, height in large)
            places.setdefault(key, tuple(gap for gap, _ in large))
            shares = [model.mass * height for _, height in large] if large else [model.mass * math.fsum(model.heights)]
            heights[key] = [a + b for a, b in zip(heights.get(key, [0.0] * len(shares)), shares)]
            masses[key] += model.mass
        stories = [
            Story(places[key], tuple(share / mass for share in heights[key]), mass, slope=bool(key[0]))
            for key, mass in masses.items()
            if mass > 0
        ]
        return sorted(stories, key=lambda story: -story.probability)

    @cached_property
    def _likely(self) -> list[Model]:
        """The models that matter to a level: with three steps in many gaps, most do not."""
        return [model for model in self.models if model.mass > NEGLIGIBLE]

    @property
    def telling(self) -> list[int]:
        """The builds of which one tells most: those that were measured, and those in the middle of the gaps."""
        middles = ((gap[0] - 1 + gap[-1]) // 2 for gap in self._gaps if len(gap) > 1)
        return sorted({*self.measured[1:-1], *middles})

    def uncertainty(self, build: int, least: float = 0.0) -> float:
        """Return the variance of a build's level over all models: where it is largest, a measurement tells most.

        Steps of no more than `least` do not count.
        """
        levels = [(model.mass, *model.level(build, self.builds, least)) for model in self._likely]
        mean = math.fsum(weight * level for weight, level, _ in levels)
        return math.fsum(weight * ((level - mean) ** 2 + variance) for weight, level, variance in levels)

    def bracket(self, share: float, least: float = 0.0) -> tuple[int, int]:
        """Return the last build before the steps beyond `least` and the first after them, with this probability.

        They are the ends where there may be none.
        """
        low, high, mass = self.builds - 1, 1, 0.0
        for story in self.stories(least):
            low = min([low, *(gap[0] for gap in story.gaps)])
            high = max([high, *(gap[-1] for gap in story.gaps)])
            mass += story.probability
            if not story.gaps:
                low, high = 1, self.builds - 1
            if mass >= share:
                break
        return low - 1, high


class _Fit:
    """A regression on some columns, which is soon one on a column more: Cholesky's factor grows by a row.

    `evidence` is the log of how likely the observations are with heights that are normal around zero, above that
    without a column.
    """

    def __init__(
        self,
        sums: tuple[Sequence[Sequence[float]], Sequence[float], float],
        columns: tuple[int, ...],
        factor: tuple[tuple[float, ...], ...],
        right: tuple[float, ...],
        evidence: float,
    ) -> None:
        self._sums, self.columns, self._factor, self._right, self.evidence = sums, columns, factor, right, evidence

    @classmethod
    def of(cls, gram: Sequence[Sequence[float]], moment: Sequence[float], height: float) -> _Fit:
        """Return the regression on no column, of the sums of all and the standard deviation of heights."""
        return cls((gram, moment, height), (), (), (), 0.0)

    def extend(self, column: int) -> _Fit:
        """Return the regression on one column more."""
        gram, moment, height = self._sums
        row: list[float] = []
        products = gram[column]
        for other, above in zip(self.columns, self._factor):
            row.append((products[other] - sum(map(mul, row, above))) / above[-1])
        pivot = math.sqrt(products[column] + height**-2 - sum(map(mul, row, row)))
        right = (moment[column] - sum(map(mul, row, self._right))) / pivot
        evidence = self.evidence + right * right / 2 - math.log(pivot * height)
        factor = (*self._factor, (*row, pivot))
        return _Fit(self._sums, (*self.columns, column), factor, (*self._right, right), evidence)

    @property
    def heights(self) -> tuple[float, ...]:
        """The most likely heights."""
        heights = list(self._right)
        for i in reversed(range(len(heights))):
            heights[i] /= self._factor[i][i]
            for j in range(i):
                heights[j] -= self._factor[i][j] * heights[i]
        return tuple(heights)


def _ways(gaps: tuple[range, ...]) -> int:
    """Return in how many ways steps lie in their gaps."""
    if len(set(gaps)) == len(gaps):  # nearly always
        return math.prod(map(len, gaps))
    return math.prod(math.comb(len(gap), count) for gap, count in Counter(gaps).items())


def _pool(observations: Iterable[Observation]) -> list[Observation]:
    """Return one observation of each two builds, by all of theirs."""
    groups: dict[tuple[int, int], list[Observation]] = defaultdict(list)
    for one in observations:
        groups[one.base, one.new].append(one)
    pooled = []
    for (base, new), group in groups.items():
        weights = [max(one.error, LEAST_ERROR) ** -2 for one in group]
        whole = math.fsum(weights)
        mean = math.fsum(weight * one.log_ratio for weight, one in zip(weights, group)) / whole
        pooled.append(Observation(base, new, mean, whole**-0.5))
    return pooled


def _shared(one: Observation, other: Observation) -> int:
    """Return how many builds two observations share, less those with which they go against each other."""
    return (one.base == other.base) + (one.new == other.new) - (one.base == other.new) - (one.new == other.base)


def _solve(matrix: Sequence[Sequence[float]], columns: Sequence[Sequence[float]]) -> list[list[float]]:
    """Solve a system for some columns, by elimination: the matrix is positive, so no pivot is sought."""
    rows = [[*row, *right] for row, right in zip(matrix, columns)]
    size = len(rows)
    for i, pivot in enumerate(rows):
        for row in rows[i + 1 :]:
            if factor := row[i] / pivot[i]:
                row[i:] = [value - factor * above for value, above in zip(row[i:], pivot[i:])]
    solution: list[list[float]] = [[] for _ in rows]
    for i in reversed(range(size)):
        right = rows[i][size:]
        for j in range(i + 1, size):
            if factor := rows[i][j]:
                right = [value - factor * below for value, below in zip(right, solution[j])]
        solution[i] = [value / rows[i][i] for value in right]
    return solution
