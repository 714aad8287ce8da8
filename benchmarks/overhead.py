"""What opperf itself costs: in the timed region, for each trial, and for each command.

Peers, measured on a 2-core machine in November 2026: PARAM adds 35 500 ns to each call in its discrete mode and 500 in
its continuous one, and 246-282 ms to each config; operator_benchmark's `--list-ops` did not end in 100 s.
"""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import nullcontext
from typing import Any

from known import backend, extension
from report import publish
from warm_worker import start_worker, torch_side

from opperf.child.measure.block import Block
from opperf.child.measure.disturbance import ProcessCounters
from opperf.domain.backend import Work
from opperf.domain.case import Case
from opperf.domain.message.requests import Measure, Prepare, Release
from opperf.domain.plan import Settings, Trial
from opperf.domain.stats.order import median
from opperf.domain.tensor import TensorSpec
from opperf.parent.workers.process import Worker

CALLS, BLOCKS, TRIALS, STARTS = 10_000, 50, 100, 7


def call_cost() -> float:
    """Return what a call of a C function costs that does nothing with two arguments, in nanoseconds."""
    block = Block(Work(extension().nothing, (1, 2), {}, nullcontext), backend(), ProcessCounters())
    return median([block.run(CALLS) / CALLS for _ in range(BLOCKS)])


def trial_cost() -> dict[str, float]:
    """Return where the time of a 1x1 add in torch goes, in milliseconds: median of 100 trials in one warm worker."""
    tiny = TensorSpec((1, 1))
    with start_worker(torch_side()) as worker:
        trial = Trial(Case("add", {"lhs": tiny, "rhs": tiny}), worker.side, "forward")
        seen = [_one(worker, trial) for _ in range(TRIALS + 3)]
    kept = seen[3:]  # the first trials import what the profiler needs
    return {name: 1e3 * median([each[name] for each in kept]) for name in kept[0]}


def _one(worker: Worker, trial: Trial) -> dict[str, float]:
    """Return where the time of one trial went, in seconds; `fixed` is all but inputs and samples."""
    start = time.perf_counter()
    prepared = worker.ask(Prepare(trial), 60)
    spent = worker.ask(Measure(prepared.handle, Settings()), 60).spent
    worker.ask(Release(prepared.handle), 60)
    whole = time.perf_counter() - start
    inputs = prepared.spent["inputs"]
    return {**spent, "inputs": inputs, "whole": whole, "fixed": whole - inputs - spent["samples"] - spent["latency"]}


def command_cost(*arguments: str) -> float:
    """Return the best wall time of a command, in seconds."""
    times = []
    for _ in range(STARTS):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Measure, print and judge."""
    call = call_cost()
    trial = trial_cost()
    python = command_cost("-c", "pass")
    loading = command_cost("-c", "import opperf") - python
    helping = command_cost("-m", "opperf", "--help")
    listing = command_cost("-m", "opperf", "operators")
    rows: list[dict[str, Any]] = [
        {"what": "call of a C function that does nothing, before subtraction", "value": call, "unit": "ns"},
        *(
            {"what": f"a trial of 1x1 add, torch: {name}", "value": value, "unit": "ms"}
            for name, value in trial.items()
        ),
        {"what": "import opperf, over Python's start", "value": 1e3 * loading, "unit": "ms"},
        {"what": "opperf --help", "value": helping, "unit": "s"},
        {"what": "opperf operators", "value": listing, "unit": "s"},
    ]
    publish(
        "overhead",
        "what opperf costs",
        rows,
        {
            "harness cost of a call": (call, 60, "ns"),
            "fixed cost of a trial": (trial["fixed"], 5, "ms"),
            "import opperf": (1e3 * loading, 100, "ms"),
            "opperf --help": (helping, 0.5, "s"),
            "opperf operators": (listing, 1.0, "s"),
        },
    )


if __name__ == "__main__":
    main()
