"""Does other work on the machine bend a ratio? Memory-bound and random-access operators, beside streams and without.

    python benchmarks/bent_by_load.py [PAIRS] [RAW]

The new side has 5 % more rows than the base. Pairs beside processes that copy far more than a cache holds, on all
CPUs, and pairs without them, by turns: what differs between their means is what the neighbours add to a ratio, or
take from it, whatever the rows themselves cost. RAW holds a line for each pair; a file that is there is gone on with.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from load import streams
from report import publish
from warm_worker import torch_side
from workloads import Workload

from opperf.catalog import operator
from opperf.domain.case import Case
from opperf.domain.plan import Settings, Trial
from opperf.domain.tensor import TensorSpec
from opperf.parent.analysis.verdict import paired_test
from opperf.parent.workers.duel import Duel
from opperf.parent.workers.rounds import Patience

FACTOR = 1.05
QUIET, BESIDE = "quiet", "beside streams"
#: By how much neighbours may move a ratio, in percent: a fifth of what was planted. Results have less than 32 MB: above
#: that, the C library maps memory anew for each call, and a few rows more cost several times as much.
MOST = 1.0


def _case(name: str, *, attributes: dict[str, Any] | None = None, **inputs: TensorSpec) -> Case:
    case = operator(name).case("common")
    return replace(case, inputs={**case.inputs, **inputs}, attributes={**case.attributes, **(attributes or {})})


def _indices(rows: int, columns: int, most: int) -> TensorSpec:
    return TensorSpec((rows, columns), "int64", range=(0, most))


#: What was seen to read too high beside heavy load: random access to more than a cache holds, a stream from main
#: memory, and an interpolation; and a product, which hardly waits for memory.
WORKLOADS = (
    Workload("add 100x60000", _case("add", lhs=TensorSpec((100, 60000)), rhs=TensorSpec((100, 60000))), ("lhs", "rhs")),
    Workload(
        "take from 64 MB",
        _case("take", data=TensorSpec((16_000_000,)), indices=_indices(100, 2000, 16_000_000)),
        ("indices",),
    ),
    Workload(
        "embedding from 122 MB",
        _case("embedding", indices=_indices(100, 40, 120_000), weight=TensorSpec((120_000, 256))),
        ("indices",),
    ),
    Workload(
        "image_resize_bilinear 100x3x64x64",
        _case("image_resize_bilinear", data=TensorSpec((100, 3, 64, 64)), attributes={"size": (100, 100)}),
        ("data",),
    ),
    Workload("matmul 400x512x512", _case("matmul", lhs=TensorSpec((400, 512)), rhs=TensorSpec((512, 512))), ("lhs",)),
)


def measure(pairs: int, raw: Path) -> None:
    """Measure pairs in turns, until there are so many of each kind."""
    generator, side = random.Random(), torch_side()
    while len(read(raw)) < 2 * pairs * len(WORKLOADS):
        for kind in generator.sample((QUIET, BESIDE), 2):
            with streams() if kind == BESIDE else nullcontext():
                duel = Duel(side, side, Settings(seed=generator.randrange(1 << 30)), lambda _: None, generator)
                try:
                    for workload in generator.sample(WORKLOADS, len(WORKLOADS)):
                        base = Trial(workload.case, side, "forward")
                        value = duel.compare(base, replace(base, case=workload.grown(FACTOR)), Patience(seconds=1.0))
                        line = {
                            "kind": kind,
                            "operator": workload.name,
                            "log_ratio": value.log_ratio,
                            "turn": value.base and value.base["turn"],
                            "clock": value.clock,
                            "rounds": value.rounds,
                            "load": os.getloadavg()[0],
                        }
                        with raw.open("a") as file:
                            file.write(json.dumps(line) + "\n")
                finally:
                    duel.close()
        print(f"{len(read(raw)) // len(WORKLOADS) // 2} of {pairs} pairs", file=sys.stderr, flush=True)


def read(raw: Path) -> list[dict[str, Any]]:
    """Return the lines that are there."""
    return [json.loads(line) for line in raw.read_text().splitlines()] if raw.exists() else []


def _ratios(lines: Iterable[dict[str, Any]], name: str, kind: str) -> list[float]:
    mine = [line for line in lines if line["operator"] == name and line["kind"] == kind]
    return [line["log_ratio"] for line in mine if line["log_ratio"] is not None]


def row(lines: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    """Return what the pairs of an operator say, in percent."""
    result: dict[str, Any] = {"operator": name}
    tests = {}
    for kind in (QUIET, BESIDE):
        ratios = _ratios(lines, name, kind)
        test = tests[kind] = paired_test(ratios)
        times = [line["turn"] for line in lines if line["operator"] == name and line["kind"] == kind and line["turn"]]
        by_cpu = [line["clock"] == "cpu" for line in lines if line["operator"] == name and line["kind"] == kind]
        result |= {
            f"{kind}: pairs": len(ratios),
            f"{kind}: call, us": 1e6 * fmean(times),
            f"{kind}: by CPU time %": 100 * fmean(by_cpu),
            f"{kind}: effect %": 100 * test.mean,
            f"{kind}: sd %": 100 * stdev(ratios),
        }
    error = sum(((test.interval(0.95)[1] - test.mean) / 1.96) ** 2 for test in tests.values()) ** 0.5
    bent = tests[BESIDE].mean - tests[QUIET].mean
    return result | {
        "bent by %": 100 * bent,
        "from %": 100 * (bent - 1.96 * error),
        "to %": 100 * (bent + 1.96 * error),
    }


def main() -> None:
    """Measure and publish."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    raw = Path(sys.argv[2] if len(sys.argv) > 2 else "bent_by_load.jsonl")
    measure(pairs, raw)
    lines = read(raw)
    rows = [row(lines, workload.name) for workload in WORKLOADS]
    figures = {f"ratio of {one['operator']} moved by neighbours": (abs(one["bent by %"]), MOST, "%") for one in rows}
    publish("bent_by_load", "what processes that stream through memory do to a ratio of 1.05", rows, figures)


if __name__ == "__main__":
    main()
