"""Which operators take another time for other values: each distribution against uniform ones, by turns in one process.

python benchmarks/values.py
"""

from __future__ import annotations

import math
import random
from typing import Any

from report import publish
from warm_worker import start_worker, torch_side

from opperf.catalog import operator
from opperf.domain.errors import OperatorFailure
from opperf.domain.message.requests import Prepare, Release, Turn
from opperf.domain.plan import Side, Trial
from opperf.domain.registry import FRAMEWORKS
from opperf.domain.stats.order import median
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment
from opperf.parent.workers.process import Worker

OPERATORS = (
    "sort", "argsort", "topk", "max", "cumsum", "where", "masked_fill", "relu", "abs", "add", "multiply", "divide",
    "sqrt", "exp", "log", "sin", "tanh", "erf", "power", "sigmoid", "gelu", "softmax", "matmul", "conv2d", "sum",
    "embedding",
)  # fmt: skip
VALUES = ("normal", "constant", "zeros", "sorted", "reversed", "denormal", "sparse:0.9")
#: The same values once more: how far a ratio is from 1 that no values make.
CONTROL = "uniform again"
ROUNDS, SAMPLES = 9, 3
#: A ratio that is beyond what turns in one process differ by: each distribution lies at a place of its own in memory.
DEPENDS = 1.15


def sides() -> list[Side]:
    """Return each framework where it imports, or in the environment that opperf builds."""
    names = ("mxnet", "jax", "numpy")
    result = [
        Side(
            name,
            environment=choose_environment(EnvironmentSpec.parse("current"), name).text,
            mode=FRAMEWORKS[name].mode,
        )
        for name in names
    ]
    return [torch_side(), *result]


def ratios(worker: Worker, name: str) -> dict[str, float]:
    """Return the time of each distribution over that of uniform values."""
    case = operator(name).case("common")
    handles: dict[str, int] = {}
    result: dict[str, list[float]] = {values: [] for values in (CONTROL, *VALUES)}
    try:
        for values in ("uniform", *result):
            chosen = case if values == CONTROL else case.with_values(values)
            trial = Trial(chosen, worker.side, "forward")
            handles[values] = worker.ask(Prepare(trial), 120).handle
        for number in range(ROUNDS):
            order = random.Random(number).sample(list(handles), len(handles))
            times = {values: turn(worker, handles[values]) for values in order}
            for values, logs in result.items():
                logs.append(math.log(times[values] / times["uniform"]))
    finally:
        for handle in handles.values():
            worker.ask(Release(handle), 120)
    return {values: math.exp(median(logs)) for values, logs in result.items()}


def turn(worker: Worker, handle: int) -> float:
    """Return the least time of one call in a turn, in seconds."""
    taken = worker.ask(Turn(handle, SAMPLES), 120).samples
    return min(taken.seconds() or taken.seconds(clean_only=False))


def main() -> None:
    """Measure and print what depends on values."""
    rows: list[dict[str, Any]] = []
    for side in sides():
        with start_worker(side) as worker:
            for name in OPERATORS:
                try:
                    result = ratios(worker, name)
                except OperatorFailure:  # the framework lacks it, or one of the distributions
                    continue
                if any(not 1 / DEPENDS <= result[values] <= DEPENDS for values in VALUES):
                    rows.append({"operator": name, "framework": side.framework, **result})
    rows.sort(key=lambda row: (row["operator"], row["framework"]))
    publish(
        "values",
        f"time over that of uniform values, where any differs by {DEPENDS - 1:.0%}; {len(OPERATORS)} operators tried",
        rows,
        {},
    )


if __name__ == "__main__":
    main()
