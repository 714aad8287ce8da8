"""Operators of two threads: identical code in pairs of processes, threads left free on the shared CPUs or bound.

Both sides are held to the same CPUs. Within them the kernel may move threads (free), or OpenMP binds each to a CPU of
its own (bound).

    python benchmarks/threads.py [PAIRS]
"""

from __future__ import annotations

import random
import statistics
import sys
from collections import defaultdict
from dataclasses import replace
from typing import Any

from report import publish
from warm_worker import torch_side

from opperf.catalog import operator
from opperf.domain.plan import Settings, Trial
from opperf.parent.documents.comparison import PairValue
from opperf.parent.workers.duel import Duel

OPERATORS = ("add", "exp", "sum", "softmax", "layer_norm", "gelu", "matmul", "conv2d")
THREADS = 2
BOUND = {"env.OMP_PROC_BIND": "close", "env.OMP_PLACES": "cores"}
PLACEMENTS = {"free": {}, "bound": BOUND}


def main() -> None:
    """Measure, print and judge."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    result: dict[tuple[str, str], list[PairValue]] = defaultdict(list)
    for number in range(pairs):
        for placement, settings in PLACEMENTS.items():  # by turns, since the host changes its mood
            side = replace(torch_side(), threads=THREADS, settings=settings)
            duel = Duel(side, side, Settings(), lambda _: None, random.Random(number))
            try:
                for name in OPERATORS:
                    trial = Trial(operator(name).case("common"), side, "forward")
                    result[name, placement].append(duel.compare(trial, trial))
            finally:
                duel.close()
    rows: list[dict[str, Any]] = []
    for (name, placement), values in result.items():
        ratios = [value.log_ratio for value in values if value.log_ratio is not None]
        rows.append(
            {
                "operator": name,
                "threads": placement,
                "us": 1e6 * statistics.median(value.base["min"] for value in values if value.base is not None),
                "median %": 100 * statistics.median(ratios),
                "spread of pairs %": 100 * statistics.stdev(ratios),
                "undisturbed rounds of a pair": sum(value.rounds for value in values) / len(values),
                "pairs": len(ratios),
            }
        )
    rows.sort(key=lambda row: (str(row["operator"]), str(row["threads"])))
    spread = {
        placement: statistics.median(row["spread of pairs %"] for row in rows if row["threads"] == placement)
        for placement in PLACEMENTS
    }
    centre = statistics.median(value.log_ratio for values in result.values() for value in values if value.log_ratio)
    publish(
        "threads",
        f"identical code with {THREADS} threads, {pairs} pairs of torch processes",
        rows,
        {
            "bias of all pairs": (100 * abs(centre), 0.3, "%"),
            "median spread, free": (spread["free"], 3.0, "%"),
            "median spread, bound": (spread["bound"], 3.0, "%"),
        },
    )


if __name__ == "__main__":
    main()
