"""Rounds or pairs? What the time of a comparison buys best, operator by operator, of identical code.

A pair of processes takes rounds, and its log-ratio is their centre. Rounds scatter within a pair, and pairs scatter
beyond what rounds explain. More rounds are cheap and help against the first alone; another pair helps against both, and
costs two imports. Kalibera and Jones (Rigorous benchmarking in reasonable time, ISMM 2013) give the number of rounds
that reaches a given width at the least cost: sqrt(cost of a pair / cost of a round x s_r^2 / s_p^2), with s_r^2 the
variance of rounds and s_p^2 that of pairs, less what rounds add to it. That is for many pairs: of few, the quantile of
Student's t falls steeply and their number is whole, so the cheapest number is looked for as well. Rounds are taken to
be independent.

    python benchmarks/rounds_or_pairs.py [PAIRS] [RAW]

RAW holds a line for each pair and operator: the log-ratio of each round in order, and what it took. A file that is
there is gone on with until each operator has PAIRS. Every pair takes the most rounds that a comparison may, so that the
first 24 of them, which is what comparisons take, can be told from all.
"""

from __future__ import annotations

import json
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, variance
from typing import Any

from report import publish
from warm_worker import torch_side
from workloads import WORKLOADS

from opperf.domain.plan import Settings, Trial
from opperf.domain.stats.order import centre
from opperf.domain.stats.significance import PairedTest, t_quantile
from opperf.parent.analysis.verdict import Rule
from opperf.parent.workers.duel import Duel
from opperf.parent.workers.rounds import MOST_ROUNDS, ROUNDS, Patience

#: A pair that has this much patience ends with its most rounds; of slow operators it is the time that ends it.
PATIENCE = Patience(20.0, 0.0)
#: Fewest and most rounds that are looked at: the centre of fewer is no estimate, and more do not end in a useful time.
LEAST, MOST = 6, 192
#: Share of the rounds at either end that their variance leaves out.
TRIM = 0.1
#: Fewer pairs tell nothing of how they scatter.
LEAST_PAIRS = 5


def measure(pairs: int, raw: Path) -> None:
    """Measure pairs until each operator has so many, all operators in each pair, and write a line for each."""
    side, generator = torch_side(), random.Random()
    while True:
        count = Counter(line["name"] for line in read(raw))
        left = [workload for workload in WORKLOADS if count[workload.name] < pairs]
        if not left:
            return
        began = time.monotonic()
        duel = Duel(side, side, Settings(seed=generator.randrange(1 << 30)), lambda _: None, generator)
        start = (time.monotonic() - began) / len(left)
        try:
            for workload in generator.sample(left, len(left)):
                trial = Trial(workload.case, side, "forward")
                began = time.monotonic()
                # The rounds themselves, which `compare` makes one value of.
                rounds = duel._rounds(trial, trial, PATIENCE)
                seconds = time.monotonic() - began
                ratios = [_log_ratio(base.seconds(), new.seconds()) for base, new in rounds]
                line = {"name": workload.name, "ratios": ratios, "seconds": seconds, "start": start}
                with raw.open("a") as file:
                    file.write(json.dumps(line) + "\n")
        finally:
            duel.close()
        print(f"{min(count[one.name] for one in left) + 1} of {pairs} pairs", file=sys.stderr, flush=True)


def _log_ratio(base: Sequence[float], new: Sequence[float]) -> float | None:
    """Return the log-ratio of a round as a comparison takes it, None where one side has no clean sample."""
    count = min(len(base), len(new))
    return math.log(min(new[:count]) / min(base[:count])) if count else None


def read(raw: Path) -> list[dict[str, Any]]:
    """Return the lines that are there."""
    return [json.loads(line) for line in raw.read_text().splitlines()] if raw.exists() else []


def optimum(of_rounds: float, of_pairs: float, round_cost: float, pair_cost: float) -> int:
    """Return the rounds of a pair at which a width costs least, given the variances and costs of both.

    >>> optimum(1.0, 1.0, 0.0018, 0.23), optimum(16.0, 1.0, 0.0018, 0.23), optimum(1.0, 0.0, 0.0018, 0.23)
    (11, 45, 192)
    """
    best = math.sqrt(pair_cost / round_cost * of_rounds / of_pairs) if of_pairs > 0 else math.inf
    return round(min(MOST, max(LEAST, best)))


