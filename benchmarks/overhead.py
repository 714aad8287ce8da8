"""What opperf itself costs: in the timed region, for each trial, and for each command.

Peers, measured on a 2-core machine in November 2026: PARAM adds 35 500 ns to each call in its discrete mode and 500 in
its continuous one, and 246-282 ms to each config; operator_benchmark's `--list-ops` did not end in 100 s.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from known import backend, extension
from report import publish
from warm_worker import start_worker, torch_side

from opperf.child.measure.block import Block
from opperf.child.measure.disturbance import ProcessCounters
from opperf.domain.call import Work
from opperf.domain.case import Case
from opperf.domain.message.requests import Measure, Prepare, Release
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.stats.order import median
from opperf.domain.tensor import TensorSpec
from opperf.parent.workers.package import package_folder
from opperf.parent.workers.process import Launch, Worker

CALLS, BLOCKS, TRIALS, STARTS = 10_000, 50, 100, 7
#: What a command is asked that measures an operator of the null framework, whose clock is virtual.
RUN = ("-m", "opperf", "run", "add", "--framework", "null")


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
    """Return the best wall time of a command, in seconds, after one that compiled what it imports."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run() -> None:
        command = [sys.executable, *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=variables)

    run()
    return least(run, time.perf_counter)


def child_cost() -> float:
    """Return the least CPU time that a child of the null framework takes from its start to its end, in seconds."""

    def start() -> None:
        worker = Worker(Path(sys.executable), package_folder(), Side("null"), Launch(bytecode=True))
        worker.greet()
        worker.close()

    def spent() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    start()
    return least(start, spent)


def least(act: Callable[[], None], clock: Callable[[], float]) -> float:
    """Return the least that an act takes of a clock."""
    times = []
    for _ in range(STARTS):
        start = clock()
        act()
        times.append(clock() - start)
    return min(times)


def main() -> None:
    """Measure, print and judge."""
    call = call_cost()
    trial = trial_cost()
    python = command_cost("-c", "pass")
    loading = command_cost("-c", "import opperf") - python
    helping = command_cost("-m", "opperf", "--help")
    explaining = command_cost("-m", "opperf", "run", "--help")
    planning, running = command_cost(*RUN, "--dry-run"), command_cost(*RUN)
    child = child_cost()
    listing = command_cost("-m", "opperf", "operators")
    rows: list[dict[str, Any]] = [
        {"what": "call of a C function that does nothing, before subtraction", "value": call, "unit": "ns"},
        *(
            {"what": f"a trial of 1x1 add, torch: {name}", "value": value, "unit": "ms"}
            for name, value in trial.items()
        ),
        {"what": "import opperf, over Python's start", "value": 1e3 * loading, "unit": "ms"},
        {"what": "a child of the null framework, started and ended: CPU time", "value": 1e3 * child, "unit": "ms"},
        {"what": "opperf --help", "value": helping, "unit": "s"},
        {"what": "opperf run --help", "value": explaining, "unit": "s"},
        {"what": "opperf run add --framework null --dry-run", "value": planning, "unit": "s"},
        {"what": "opperf run add --framework null", "value": running, "unit": "s"},
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
            "child of the null framework, CPU time": (1e3 * child, 80, "ms"),
            "opperf --help": (helping, 0.12, "s"),
            "opperf run --help": (explaining, 0.2, "s"),
            "opperf run add --framework null --dry-run": (planning, 0.35, "s"),
            "opperf run add --framework null": (running, 0.45, "s"),
            "opperf operators": (listing, 1.0, "s"),
        },
    )


if __name__ == "__main__":
    main()
