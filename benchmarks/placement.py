"""Does it help that both sides of a pair have their tensors at the same places? Pairs of identical code, both ways.

    python benchmarks/placement.py [PAIRS] [RAW]

Pairs whose places are planned, the same on both sides in each round and others in the next, and pairs in which each
side draws its own, by turns on the same machine. In one of three pairs the base is without the library that places
blocks, and the new side with it: what that costs a call. RAW holds a line for each pair and operator. A file that is
there is gone on with.
"""

from __future__ import annotations

import json
import math
import os
import random
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

from report import publish
from warm_worker import torch_side
from workloads import WORKLOADS

from opperf.domain.plan import DRAWN, PLANNED, Settings, Side, Trial
from opperf.domain.stats.significance import t_quantile
from opperf.parent.analysis.verdict import Rule
from opperf.parent.workers import placement
from opperf.parent.workers.duel import Duel

#: What is compared: the operators whose pairs scattered most, and which fit into a second-level cache.
NAMES = ("add 256x256", "abs 256x256", "gelu 64x128", "gelu 500x1024", "sum 160x1024")
#: The library on the new side alone.
COST = "cost"
#: Of how many pairs a first stage has, and how many such stages are put together of those that were measured.
PAIRS, STAGES = 12, 2000
#: How far a normal spread lies from its median absolute deviation.
ROBUST = 1.4826


def measure(pairs: int, raw: Path) -> None:
    """Measure pairs in turns, until there are so many of each kind."""
    generator = random.Random()
    workloads = [one for one in WORKLOADS if one.name in NAMES]
    while len(read(raw)) < pairs * len(workloads) * 3:
        for kind in generator.sample((PLANNED, DRAWN, COST), 3):
            base, new = _sides(kind)
            duel = Duel(base, new, Settings(seed=generator.randrange(1 << 30)), lambda _: None, generator)
            try:
                for workload in generator.sample(workloads, len(workloads)):
                    began = time.monotonic()
                    value = duel.compare(Trial(workload.case, base, "forward"), Trial(workload.case, new, "forward"))
                    line = {
                        "kind": kind,
                        "placement": value.placement,
                        "operator": workload.name,
                        "log_ratio": value.log_ratio,
                        "turn": None if value.base is None else value.base["turn"],
                        "rounds": value.rounds,
                        "seconds": time.monotonic() - began,
                        "load": os.getloadavg()[0],
                    }
                    with raw.open("a") as file:
                        file.write(json.dumps(line) + "\n")
            finally:
                duel.close()
        print(f"{len(read(raw)) // len(workloads) // 3} of {pairs} pairs", file=sys.stderr, flush=True)


def _sides(kind: str) -> tuple[Side, Side]:
    """Return two sides of one code; a library of the user's own, or the word for none, has opperf leave out its."""
    side = torch_side()
    ((name, library),) = placement.variables([side]).items()
    without = replace(side, settings={f"env.{name}": ""})
    if kind == PLANNED:
        return side, side
    return without, without if kind == DRAWN else replace(side, settings={f"env.{name}": library})


def read(raw: Path) -> list[dict[str, Any]]:
    """Return the lines that are there."""
    return [json.loads(line) for line in raw.read_text().splitlines()] if raw.exists() else []


def spread(values: Sequence[float]) -> float:
    """Return how far values lie from their median, as a standard deviation would of normal ones.

    >>> spread([1.0, 2.0, 3.0, 4.0, 100.0])
    1.4826
    """
    centre = median(values)
    return ROBUST * median(abs(value - centre) for value in values)


def share_of_same(values: Sequence[float], generator: random.Random) -> float:
    """Return how often, in percent, twelve of these pairs show that both sides are the same within the tolerance.

    >>> share_of_same([0.1, -0.1, 0.3], random.Random(1)), share_of_same([9.0, -9.0, 5.0], random.Random(1))
    (100.0, 0.0)
    """
    width, within = t_quantile(0.975, PAIRS - 1) / math.sqrt(PAIRS), 0
    for _ in range(STAGES):
        stage = generator.choices(values, k=PAIRS)
        within += abs(fmean(stage)) + width * stdev(stage) < 100 * Rule().band
    return 100 * within / STAGES


def _ratios(lines: Iterable[dict[str, Any]], operator: str, kind: str) -> list[float]:
    mine = [line for line in lines if line["operator"] == operator and line["kind"] == kind]
    return [100 * line["log_ratio"] for line in mine if line["log_ratio"] is not None]


def row(lines: Sequence[dict[str, Any]], operator: str) -> dict[str, Any]:
    """Return what the pairs of an operator say."""
    drawn_ones, planned, cost = (_ratios(lines, operator, kind) for kind in (DRAWN, PLANNED, COST))
    level = {
        kind: median(line["turn"] for line in lines if line["operator"] == operator and line["kind"] == kind)
        for kind in (DRAWN, PLANNED)
    }
    return {
        "operator": operator,
        "pairs": len(planned),
        "drawn: robust sd %": spread(drawn_ones),
        "planned: robust sd %": spread(planned),
        "drawn: sd %": stdev(drawn_ones),
        "planned: sd %": stdev(planned),
        "drawn: same %": share_of_same(drawn_ones, random.Random(1)),
        "planned: same %": share_of_same(planned, random.Random(1)),
        "planned: mean %": fmean(planned),
        "its standard error %": stdev(planned) / len(planned) ** 0.5,
        "with against without %": median(cost),
        "planned against drawn, level %": 100 * (level[PLANNED] / level[DRAWN] - 1),
    }


def main() -> None:
    """Measure what is missing, and say how far pairs scatter either way."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    raw = Path(sys.argv[2] if len(sys.argv) > 2 else "placement.jsonl")
    measure(pairs, raw)
    lines = read(raw)
    rows = [row(lines, name) for name in NAMES]
    less = math.exp(fmean(math.log(one["planned: sd %"] / one["drawn: sd %"]) for one in rows))
    same = fmean(one["planned: same %"] for one in rows)
    bias = max(abs(one["planned: mean %"]) / one["its standard error %"] for one in rows)
    load = median(line["load"] for line in lines)
    publish(
        "placement",
        f"pairs of identical torch code, in turns, load {load:.0f} on {os.cpu_count()} cores",
        rows,
        {
            "spread of planned pairs over that of drawn ones, geometric mean of the operators": (less, 0.8, ""),
            "identical code that twelve planned pairs do not call the same": (100 - same, 10.0, "%"),
            "the mean of planned pairs of one operator, in standard errors, at most": (bias, 3.0, ""),
        },
    )


if __name__ == "__main__":
    main()