def pairs_needed(spread: float, width: float) -> int:
    """Return how many pairs of that spread have a 95 % interval no wider than `width` on either side.

    >>> pairs_needed(0.01, math.log1p(0.02)), pairs_needed(0.05, math.log1p(0.02))
    (4, 27)
    """
    return next((k for k in range(3, 1000) if t_quantile(0.975, k - 1) * spread / math.sqrt(k) <= width), 1000)


def _variance(ratios: Sequence[float]) -> float:
    """Return the variance of one round, as the error of a centre of many has it, which a few far off hardly move."""
    return PairedTest.of_trimmed_mean(ratios, TRIM).error ** 2 * len(ratios)


def row(name: str, lines: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what the pairs of one operator say: variances, costs, and rounds and pairs that cost least."""
    several = [[ratio for ratio in line["ratios"] if ratio is not None] for line in lines]
    several = [ratios for ratios in several if len(ratios) >= LEAST]
    costs = [line["seconds"] / len(line["ratios"]) for line in lines]
    round_cost, pair_cost = fmean(costs), fmean(line["start"] for line in lines)
    of_rounds = fmean(_variance(ratios) for ratios in several)
    # What rounds add is taken off, at the number that each pair had.
    counts = fmean(1 / len(ratios) for ratios in several)
    between = variance([centre(ratios) for ratios in several])
    of_pairs = max(0.0, between - of_rounds * counts)

    def cost(rounds: int) -> tuple[int, float]:
        pairs = pairs_needed(math.sqrt(of_pairs + of_rounds / rounds), Rule().band)
        return pairs, pairs * (pair_cost + rounds * round_cost)

    cheapest = min(range(LEAST, MOST + 1), key=lambda rounds: cost(rounds)[1])
    usual, best = cost(ROUNDS), cost(cheapest)
    first = [centre(ratios[:ROUNDS]) for ratios in several if len(ratios) >= ROUNDS]
    return {
        "operator": name,
        "pairs": len(several),
        "round ms": 1e3 * round_cost,
        "start ms": 1e3 * pair_cost,
        "s_r %": 100 * math.sqrt(of_rounds),
        "s_p %": 100 * math.sqrt(of_pairs),
        f"spread at {ROUNDS} rounds %": 100 * math.sqrt(variance(first)) if len(first) >= LEAST_PAIRS else math.nan,
        "by the model %": 100 * math.sqrt(of_pairs + of_rounds / ROUNDS),
        "rounds by formula": optimum(of_rounds, of_pairs, round_cost, pair_cost),
        "cheapest rounds": cheapest,
        f"pairs at {ROUNDS}": usual[0],
        "pairs at cheapest": best[0],
        f"s at {ROUNDS}": usual[1],
        "s at cheapest": best[1],
    }


def main() -> None:
    """Measure what is missing, and say what would have been the best use of the time."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    raw = Path(sys.argv[2] if len(sys.argv) > 2 else "rounds_or_pairs.jsonl")
    measure(pairs, raw)
    lines = read(raw)
    rows = [row(one.name, [line for line in lines if line["name"] == one.name]) for one in WORKLOADS]
    usual, best = (sum(one[f"s at {name}"] for one in rows) for name in (str(ROUNDS), "cheapest"))
    worst = max((one[f"spread at {ROUNDS} rounds %"] / one["by the model %"] for one in rows), default=math.nan)
    publish(
        "rounds_or_pairs",
        f"identical code, {len(rows)} torch workloads, up to {MOST_ROUNDS} rounds a pair; width: the tolerance of 2 %",
        rows,
        {
            "time at the cheapest rounds, over that at the usual ones": (best / usual, 1.0, "times"),
            "spread of pairs at the usual rounds, over that of the model, at most": (worst, 1.5, "times"),
        },
    )


if __name__ == "__main__":
    main()
