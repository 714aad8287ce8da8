"""False alarms, coverage and what is found, of comparisons whose pairs are drawn from those that were recorded.

`false_alarms.py` measures for hours; its pairs of identical code, 7,200 of 20 operators, are drawn here instead, with a
random sign, since neither side of identical code is the base by nature: so the truth is known, and the spread and the
pairs that lie far off are those of real processes. An effect is added to each. Everything else is what `opperf compare`
does: the stages, looks and verdicts of `Comparing`, alone or in suites of all operators. What it cannot show is what
pairs of the same minutes share; that is what the measured benchmark is for.

    python benchmarks/drawn_pairs.py [COMPARISONS] [--settle] [--alone] [--start SECONDS] [--measure SECONDS]

It says nothing of other machines than the recorded one. `--start` and `--measure` are the seconds of starting a pair of
children and of one operator in it, from which wall times are reckoned; without them, pairs are counted.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from report import publish

from opperf.domain.case import Case
from opperf.domain.measurement import Measurement
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.stats.significance import wilson
from opperf.parent.analysis.verdict import MOST_PAIRS, Rule
from opperf.parent.documents.comparison import PairValue
from opperf.parent.measuring.comparing import Comparing
from opperf.parent.measuring.contest import Contest, outcome

RAW = Path(__file__).with_name("results") / "false_alarms.jsonl.gz"
EFFECTS = {"A/A": 1.0, "+2 %": 1.02, "+5 %": 1.05, "+10 %": 1.10, "twice": 2.0}
TIMES = {"min": 1e-3, "median": 1e-3, "p90": 1e-3, "turn": 1e-3}


def record(raw: Path = RAW) -> dict[str, list[float]]:
    """Return the log-ratios of all pairs of identical code, by operator."""
    result: dict[str, list[float]] = {}
    with gzip.open(raw, "rt") as lines:
        for line in map(json.loads, lines):
            if line["effect"].startswith("A/A"):
                for name, _, ratio in line["pairs"]:
                    result.setdefault(name, []).append(ratio)
    return result


class Drawn:
    """Stands for a pair of children; each comparison says one of the recorded log-ratios of its operator."""

    asked, alive = 1, True

    def __init__(self, pairs: Mapping[str, Sequence[float]], effect: float, generator: random.Random) -> None:
        self._pairs, self._effect, self._random = pairs, math.log(effect), generator
        self.facts: list[dict[str, Any]] = [{}, {}]

    def check(self, *_: object) -> None:
        """Drawn pairs compute nothing that could be wrong."""

    def compare(self, base: Trial, *_: object) -> PairValue:
        """Return a recorded log-ratio with a random sign, and the effect on top of it."""
        ratio = self._random.choice(self._pairs[base.case.operator]) * self._random.choice((-1, 1)) + self._effect
        return PairValue(ratio, TIMES, {**TIMES, "turn": TIMES["turn"] * math.exp(ratio)}, 24)

    def memory(self, *_: object) -> list[Measurement]:
        """Nothing is allocated."""
        return []

    def close(self) -> None:
        """Nothing was started."""


def _draw(pairs: Mapping[str, Sequence[float]], effect: float, generator: random.Random, *_: object) -> Drawn:
    """Return what stands for a pair, however a pair is asked for."""
    return Drawn(pairs, effect, generator)


def comparisons(
    pairs: Mapping[str, Sequence[float]], effect: float, rule: Rule, count: int, seed: int, *, alone: bool
) -> list[dict[str, Any]]:
    """Return what is said of so many comparisons of all operators, in suites of all of them or each alone."""
    generator = random.Random(seed)
    trials = [Trial(Case(name), Side("null"), "forward") for name in pairs]
    result: list[dict[str, Any]] = []
    while len(result) < count:
        for several in [[trial] for trial in trials] if alone else [trials]:
            contests = [Contest(trial, trial, trial) for trial in several]
            settings = Settings(seed=generator.randrange(1 << 30), check="none")
            duel: Callable[..., Any] = partial(_draw, pairs, effect, generator)
            Comparing(settings, rule, lambda _: None, duel=duel).run(contests)
            said = [outcome(contest) for contest in contests]
            # The pairs of processes of both stages: operators of a suite share them.
            shared = sum(max(len(one.log_ratios[stage]) for one in said) for stage in (0, 1)) / len(said)
            result += [_entry(one, effect, shared) for one in said]
    return result


def _entry(said: Any, effect: float, shared: float) -> dict[str, Any]:
    low, high = said.verdict.interval
    return {
        "operator": said.case.operator,
        "verdict": said.verdict.verdict,
        "covered": low <= effect <= high,
        "one stage": getattr(said.verdict, "confidence", 0.95) > 0.95,
        "pairs": sum(map(len, said.log_ratios)),
        "starts": shared,
    }


def row(effect: str, result: Sequence[Mapping[str, Any]], start: float, measure: float) -> dict[str, Any]:
    """Return the line of an effect."""
    words = [one["verdict"] for one in result]
    called = sum(word in (("slower", "faster") if EFFECTS[effect] == 1 else ("slower",)) for word in words)
    plain = [one["covered"] for one in result if not one["one stage"]]
    alone = [one["covered"] for one in result if one["one stage"]]
    low, high = wilson(called, len(result))
    seconds = [one["starts"] * start + one["pairs"] * measure for one in result]
    return {
        "effect": effect,
        "called changed %": 100 * called / len(result),
        "Wilson low %": 100 * low,
        "Wilson high %": 100 * high,
        "same %": 100 * words.count("same") / len(result),
        "inconclusive %": 100 * words.count("inconclusive") / len(result),
        "one stage %": 100 * len(alone) / len(result),
        "covered %": 100 * sum(plain) / max(1, len(plain)),
        "one stage covered %": 100 * sum(alone) / max(1, len(alone)),
        "pairs": sum(one["pairs"] for one in result) / len(result),
        "s an operator and side": sum(seconds) / len(seconds) / 2,
    }


def main() -> None:
    """Draw, print and judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("comparisons", nargs="?", type=int, default=20_000)
    parser.add_argument("--settle", action="store_true")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--start", type=float, default=0.0)
    parser.add_argument("--measure", type=float, default=0.0)
    given = parser.parse_args()
    pairs = record()
    rule = Rule(most=MOST_PAIRS) if given.settle else Rule()
    every = {
        effect: comparisons(pairs, factor, rule, given.comparisons, 1, alone=given.alone)
        for effect, factor in EFFECTS.items()
    }
    rows = [row(effect, result, given.start, given.measure) for effect, result in every.items()]
    alarms, wanted = rows[0]["called changed %"], 95.0 if given.settle else 85.0
    operators = [
        {"operator": name, "same %": 100 * sum(one["verdict"] == "same" for one in own) / len(own),
         "pairs": sum(one["pairs"] for one in own) / len(own)}
        for name in pairs
        if (own := [one for one in every["A/A"] if one["operator"] == name])
    ]  # fmt: skip
    name = "_".join(["drawn_pairs", *(["settle"] if given.settle else []), *(["alone"] if given.alone else [])])
    publish(
        name,
        f"{given.comparisons} comparisons of each effect from {sum(map(len, pairs.values()))} recorded pairs",
        rows,
        {
            "false alarms": (alarms, 0.25, "%"),
            "identical code that is not called the same": (100 - rows[0]["same %"], 100 - wanted, "%"),
            "coverage of the 95 % interval of identical code, away from 95": (
                abs(rows[0]["covered %"] - 95), 3.0, "%",
            ),
        },
        {"Identical code, by operator": operators},
    )  # fmt: skip


if __name__ == "__main__":
    main()
