"""What a busy neighbour does: the clean median beside a burner on every core, and on a quiet machine.

The burners are bounded in time and end with this script. Beside them stands the plain median of all samples, which is
what a harness reports that does not look at disturbance.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from report import publish
from warm_worker import measured, started, torch_side

from opperf.measurement import Measurement
from opperf.plan import Settings
from opperf.stats.order import median

OPERATORS = (
    ("softmax", "small"), ("layer_norm", "small"), ("conv2d", "small"), ("matmul", "small"), ("sort", "small"),
    ("add", "common"), ("exp", "common"), ("softmax", "common"), ("conv2d", "common"), ("max_pool2d", "common"),
    ("layer_norm", "common"), ("matmul", "common"),
)  # fmt: skip
SETTINGS = Settings(runs=400, trial_budget=2.0, latency=False, memory=False)
#: No burner outlives this, in seconds.
LONGEST = 300
ROUNDS = 3


@contextmanager
def burners() -> Iterator[None]:
    """Keep every core busy."""
    loop = f"import time\nend = time.monotonic() + {LONGEST}\nwhile time.monotonic() < end: pass"
    started_ones = [subprocess.Popen([sys.executable, "-c", loop]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for burner in started_ones:
            burner.kill()
            burner.wait()


def clean(found: Measurement) -> float:
    """Return what opperf would report, in microseconds."""
    return 1e6 * median(found.time.seconds() or found.time.seconds(clean_only=False))


def plain(found: Measurement) -> float:
    """Return the median of every sample, in microseconds."""
    return 1e6 * median(found.time.seconds(clean_only=False))


def main() -> None:
    """Measure, print and judge."""
    rows: list[dict[str, Any]] = []
    with started(torch_side()) as worker:
        for name, size in OPERATORS:
            quiet, busy = [], []
            for _ in range(ROUNDS):  # alternating, so that drift strikes both
                quiet.append(measured(worker, name, size, SETTINGS))
                with burners():
                    busy.append(measured(worker, name, size, SETTINGS))
            truth = median([clean(found) for found in quiet])
            beside, naive = median([clean(found) for found in busy]), median([plain(found) for found in busy])
            kept = sum(sample.clean for found in busy for sample in found.time.samples)
            taken = sum(len(found.time.samples) for found in busy)
            rows.append(
                {
                    "operator": f"{name} {size}",
                    "quiet us": truth,
                    "beside, clean us": beside,
                    "error %": 100 * (beside / truth - 1),
                    "beside, plain us": naive,
                    "plain error %": 100 * (naive / truth - 1),
                    "clean samples %": 100 * kept / taken,
                }
            )
    judged = [row for row in rows if 10 <= row["quiet us"] <= 2000]
    publish(
        "neighbour",
        "single-threaded torch operators beside one burner on each core",
        rows,
        {"clean median, 10 us to 2 ms": (max(abs(row["error %"]) for row in judged), 10.0, "%")},
    )


if __name__ == "__main__":
    main()
