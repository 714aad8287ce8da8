"""What a config costs beyond its samples: tiny cases of a PARAM config, one after another in one warm worker.

Two things are measured. A whole run, as a command does it: the time from one case to the next, less warm-up and
samples; with `--output` it waits after each case until its journal is on the disk, so runs of both kinds take turns.
And where that goes, asked of a worker directly, case by case in shuffled order: the messages, the inputs, the
preparation (looking up, binding, the first call), what measuring does around its samples, and the memory of one call.
The results of operators are checked once for each operator, not for each case.

Peer, measured on a 2-core machine in November 2026: PARAM takes 246-282 ms for each config, nearly all of it for the
garbage collection that follows each.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from report import publish
from warm_worker import start_worker, torch_side

from opperf.domain.measurement import Outcome
from opperf.domain.message.requests import Measure, Prepare, Release
from opperf.domain.plan import Settings, Trial
from opperf.domain.stats.order import median
from opperf.param.document import read_config
from opperf.parent.measuring.progress import Silent
from opperf.parent.measuring.session import Options, Session
from opperf.parent.planning.selection import Selection
from opperf.parent.workers.process import Worker

#: Cases of each operator; the first ones import what the profiler needs, and are left out.
CASES, LEFT_OUT = 60, 5
#: Runs of each kind, and rounds of the worker.
RUNS, ROUNDS = 2, 5
OPERATORS = ("torch.add", "torch.mul", "torch.mm")
#: What is no cost of opperf's: the calls that are measured, and those before.
MEASURED = ("warmup", "samples", "latency")


def config(path: Path) -> None:
    """Write a config of tiny cases."""
    sides = ([[1, CASES], 1], [1, 1])
    tensors = [{"type": "tensor", "dtype": "float", "shape": shape, "__range__": ["shape"]} for shape in sides]
    info = {
        "input_iterator": "RangeConfigIterator",
        "input_data_generator": "PyTorch:DefaultDataGenerator",
        "config": [{"input": [{"args": tensors}]}],
    }
    path.write_text(json.dumps(dict.fromkeys(OPERATORS, info)))


class Watch(Silent):
    """Takes the time of each case, from when the one before it was done until it is done."""

    def __init__(self) -> None:
        self.rows: list[dict[str, float]] = []
        self._since = 0.0

    def begin(self, total: int) -> None:
        """Start the clock."""
        self._since = time.perf_counter()

    def done(self, outcome: Outcome) -> None:
        """Take the time of a case; what is not measured has no part in this."""
        now = time.perf_counter()
        spent = {} if outcome.measurement is None else outcome.measurement.spent
        whole = now - self._since
        self.rows.append({"whole": whole, "fixed": whole - sum(spent.get(name, 0.0) for name in MEASURED)})
        self._since = time.perf_counter()


def a_run(path: Path, number: int, output: Path | None) -> tuple[list[dict[str, float]], tuple[Trial, ...]]:
    """Measure a config as a command does, its cases in shuffled order; return the times, and the trials."""
    watch = Watch()
    selection = Selection(configs=[read_config(path)], frameworks=("torch",), directions=("forward",))
    with Session(selection, Settings(), watch) as session:
        plan = session.plan()
        trials = list(plan.trials)
        random.Random(number).shuffle(trials)
        session.run(replace(plan, trials=tuple(trials)), Options(output=output))
    return watch.rows[LEFT_OUT:], plan.trials


def split(worker: Worker, trials: Sequence[Trial]) -> list[dict[str, float]]:
    """Return where the time of each trial goes, in seconds."""
    return [_one(worker, trial) for trial in trials][LEFT_OUT:]


def _one(worker: Worker, trial: Trial) -> dict[str, float]:
    times = [time.perf_counter()]
    prepared = worker.ask(Prepare(trial), 60)
    times.append(time.perf_counter())
    spent = worker.ask(Measure(prepared.handle, Settings()), 60).spent
    times.append(time.perf_counter())
    worker.ask(Release(prepared.handle), 60)
    times.append(time.perf_counter())
    preparing, measuring, message = (after - before for before, after in pairwise(times))
    inputs = prepared.spent["inputs"]
    return {
        "messages": 3 * message,
        "inputs": inputs,
        "preparation": preparing - inputs - message,
        "around the samples": measuring - sum(spent.values()) - message,
        "memory": spent.get("memory", 0.0),
        "fixed": sum((preparing, measuring, message)) - sum(spent.get(name, 0.0) for name in MEASURED),
    }


def main() -> None:
    """Measure, print and judge."""
    whole: dict[str, list[dict[str, float]]] = {"a run": [], "a run with a journal": []}
    trials: tuple[Trial, ...] = ()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tiny.json")
        config(path)
        for number in range(RUNS):
            for kind, output in zip(whole, (None, Path(folder, f"{number}.json"))):
                times, trials = a_run(path, number, output)
                whole[kind] += times
    parts: list[dict[str, float]] = []
    with start_worker(torch_side()) as worker:
        for number in range(ROUNDS):
            shuffled = list(trials)
            random.Random(number).shuffle(shuffled)
            parts += split(worker, shuffled)
    rows: list[dict[str, Any]] = [
        {"what": f"{what}, each case: {name}", "ms": 1e3 * median([one[name] for one in seen]), "cases": len(seen)}
        for what, seen in {**whole, "a worker": parts}.items()
        for name in seen[0]
    ]
    fixed = 1e3 * median([one["fixed"] for one in whole["a run"]])
    figures = {"fixed cost of a config": (fixed, 5, "ms")}
    publish("param_fixed_cost", "what a config costs beyond its samples", rows, figures)


if __name__ == "__main__":
    main()
