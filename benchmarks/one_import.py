"""Does it favour anybody that both children of a pair come of one import? Pairs of identical code, made both ways.

    python benchmarks/one_import.py [PAIRS] [RAW]

Pairs whose children are forked from one process that has imported PyTorch, and pairs whose children import it each, by
turns on the same machine. In one of three pairs, also made both ways, the new side makes 5 % more calls. RAW holds a
line for each pair and operator. A file that is there is gone on with.
"""

from __future__ import annotations

import json
import math
import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any
from unittest.mock import patch

from placement import read, share_of_same, spread
from report import publish
from warm_worker import torch_side
from workloads import WORKLOADS

from opperf.domain.plan import EXTRA_CALLS, Settings, Trial
from opperf.parent.workers.duel import Duel

#: What is compared: operators of a few microseconds, of a second-level cache and of more than one, by memory and by
#: computing.
NAMES = ("add 256x256", "abs 256x256", "gelu 64x128", "gelu 500x1024", "sum 160x1024")
#: How the children of a pair begin, and what the new side has more of.
ONCE, EACH = "once", "each"
IDENTICAL, MORE = "identical", "5%"
KINDS = (*product((ONCE, EACH), (IDENTICAL, IDENTICAL, MORE)),)


def measure(pairs: int, raw: Path) -> None:
    """Measure pairs in turns, until there are so many identical ones of each kind."""
    generator = random.Random()
    workloads = [one for one in WORKLOADS if one.name in NAMES]
    while len(read(raw)) < pairs // 2 * len(workloads) * len(KINDS):
        for way, effect in generator.sample(KINDS, len(KINDS)):
            base = torch_side()
            new = base if effect == IDENTICAL else replace(base, settings={EXTRA_CALLS: effect})
            began = time.monotonic()
            with _imported(way):
                duel = Duel(base, new, Settings(seed=generator.randrange(1 << 30)), lambda _: None, generator)
            started = time.monotonic() - began
            with closing(duel):
                for workload in generator.sample(workloads, len(workloads)):
                    value = duel.compare(Trial(workload.case, base, "forward"), Trial(workload.case, new, "forward"))
                    line = {
                        "way": way,
                        "effect": effect,
                        "operator": workload.name,
                        "log_ratio": value.log_ratio,
                        "turn": None if value.base is None else value.base["turn"],
                        "rounds": value.rounds,
                        "starting": started,
                        "load": os.getloadavg()[0],
                    }
                    with raw.open("a") as file:
                        file.write(json.dumps(line) + "\n")
        print(f"{len(read(raw))} lines", file=sys.stderr, flush=True)


@contextmanager
def _imported(way: str) -> Iterator[None]:
    if way == ONCE:
        yield
        return
    with patch("opperf.parent.workers.duel.share_import", lambda *_: False):
        yield


def _percent(lines: Sequence[dict[str, Any]], operator: str, way: str, effect: str) -> list[float]:
    wanted = (operator, way, effect)
    mine = [line for line in lines if (line["operator"], line["way"], line["effect"]) == wanted]
    return [100 * line["log_ratio"] for line in mine if line["log_ratio"] is not None]


def row(lines: Sequence[dict[str, Any]], operator: str) -> dict[str, Any]:
    """Return what the pairs of an operator say."""
    result: dict[str, Any] = {"operator": operator}
    for way in (ONCE, EACH):
        ratios, more = (_percent(lines, operator, way, effect) for effect in (IDENTICAL, MORE))
        turns = [line["turn"] for line in lines if (line["operator"], line["way"]) == (operator, way) and line["turn"]]
        result |= {
            f"{way}: pairs": len(ratios),
            f"{way}: robust sd %": spread(ratios),
            f"{way}: sd %": stdev(ratios),
            f"{way}: mean %": fmean(ratios),
            f"{way}: its standard error %": stdev(ratios) / len(ratios) ** 0.5,
            f"{way}: same %": share_of_same(ratios, random.Random(1)),
            f"{way}: 5 % more, median %": 100 * math.expm1(median(more) / 100),
            f"{way}: level": median(turns),
        }
    return result


def main() -> None:
    """Measure what is missing, and say how far pairs scatter either way, and what they cost."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 24
    raw = Path(sys.argv[2] if len(sys.argv) > 2 else "one_import.jsonl")
    measure(pairs, raw)
    lines = read(raw)
    rows = [row(lines, name) for name in NAMES]
    starting = {way: median(line["starting"] for line in lines if line["way"] == way) for way in (ONCE, EACH)}
    wider = math.exp(fmean(math.log(one["once: robust sd %"] / one["each: robust sd %"]) for one in rows))
    bias = max(abs(one["once: mean %"]) / one["once: its standard error %"] for one in rows)
    level = max(abs(one["once: level"] / one["each: level"] - 1) for one in rows)
    load = median(line["load"] for line in lines)
    publish(
        "one_import",
        f"pairs of identical torch code, children of one import and of two, in turns, load {load:.0f} on "
        f"{os.cpu_count()} cores",
        rows,
        {
            "spread of pairs of one import over that of two, geometric mean of the operators": (wider, 1.1, ""),
            "mean of pairs of one import and one operator, in standard errors, at most": (bias, 3.0, ""),
            "time of a call in children of one import against two, at most": (100 * level, 3.0, "%"),
            "seconds to start a pair of one import over those of two": (starting[ONCE] / starting[EACH], 1.0, ""),
        },
    )


if __name__ == "__main__":
    main()
