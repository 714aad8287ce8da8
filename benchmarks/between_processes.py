"""How far do fresh processes differ? One convolution in ten workers, each of which ran other operators first.

With glibc's allocator left to its history the same convolution was seen to take 1.4 ms in one process and 4.0 ms in
another. Workers hold its thresholds still. All workers live at once and take turns, so that what is compared is the
processes and not the minutes in which they ran.
"""

from __future__ import annotations

import random
from contextlib import ExitStack
from statistics import fmean, stdev
from typing import Any

from report import publish
from warm_worker import measure, start_worker, torch_side

from opperf.domain.plan import Settings
from opperf.domain.stats.order import median
from opperf.parent.workers.process import Worker

OTHERS = ("add", "softmax", "matmul", "concatenate", "layer_norm", "max_pool2d", "transpose", "sum", "gelu", "linear")
WORKERS = 10
ROUNDS = 12


def prepare(stack: ExitStack, seed: int, allocator: str) -> Worker:
    """Return a fresh worker that ran other operators in an order of its own, and is stopped."""
    worker = stack.enter_context(start_worker(torch_side(allocator)))
    for name in random.Random(seed).sample(OTHERS, k=6):
        measure(worker, name, "common", Settings(warmup=1, runs=3, latency=False, memory=False))
    worker.pause()
    return worker


def spell(worker: Worker) -> list[float]:
    """Wake a worker, time the convolution, and stop it again; seconds."""
    worker.resume()
    result = measure(worker, "conv2d", "common", Settings(warmup=5, runs=20, latency=False, memory=False))
    worker.pause()
    return result.time.seconds()


def main() -> None:
    """Measure, print and judge."""
    seen: dict[tuple[str, int], list[float]] = {}
    with ExitStack() as stack:
        workers = {
            (allocator, seed): prepare(stack, seed, allocator)
            for seed in range(WORKERS)
            for allocator in ("fixed", "default")
        }
        for _ in range(ROUNDS):  # by turns, since other guests of the host change its speed from second to second
            for key, worker in random.sample(sorted(workers.items(), key=lambda item: item[0]), len(workers)):
                seen.setdefault(key, []).extend(spell(worker))
        for worker in workers.values():
            worker.resume()
    times = {
        allocator: [median(values) for key, values in seen.items() if key[0] == allocator]
        for allocator in ("fixed", "default")
    }
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
