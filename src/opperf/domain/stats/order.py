"""Order statistics: quantiles, and an interval for the median that assumes no distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence

#: How often an interval holds the truth where nothing else is said.
CONFIDENCE = 0.95


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return the quantile of sorted values by linear interpolation (type 7 of Hyndman and Fan, 1996; NumPy's default).

    Raises `ValueError` where there are none.

    >>> quantile([1.0, 2.0, 4.0], 0.75)
    3.0
    """
    if not ordered:
        raise ValueError("no values")
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def median(values: Sequence[float]) -> float:
    """Return the median of values in any order."""
    return quantile(sorted(values), 0.5)


def centre(values: Sequence[float]) -> float:
    """Return the centre of values that lie symmetrically around it, some of them far off: the median of all averages.

    Hodges and Lehmann, Ann. Math. Statist. 34 (1963), 598-611. Nearly as sharp as the mean where there is no outlier,
    and hardly moved by one.

    >>> centre([1.0, 2.0, 3.0, 100.0])
    2.75
    """
    return median([(one + other) / 2 for i, one in enumerate(values) for other in values[i:]])


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> tuple[float, float] | None:
    """Return an interval that covers the median of independent draws with at least this confidence.

    It runs between two order statistics chosen by the binomial distribution (the inverted sign test: Conover,
    Practical Nonparametric Statistics, 3.2). Under six values no pair of them reaches 95 %, and the answer is None.

    >>> median_interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    (1.0, 6.0)
    """
    ordered = sorted(values)
    count = len(ordered)
    tail, outside = 0.0, -1
    log_half = count * math.log(0.5)
    for rank in range(count // 2):
        tail += math.exp(_log_choose(count, rank) + log_half)
        if 2 * tail > 1 - confidence:
            break
        outside = rank
    if outside < 0:
        return None
    return ordered[outside], ordered[count - 1 - outside]


def relative_precision(values: Sequence[float]) -> float | None:
    """Return half the width of the median's interval, relative to the median; None where there is no interval."""
    interval = median_interval(values)
    middle = median(values) if values else 0.0
    if interval is None or middle <= 0:
        return None
    return (interval[1] - interval[0]) / 2 / middle


def _log_choose(count: int, picks: int) -> float:
    return math.lgamma(count + 1) - math.lgamma(picks + 1) - math.lgamma(count - picks + 1)
