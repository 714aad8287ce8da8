"""Descriptive statistics of samples: what tables of benchmarks show beside a median."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from statistics import fmean, median, stdev


class Description:
    """The times of a call in seconds, a value for each sample, and what pytest-benchmark says of them.

    Quartiles are medians of the lower and the upper half, each with the median where the count is odd.

    >>> stats = Description([1.0, 2.0, 3.0, 5.0])
    >>> stats.median, stats.q1, stats.iqr, stats.ops, stats.outliers
    (2.5, 1.5, 2.5, 0.36363636363636365, '2;0')
    """

    fields = (
        *("min", "max", "mean", "stddev", "rounds", "median", "iqr", "q1", "q3", "iqr_outliers", "stddev_outliers"),
        *("outliers", "ld15iqr", "hd15iqr", "ops", "total"),
    )

    def __init__(self, data: Sequence[float]) -> None:
        self.data = list(data)
        self.sorted_data = sorted(self.data)
        half = (len(self.data) + 1) // 2
        self.rounds = len(self.data)
        self.total = math.fsum(self.data)
        self.min, self.max = self.sorted_data[0], self.sorted_data[-1]
        self.mean, self.median = fmean(self.data), median(self.data)
        self.stddev = stdev(self.data) if len(self.data) > 1 else 0.0
        self.q1, self.q3 = median(self.sorted_data[:half]), median(self.sorted_data[-half:])
        self.iqr = self.q3 - self.q1
        self.ops = 1 / self.mean if self.mean else 0.0

    @cached_property
    def stddev_outliers(self) -> int:
        """Values that are further from the mean than the standard deviation."""
        return sum(abs(value - self.mean) > self.stddev for value in self.data)

    @cached_property
    def iqr_outliers(self) -> int:
        """Values beyond Tukey's fences."""
        return sum(not self._low <= value <= self._high for value in self.data)

    @property
    def outliers(self) -> str:
        """Both counts of outliers."""
        return f"{self.stddev_outliers};{self.iqr_outliers}"

    @property
    def ld15iqr(self) -> float:
        """The least value that is no outlier."""
        return min(value for value in self.data if value >= self._low)

    @property
    def hd15iqr(self) -> float:
        """The largest value that is no outlier."""
        return max(value for value in self.data if value <= self._high)

    @property
    def _low(self) -> float:
        return self.q1 - 1.5 * self.iqr

    @property
    def _high(self) -> float:
        return self.q3 + 1.5 * self.iqr

    def as_dict(self) -> dict[str, object]:
        """Return all of it by name."""
        return {name: getattr(self, name) for name in self.fields}
