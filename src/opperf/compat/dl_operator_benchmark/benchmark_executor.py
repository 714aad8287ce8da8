"""`run_all_mxnet_operator_benchmarks`: all groups of arrays and layers, in one dictionary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opperf.compat.dl_operator_benchmark import gluon, nd
from opperf.compat.dl_operator_benchmark.benchmark import RUNS, WARMUP
from opperf.compat.dl_operator_benchmark.runners import choose, measure_classes


def run_all_mxnet_operator_benchmarks(
    ctx: Any = None, inputs: Mapping[str, Any] | None = None, warmup: int = WARMUP, runs: int = RUNS
) -> dict[str, float]:
    """Run every operator and layer, print each result, and return all: seconds by key.

    `inputs` go to those that have such a parameter. Failures are printed on stderr, and the rest goes on. Raises
    `ValueError` for inputs that none of them has.
    """
    classes = choose(None, nd.CLASSES, gluon.CLASSES)
    times: dict[str, float] = {}
    for results in measure_classes(classes, ctx, inputs or {}, warmup=warmup, runs=runs):
        times |= results
    return times
