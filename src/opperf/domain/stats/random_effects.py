"""Merge what several machines say of one ratio, where the ratio itself may differ from machine to machine.

The model of random effects: machine i has a ratio of its own, drawn about the overall one with the variance between
machines, and measured with its own error. That variance is estimated by Paule and Mandel (Journal of Research of the
National Bureau of Standards 87 (1982), 377-385); the interval is that of Hartung and Knapp (Statistics in Medicine 20
(2001), 1771-1782), with Student's t and their variance, never narrower than the model's own (Rover, Knapp and Friede,
BMC Medical Research Methodology 15 (2015), 99): with few machines the normal interval covers far too seldom.
Heterogeneity is Higgins and Thompson's I-squared (Statistics in Medicine 21 (2002), 1539-1558).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from opperf.domain.dataclass import dataclass
from opperf.domain.stats.order import CONFIDENCE
from opperf.domain.stats.significance import t_quantile

#: The estimate of the variance is found by halving; after so many steps it is exact to the last digit of a float.
STEPS = 200
#: An error that is given to what was measured without any (a virtual clock): it must not divide by zero.
LEAST_ERROR = 1e-12


@dataclass(frozen=True)
class OverallEffect:
    """The overall effect with its interval, both logs of ratios; `between` is the standard deviation of machines.

    `heterogeneity` is the share of what machines differ by that their own errors do not explain, from 0 to 1.
    """

    mean: float
    interval: tuple[float, float]
    between: float
    heterogeneity: float


def merge(effects: Sequence[float], errors: Sequence[float], *, confidence: float = CONFIDENCE) -> OverallEffect:
    """Combine two or more effects with their standard errors.

    >>> alike, apart = merge([0.10, 0.11, 0.10], [0.01] * 3), merge([0.00, 0.10, 0.20], [0.01] * 3)
    >>> round(alike.mean, 3), alike.between, round(apart.mean, 3), round(apart.between, 3)
    (0.103, 0.0, 0.1, 0.099)
    """
    if len(effects) < 2:
        raise ValueError("machines are merged from two on")
    variances = [max(error, LEAST_ERROR) ** 2 for error in errors]
    freedom = len(effects) - 1
    between = _variance_between(effects, variances, freedom)
    weights = [1 / (variance + between) for variance in variances]
    mean = _mean(effects, weights)
    scale = max(1.0, _spread(effects, variances, between) / freedom)
    half = t_quantile((1 + confidence) / 2, freedom) * math.sqrt(scale / sum(weights))
    spread = _spread(effects, variances, 0.0)
    heterogeneity = max(0.0, 1 - freedom / spread) if spread > 0 else 0.0
    return OverallEffect(mean, (mean - half, mean + half), math.sqrt(between), heterogeneity)


def _variance_between(effects: Sequence[float], variances: Sequence[float], freedom: int) -> float:
    """Return the variance between machines at which the spread is what its degrees of freedom let expect."""
    if _spread(effects, variances, 0.0) <= freedom:
        return 0.0
    low, high = 0.0, (max(effects) - min(effects)) ** 2 + max(variances)
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if _spread(effects, variances, middle) > freedom else (low, middle)
    return (low + high) / 2


def _spread(effects: Sequence[float], variances: Sequence[float], between: float) -> float:
    """Return Cochran's Q with the variance between machines taken in."""
    weights = [1 / (variance + between) for variance in variances]
    mean = _mean(effects, weights)
    return sum(weight * (effect - mean) ** 2 for weight, effect in zip(weights, effects))


def _mean(effects: Sequence[float], weights: Sequence[float]) -> float:
    return sum(weight * effect for weight, effect in zip(weights, effects)) / sum(weights)
