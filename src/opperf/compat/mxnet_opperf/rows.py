"""Rows as MXNet's opperf has them: milliseconds and kB (of 1000 bytes), under keys with the operator's name in them."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any

from opperf.domain.stats.order import quantile


def times(seconds: Sequence[float], name: str, direction: str = "") -> dict[str, Any]:
    """Return the keys of one direction; `seconds` are in rising order.

    >>> times([0.001, 0.003], "add", "forward")["avg_time_forward_add"]
    2.0
    """
    key = "_".join(word for word in (direction, name) if word)
    result = {
        "avg": fmean(seconds),
        "p50": quantile(seconds, 0.5),
        "p90": quantile(seconds, 0.9),
        "p99": quantile(seconds, 0.99),
        "min": seconds[0],
        "max": seconds[-1],
        "stdev": stdev(seconds) if len(seconds) > 1 else 0.0,
    }
    # Beyond picoseconds there are only the tails of binary fractions.
    milliseconds = {f"{statistic}_time_{key}": round(1e3 * value, 9) for statistic, value in result.items()}
    return {**milliseconds, f"samples_{key}": len(seconds)}


def memory(peak: float, device: str) -> dict[str, float]:
    """Return the peak bytes of one call besides its inputs.

    >>> memory(65536, "cpu/0")
    {'max_storage_mem_alloc_cpu/0': 65.536}
    """
    return {f"max_storage_mem_alloc_{device}": peak / 1e3}
