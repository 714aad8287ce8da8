"""What a busy neighbour does: the clean median beside a burner on every core, and on a quiet machine.

The burners are bounded in time and end with this script. Beside them stands the plain median of all samples, which is
what a harness reports that does not look at disturbance.
"""

from __future__ import annotations

from typing import Any

from load import burners
from report import publish
from warm_worker import measure, start_worker, torch_side

from opperf.domain.measurement import Measurement
from opperf.domain.plan import Settings
from opperf.domain.stats.order import median, quantile

OPERATORS = (
    ("softmax", "small"), ("layer_norm", "small"), ("conv2d", "small"), ("matmul", "small"), ("sort", "small"),
    ("add", "common"), ("exp", "common"), ("softmax", "common"), ("conv2d", "common"), ("max_pool2d", "common"),
    ("layer_norm", "common"), ("matmul", "common"),
)  # fmt: skip
SETTINGS = Settings(runs=120, latency=False, memory=False)
ROUNDS = 11


def clean(result: Measurement) -> float:
    """Return what opperf would report, in microseconds."""
    return 1e6 * median(result.time.seconds() or result.time.seconds(clean_only=False))


def plain(result: Measurement) -> float:
    """Return the median of every sample, in microseconds."""
    return 1e6 * median(result.time.seconds(clean_only=False))


def high(result: Measurement) -> float:
    """Return the 90th percentile of every sample, in microseconds."""
    return 1e6 * quantile(sorted(result.time.seconds(clean_only=False)), 0.9)


def row(operator: str, quiet: list[Measurement], busy: list[Measurement]) -> dict[str, Any]:
    """Return the medians of the rounds, and of the ratios of each round to the quiet one just before it."""
    samples = [sample for result in busy for sample in result.time.samples]
    return {
        "operator": operator,
        "quiet us": median([clean(result) for result in quiet]),
        "beside, clean us": median([clean(result) for result in busy]),
        "error %": 100 * (median([clean(b) / clean(q) for q, b in zip(quiet, busy)]) - 1),
        "beside, plain us": median([plain(result) for result in busy]),
        "plain error %": 100 * (median([plain(b) / clean(q) for q, b in zip(quiet, busy)]) - 1),
        "plain p90 error %": 100 * (median([high(b) / clean(q) for q, b in zip(quiet, busy)]) - 1),
        "clean samples %": 100 * sum(sample.clean for sample in samples) / len(samples),
    }


def main() -> None:
    """Measure, print and judge."""
    rows: list[dict[str, Any]] = []
    with start_worker(torch_side()) as worker:
        for name, size in OPERATORS:
            quiet, busy = [], []
            for _ in range(ROUNDS):  # by turns, since other guests of the host change its speed from second to second
                quiet.append(measure(worker, name, size, SETTINGS))
                with burners():
                    busy.append(measure(worker, name, size, SETTINGS))
            rows.append(row(f"{name} {size}", quiet, busy))
    judged = [row for row in rows if 10 <= row["quiet us"] <= 2000]
    publish(
        "neighbour",
        "single-threaded torch operators beside one burner on each core",
        rows,
        {"clean median, 10 us to 2 ms": (max(abs(row["error %"]) for row in judged), 10.0, "%")},
    )


if __name__ == "__main__":
    main()
