"""Where a series of builds steps: a posterior over places, from log-ratios between builds and their errors.

Builds have unknown levels on a scale of logs, and each observation is the difference of two of them. A model says at
which builds the level steps: at one, at two, at three, or a little at each (a slope). The heights of its steps are
normal around zero, so each model's evidence is that of a linear regression (Bishop, Pattern Recognition and Machine
Learning, 2006, section 3.4), and nothing has to be searched for.

Observations cannot tell the places apart that lie between two measured builds. Such a gap is one place of a model,
with the weight of all of its builds, so the work grows with the builds that were measured and not with all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations_with_replacement, pairwise

from opperf.domain.dataclass import dataclass

#: The standard deviation of a step's height before anything is measured: e^0.3 is a third more.
HEIGHT = 0.3
#: What two processes of the same build may differ by beside the error of their pairs.
FLOOR = 0.003
#: How likely two steps, three and a slope are before anything is measured.
TWO_STEPS, THREE_STEPS, SLOPE = 0.1, 0.01, 0.02
#: The probability below which a model is left out of the uncertainty of levels.
NEGLIGIBLE = 1e-5


@dataclass(frozen=True)
class Observation:
    """The log of how much slower build `new` is than build `base`, and its standard error."""

    base: int
    new: int
    log_ratio: float
    error: float


@dataclass(frozen=True)
class Model:
    """Steps, each at one of the builds of its gap; none of them is a slope over all.

    `probability` is that of each way to place the steps in their gaps, of which there are so many `ways`.
    """

    gaps: tuple[range, ...]
    ways: int
    probability: float
    heights: tuple[float, ...]

    @property
    def steps(self) -> tuple[int, ...]:
        """The builds at which the level steps, one of the ways: each is the first of its level."""
        counts = Counter(self.gaps)
        return tuple(sorted(gap[i] for gap, count in counts.items() for i in range(count)))

    def level(self, build: int, builds: int) -> tuple[float, float]:
        """Return the level of a build above that of the first, its mean and its variance over the ways."""
        if not self.gaps:
            return self.heights[0] * build / (builds - 1), 0.0
        mean = variance = 0.0
        heights = dict(zip(self.gaps, self.heights))
        for gap, steps in Counter(self.gaps).items():
            # Of the gap's places, some lie up to the build: how many of the steps do is hypergeometric.
            share = min(1.0, max(0.0, (build - gap.start + 1) / len(gap)))
            spread = (len(gap) - steps) / max(1, len(gap) - 1)
            mean += heights[gap] * steps * share
            variance += heights[gap] ** 2 * steps * share * (1 - share) * spread
        return mean, variance


class Posterior:
    """What observations say of the steps of some builds."""

    def __init__(self, builds: int, observations: Sequence[Observation], floor: float = FLOOR) -> None:
        """Take at least two builds and one observation; builds that do not differ may lie `floor` apart."""
        self.builds, self._floor = builds, floor
        self._observations = observations
        ends = {0, builds - 1} | {end for one in observations for end in (one.base, one.new)}
        self._gaps = [range(low + 1, high + 1) for low, high in pairwise(sorted(ends))]

    @cached_property
    def models(self) -> list[Model]:
        """Every model with its probability and its most likely heights, the most likely model first."""
        rows = [[self._crossings(one, gap) for gap in self._gaps] for one in self._observations]
        weights = [1 / (one.error**2 + self._floor**2) for one in self._observations]
        gram, moment = self._sums(rows, weights)
        fits = []
        for columns, ways, prior in self._kinds():
            evidence, heights = _fit([[gram[i][j] for j in columns] for i in columns], [moment[i] for i in columns])
            fits.append((tuple(self._gaps[i] for i in columns), ways, evidence + math.log(prior), heights))
        if self.builds > 2:
            slope = [[(one.new - one.base) / (self.builds - 1)] for one in self._observations]
            evidence, heights = _fit(*self._sums(slope, weights))
            fits.append(((), 1, evidence + math.log(SLOPE), heights))
        most = max(evidence for _, _, evidence, _ in fits)
        shares = [ways * math.exp(evidence - most) for _, ways, evidence, _ in fits]
        whole = math.fsum(shares)
        models = [
            Model(gaps, ways, share / ways / whole, heights) for (gaps, ways, _, heights), share in zip(fits, shares)
        ]
        return sorted(models, key=lambda model: -model.probability)

    def _crossings(self, one: Observation, gap: range) -> float:
        """Return how often a step in a gap is in an observation: once, not at all, or against its direction."""
        return float((one.new >= gap[-1]) - (one.base >= gap[-1]))

    def _sums(self, rows: Sequence[Sequence[float]], weights: Sequence[float]) -> tuple[list[list[float]], list[float]]:
        """Return the weighted sums of a regression: of columns with each other, and with the log-ratios."""
        columns = range(len(rows[0]))
        values = [one.log_ratio for one in self._observations]
        gram = [[math.fsum(w * row[i] * row[j] for w, row in zip(weights, rows)) for j in columns] for i in columns]
        return gram, [math.fsum(w * row[i] * y for w, row, y in zip(weights, rows, values)) for i in columns]

    def _kinds(self) -> Iterator[tuple[tuple[int, ...], int, float]]:
        """Yield the gaps of each model's steps, how many ways it has, and how likely each is before measuring."""
        places = self.builds - 1
        for steps, share in ((1, 1 - TWO_STEPS - THREE_STEPS - SLOPE), (2, TWO_STEPS), (3, THREE_STEPS)):
            for columns in combinations_with_replacement(range(len(self._gaps)), steps):
                ways = math.prod(math.comb(len(self._gaps[i]), count) for i, count in Counter(columns).items())
                if ways:
                    yield columns, ways, share / math.comb(places, steps)

    @property
    def best(self) -> Model:
        """The most likely model."""
        return self.models[0]

    @cached_property
    def _likely(self) -> list[Model]:
        """The models that matter to a level: with three steps in many gaps, most do not."""
        return [model for model in self.models if model.ways * model.probability > NEGLIGIBLE]

    def uncertainty(self, build: int) -> float:
        """Return the variance of a build's level over all models: where it is largest, a measurement tells most."""
        levels = [(model.ways * model.probability, *model.level(build, self.builds)) for model in self._likely]
        mean = math.fsum(weight * level for weight, level, _ in levels)
        return math.fsum(weight * ((level - mean) ** 2 + variance) for weight, level, variance in levels)

    def bracket(self, share: float) -> tuple[int, int]:
        """Return the last build before the steps and the first after them, with at least this probability."""
        low, high, mass = self.builds - 1, 1, 0.0
        for model in self.models:
            low = min([low, *(gap[0] for gap in model.gaps)])
            high = max([high, *(gap[-1] for gap in model.gaps)])
            mass += model.ways * model.probability
            if not model.gaps:
                low, high = 1, self.builds - 1
            if mass >= share:
                break
        return low - 1, high


def _fit(gram: Sequence[Sequence[float]], moment: Sequence[float]) -> tuple[float, tuple[float, ...]]:
    """Return the log of a model's evidence, up to a constant, and the heights that it expects."""
    prior, columns = HEIGHT**2, range(len(moment))
    # (1 + prior x gram) heights = prior x moment, by elimination: the matrix is positive, so no pivot is sought.
    matrix = [[float(i == j) + prior * gram[i][j] for j in columns] + [prior * moment[i]] for i in columns]
    logarithm = 0.0
    for i in columns:
        logarithm += math.log(matrix[i][i])
        for row in matrix[i + 1 :]:
            factor = row[i] / matrix[i][i]
            row[i:] = [value - factor * above for value, above in zip(row[i:], matrix[i][i:])]
    heights = [0.0 for _ in columns]
    for i in reversed(columns):
        rest = math.fsum(matrix[i][j] * heights[j] for j in columns[i + 1 :])
        heights[i] = (matrix[i][-1] - rest) / matrix[i][i]
    fit = math.fsum(one * height for one, height in zip(moment, heights))
    return (fit - logarithm) / 2, tuple(heights)
