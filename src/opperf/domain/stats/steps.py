"""Where a series of builds steps: a posterior over places, from log-ratios between builds and their errors.

Builds have unknown levels on a scale of logs, and each observation is the difference of two of them. A model says at
which builds the level steps: at one, at two, or a little at each (a slope). The heights of its steps are normal around
zero, so each model's evidence is that of a linear regression (Bishop, Pattern Recognition and Machine Learning, 2006,
section 3.4), and nothing has to be searched for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

#: The standard deviation of a step's height before anything is measured: e^0.3 is a third more.
HEIGHT = 0.3
#: What two processes of the same build may differ by beside the error of their pairs.
FLOOR = 0.003
#: How likely two steps and a slope are before anything is measured.
TWO_STEPS, SLOPE = 0.1, 0.02


@dataclass(frozen=True)
class Observation:
    """The log of how much slower build `new` is than build `base`, and its standard error."""

    base: int
    new: int
    log_ratio: float
    error: float


@dataclass(frozen=True)
class Model:
    """Steps at some builds (each the first of its level); none of them is a slope over all."""

    steps: tuple[int, ...]
    probability: float
    heights: tuple[float, ...]

    def level(self, build: int, builds: int) -> float:
        """Return the level of a build above that of the first."""
        if not self.steps:
            return self.heights[0] * build / (builds - 1)
        return math.fsum(height for step, height in zip(self.steps, self.heights) if build >= step)


class Posterior:
    """What observations say of the steps of some builds."""

    def __init__(self, builds: int, observations: Sequence[Observation]) -> None:
        """Take at least two builds and one observation."""
        self.builds = builds
        self._observations = observations

    @cached_property
    def models(self) -> list[Model]:
        """Every model with its probability and its most likely heights, the most likely model first."""
        places = range(1, self.builds)
        pairs = list(combinations(places, 2))
        priors: list[tuple[tuple[int, ...], float]] = [
            ((place,), (1 - TWO_STEPS - SLOPE) / len(places)) for place in places
        ]
        priors += [(pair, TWO_STEPS / len(pairs)) for pair in pairs]
        priors += [((), SLOPE)] if self.builds > 2 else []
        fits = [(steps, *self._fit(steps), math.log(prior)) for steps, prior in priors]
        most = max(evidence + prior for _, evidence, _, prior in fits)
        weights = [math.exp(evidence + prior - most) for _, evidence, _, prior in fits]
        whole = math.fsum(weights)
        models = [Model(fit[0], weight / whole, fit[2]) for fit, weight in zip(fits, weights)]
        return sorted(models, key=lambda model: -model.probability)

    def _fit(self, steps: tuple[int, ...]) -> tuple[float, tuple[float, ...]]:
        """Return the log of a model's evidence, up to a constant, and the heights that it expects."""
        columns = max(1, len(steps))
        gram = [[0.0] * columns for _ in range(columns)]
        moment = [0.0] * columns
        for one in self._observations:
            weight = 1 / (one.error**2 + FLOOR**2)
            row = self._row(steps, one)
            for i in range(columns):
                moment[i] += weight * row[i] * one.log_ratio
                for j in range(columns):
                    gram[i][j] += weight * row[i] * row[j]
        prior = HEIGHT**2
        if columns == 1:
            scale = 1 + prior * gram[0][0]
            height = prior * moment[0] / scale
            return (moment[0] * height - math.log(scale)) / 2, (height,)
        a, b, d = 1 + prior * gram[0][0], prior * gram[0][1], 1 + prior * gram[1][1]
        determinant = a * d - b * b
        first = prior * (d * moment[0] - b * moment[1]) / determinant
        second = prior * (a * moment[1] - b * moment[0]) / determinant
        fit = moment[0] * first + moment[1] * second
        return (fit - math.log(determinant)) / 2, (first, second)

    def _row(self, steps: tuple[int, ...], one: Observation) -> list[float]:
        """Return how the observation's log-ratio depends on the heights."""
        if not steps:
            return [(one.new - one.base) / (self.builds - 1)]
        return [float((one.new >= step) - (one.base >= step)) for step in steps]

    @property
    def best(self) -> Model:
        """The most likely model."""
        return self.models[0]

    def uncertainty(self, build: int) -> float:
        """Return the variance of a build's level over all models: where it is largest, a measurement tells most."""
        levels = [(model.probability, model.level(build, self.builds)) for model in self.models]
        mean = math.fsum(weight * level for weight, level in levels)
        return math.fsum(weight * (level - mean) ** 2 for weight, level in levels)

    def between(self, share: float) -> tuple[int, int]:
        """Return the last build before the steps and the first after them, with at least this probability."""
        low, high, mass = self.builds - 1, 1, 0.0
        for model in self.models:
            low = min([low, *model.steps])
            high = max([high, *model.steps])
            mass += model.probability
            if not model.steps:
                low, high = 1, self.builds - 1
            if mass >= share:
                break
        return low - 1, high
