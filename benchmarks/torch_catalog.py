"""Where the wall time of a run of the whole catalog on PyTorch goes: how much of it is in calls that count.

Every operator at every size but the large, forward and backward, 20 samples in one process, without what PyTorch lists
beside the catalog:

    opperf run --all --skip "torch:*" --framework torch --size small --size common --size skewed --runs 20

Operators named on the command line are run alone, to see that the script works.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Mapping

from report import publish
from warm_worker import start_worker, torch_side

from opperf.catalog import SIZES, catalog
from opperf.domain.errors import OperatorFailure
from opperf.domain.measurement import Measurement, Samples
from opperf.domain.message.requests import Measure, Prepare, Release
from opperf.domain.plan import Settings, Side, Trial
from opperf.parent.planning.expand import DEFAULT_DIRECTIONS
from opperf.parent.workers.process import Worker

#: Seconds for one answer.
TIMEOUT = 120.0
SETTINGS = Settings(runs=20, processes=1)
#: The limits of the figures: minutes of wall time, and per cent of it that is not in calls that count.
MINUTES, REST = 20.0, 30.0
#: Stages whose time is in calls that count.
COUNTED = ("warm-up", "kept samples")


def trials(side: Side, names: list[str]) -> list[Trial]:
    """Return the trials of the operators that are named, or of all."""
    chosen = [operator for name, operator in catalog().items() if not names or name in names]
    sizes = [size for size in SIZES if size != "large"]
    return [
        Trial(operator.case(size), side, direction, f"catalog:{size}")
        for operator in chosen
        for size in sizes
        for direction in DEFAULT_DIRECTIONS
        if direction in operator.directions
    ]


def stages(worker: Worker, trial: Trial) -> Mapping[str, float]:
    """Return where the wall time of one trial goes, in seconds by stage."""
    start = time.perf_counter()
    try:
        prepared = worker.ask(Prepare(trial), TIMEOUT)
    except OperatorFailure:
        return {"trials without a number": time.perf_counter() - start}
    ready = time.perf_counter()
    measured = worker.ask(Measure(prepared.handle, SETTINGS), TIMEOUT)
    worker.ask(Release(prepared.handle), TIMEOUT)
    spent = measured.spent
    sampling = spent["samples"] + spent["latency"]
    kept, discarded = (_seconds(measured, clean=clean) for clean in (True, False))
    inputs, calls = prepared.spent["inputs"], prepared.spent["calls"]
    result = {
        "inputs": inputs,
        "prepare": ready - start - inputs - calls,
        "warm-up": calls + spent["warmup"],
        "kept samples": kept,
        "discarded samples": discarded,
        "between samples": sampling - kept - discarded,
        "memory": spent["memory"],
    }
    return {**result, "pipe and release": time.perf_counter() - start - sum(result.values())}


def _seconds(measured: Measurement, *, clean: bool) -> float:
    """Return the wall time of a trial's samples, those of its latency too, where it has its own."""
    latency = measured.samples("latency")
    both: list[Samples] = [measured.time, *([] if latency in (None, measured.time) else [latency])]
    return sum(sample.wall_ns for samples in both for sample in samples.samples if sample.clean == clean) / 1e9


def main(names: list[str]) -> None:
    """Run, print and publish."""
    whole: dict[str, float] = defaultdict(float)
    start = time.perf_counter()
    with start_worker(torch_side()) as worker:
        planned = trials(worker.side, names)
        whole["start"] = time.perf_counter() - start
        for trial in planned:
            for stage, seconds in stages(worker, trial).items():
                whole[stage] += seconds
    wall = time.perf_counter() - start
    rows = [{"stage": stage, "s": seconds, "%": 100 * seconds / wall} for stage, seconds in sorted(whole.items())]
    if names:
        print(*(f"{row['stage']}: {row['s']:.3f} s, {row['%']:.1f} %" for row in rows), sep="\n")
        return
    counted = sum(whole[stage] for stage in COUNTED)
    figures = {
        f"wall time of {len(planned)} trials": (wall / 60, MINUTES, "min"),
        "wall time outside kept samples and warm-up": (100 * (1 - counted / wall), REST, "%"),
    }
    publish("torch_catalog", f"The catalog on PyTorch: {len(planned)} trials in {wall:.0f} s", rows, figures)


if __name__ == "__main__":
    main(sys.argv[1:])
