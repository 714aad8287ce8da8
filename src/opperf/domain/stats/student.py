"""Student's t: its quantile, and the interval of a geometric mean over processes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import fmean, stdev


def t_cdf(value: float, freedom: float) -> float:
    """Return the probability that Student's t with `freedom` degrees is below `value`.

    Through the regularised incomplete beta function (Abramowitz and Stegun 26.7.1 and 26.5.8).

    >>> round(t_cdf(2.0, 10), 6)
    0.963306
    """
    square = value * value
    if square < freedom:  # near the centre the tail is nearly a half, and what is far from it would be lost
        inner = 0.5 * _incomplete_beta(0.5, freedom / 2, square / (freedom + square))
        return 0.5 + inner if value > 0 else 0.5 - inner
    tail = 0.5 * _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + square))
    return 1 - tail if value > 0 else tail


@lru_cache(maxsize=1024)
def t_quantile(probability: float, freedom: float) -> float:
    """Return the value below which Student's t with `freedom` degrees lies with this probability.

    >>> round(t_quantile(0.975, 4), 4)
    2.7764
    """
    if not 0 < probability < 1:
        raise ValueError(f"probability is {probability}, expected a number between 0 and 1")
    if probability < 0.5:
        return -t_quantile(1 - probability, freedom)
    low, high = 0.0, 1.0
    while t_cdf(high, freedom) < probability:
        low, high = high, high * 2
    for _ in range(200):  # bisection: each step halves the interval, and 60 reach the last bit
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if t_cdf(middle, freedom) < probability else (low, middle)
    return (low + high) / 2


def log_interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float] | None:
    """Return the t-interval of the geometric mean of positive values; None with fewer than three.

    Times differ by factors, so the logs are what is nearly normal.

    >>> [round(bound, 3) for bound in log_interval([1.0, 1.1, 1.2])]
    [0.875, 1.376]
    """
    if len(values) < 3 or min(values) <= 0:
        return None
    logs = [math.log(value) for value in values]
    half = t_quantile((1 + confidence) / 2, len(logs) - 1) * stdev(logs) / math.sqrt(len(logs))
    return math.exp(fmean(logs) - half), math.exp(fmean(logs) + half)


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Return I_x(a, b), by the continued fraction of Numerical Recipes 6.4 (Lentz's method)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(a, b, x) / a
    return 1 - front * _beta_fraction(b, a, 1 - x) / b


def _beta_fraction(a: float, b: float, x: float) -> float:
    tiny = 1e-300
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or tiny)
    result = d
    for m in range(1, 500):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / ((1 + term * d) or tiny)
            c = (1 + term / c) or tiny
            result *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return result
