"""False alarms: how often identical code is called changed, and how often a real 5 % is found.

Real extra work: the new side of `+5 %` has 5 % more rows. Every operator is compared with itself and with more rows in
the same pairs of torch processes; pairs are then dealt, without overlap, into comparisons of two stages of five. Beside
opperf's rule stand common ones, on the same pairs, which flatters them: they too get interleaved, pinned samples.

    python benchmarks/false_alarms.py [PAIRS]
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from report import publish
from warm_worker import torch_side

from opperf.analysis.verdict import Rule, confirmed, settled, sort_out
from opperf.case import Case
from opperf.comparison import PairValue
from opperf.operators import operator
from opperf.plan import Settings, Trial
from opperf.stats.significance import wilson
from opperf.workers.duel import Duel

#: Operators and the argument whose first dimension grows; 5 us to 8 ms in the common and small sizes.
OPERATORS = (
    ("add", "common"), ("exp", "common"), ("tanh", "common"), ("sum", "common"), ("softmax", "common"),
    ("layer_norm", "common"), ("gelu", "common"), ("matmul", "common"), ("conv2d", "common"), ("linear", "common"),
    ("sort", "small"), ("softmax", "small"),
)  # fmt: skip
EFFECTS = {"A/A": 1.0, "+5 %": 1.05, "+10 %": 1.10}
STAGE = 5
RULE = Rule(tolerance=0.02, pairs=STAGE)
#: Inputs whose first dimension is the batch or the rows of the output.
GROWING = ("data", "lhs")
LONG_ENOUGH = 20


def grown(case: Case, factor: float) -> Case:
    """Return a case with more rows: along the first dimension that is long enough to grow by so little."""
    inputs = dict(case.inputs)
    for name in ("lhs", "rhs") if case.operator == "add" else GROWING:
        if name not in inputs:
            continue
        shape = list(case.tensor(name).shape)
        axis = next(axis for axis, length in enumerate(shape) if length >= LONG_ENOUGH)
        shape[axis] = round(shape[axis] * factor)
        inputs[name] = replace(case.tensor(name), shape=tuple(shape))
    return replace(case, inputs=inputs)


def one_pair(number: int, found: dict[tuple[str, str], list[PairValue]]) -> None:
    """Measure every operator and effect in one pair of fresh processes."""
    generator = random.Random(number)
    side = torch_side()
    duel = Duel(side, side, Settings(memory=False), lambda _: None, generator)
    try:
        jobs = [(place, effect) for place in OPERATORS for effect in EFFECTS]
        for (name, size), effect in generator.sample(jobs, len(jobs)):
            case = operator(name).case(size)
            new = grown(case, EFFECTS[effect])
            value = duel.compare(Trial(case, side, "forward"), Trial(new, side, "forward"))
            if value.log_ratio is not None:
                found.setdefault((f"{name} {size}", effect), []).append(value)
    finally:
        duel.close()


def ours(first: Sequence[PairValue], second: Sequence[PairValue]) -> str:
    """Return opperf's verdict on one operator, from one look and a second stage."""
    ratios = [pair.log_ratio for pair in first if pair.log_ratio is not None]
    flagged, _ = sort_out({0: ratios}, 0, RULE)
    if not flagged:
        return settled(ratios, RULE).verdict
    return confirmed(ratios, [pair.log_ratio for pair in second if pair.log_ratio is not None], RULE).verdict


def moved(name: str) -> Callable[[Sequence[PairValue], Sequence[PairValue]], str]:
    """Return the rule that calls a side slower when the mean of a statistic moved by over 2.5 %."""

    def rule(first: Sequence[PairValue], second: Sequence[PairValue]) -> str:
        base = fmean(pair.base[name] for pair in first if pair.base)
        new = fmean(pair.new[name] for pair in first if pair.new)
        return "slower" if new / base > 1.025 else "faster" if new / base < 1 / 1.025 else "same"

    return rule


RULES = {"opperf": ours, "mean of medians moved 2.5 %": moved("median"), "mean of minima moved 2.5 %": moved("min")}


def main() -> None:
    """Measure, print and judge."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 80
    found: dict[tuple[str, str], list[PairValue]] = {}
    began = time.monotonic()
    for number in range(pairs):
        one_pair(number, found)
    wall = (time.monotonic() - began) / (pairs * len(OPERATORS) * len(EFFECTS))
    rows: list[dict[str, Any]] = []
    shares: dict[tuple[str, str], tuple[int, int]] = {}
    for rule, judge in RULES.items():
        for effect, factor in EFFECTS.items():
            verdicts = [
                judge(values[i : i + STAGE], values[i + STAGE : i + 2 * STAGE])
                for (_, seen), values in found.items()
                if seen == effect
                for i in range(0, len(values) - 2 * STAGE + 1, 2 * STAGE)
            ]
            called = sum(word == "slower" if factor > 1 else word in ("slower", "faster") for word in verdicts)
            low, high = wilson(called, len(verdicts))
            shares[rule, effect] = (called, len(verdicts))
            rows.append(
                {
                    "rule": rule,
                    "effect": effect,
                    "called changed %": 100 * called / len(verdicts),
                    "Wilson low %": 100 * low,
                    "Wilson high %": 100 * high,
                    "inconclusive %": 100 * verdicts.count("inconclusive") / len(verdicts),
                    "comparisons": len(verdicts),
                }
            )

    def share(effect: str) -> float:
        called, count = shares["opperf", effect]
        return 100 * called / count

    publish(
        "false_alarms",
        f"verdicts on 12 torch operators from pairs of processes; {wall:.2f} s a pair and operator, imports included",
        rows,
        {
            "false alarms": (share("A/A"), 1.0, "%"),
            "+5 % not found": (100 - share("+5 %"), 15.0, "%"),
            "+10 % not found": (100 - share("+10 %"), 2.0, "%"),
        },
    )


if __name__ == "__main__":
    main()
