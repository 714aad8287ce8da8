"""How far do fresh processes differ? One convolution in ten workers, each of which ran other operators first.

With glibc's allocator left to its history the same convolution takes 1.4 ms in one process and 4.0 ms in another. With
its thresholds held still, as workers do, processes agree.
"""

from __future__ import annotations

import random
from statistics import fmean, stdev
from typing import Any

from report import publish
from warm_worker import measured, started, torch_side

from opperf.plan import Settings
from opperf.stats.order import median

OTHERS = ("add", "softmax", "matmul", "concatenate", "layer_norm", "max_pool2d", "transpose", "sum", "gelu", "linear")
WORKERS = 10


def one_process(seed: int, allocator: str) -> float:
    """Return the median of the convolution in a fresh worker, after others in an order of its own; seconds."""
    order = random.Random(seed).sample(OTHERS, k=6)
    with started(torch_side(allocator)) as worker:
        for name in order:
            measured(worker, name, "common", Settings(warmup=1, runs=3, latency=False, memory=False))
        found = measured(worker, "conv2d", "common", Settings(runs=100, latency=False, memory=False))
    return median(found.time.seconds() or found.time.seconds(clean_only=False))


def main() -> None:
    """Measure, print and judge."""
    times: dict[str, list[float]] = {"fixed": [], "default": []}
    for seed in range(WORKERS):
        for allocator in times:  # alternating, so that the machine's moods strike both
            times[allocator].append(one_process(seed, allocator))
    rows: list[dict[str, Any]] = [
        {
            "allocator": allocator,
            "median us": 1e6 * median(values),
            "min us": 1e6 * min(values),
            "max us": 1e6 * max(values),
            "spread (stdev/mean) %": 100 * stdev(values) / fmean(values),
            "range/median %": 100 * (max(values) - min(values)) / median(values),
        }
        for allocator, values in times.items()
    ]
    publish(
        "between_processes",
        "conv2d 20x16x28x28 by 32x16x3x3 in ten fresh torch workers",
        rows,
        {"spread with fixed thresholds": (rows[0]["spread (stdev/mean) %"], 10.0, "%")},
    )


if __name__ == "__main__":
    main()
