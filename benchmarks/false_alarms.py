"""False alarms: how often identical code is called changed, and how often a real 2, 5 or 10 % is found.

A suite compares the workloads as `opperf compare` does, with its defaults, at one effect, or as identical code beside a
CPU burner. Each effect has as many suites (+2 %, which nobody promises to find at a tolerance of 2 %, a tenth of them),
in random order. In the same minutes, as often, every workload is measured by five fresh processes of the base and then
five of the new side, and the rules of other tools judge those samples. One lane runs on each CPU, so each disturbs the
other's caches; comparisons do not overlap.

    python benchmarks/false_alarms.py [--settle] [--alone] [--tolerance 1%] [--effect EFFECT ...] [SUITES] [RAW]

RAW holds a line for each suite that was compared; a file that is there is gone on with until each effect has SUITES.
With --settle, comparisons go on as with the option of that name, and no other tool's rule stands beside them. With
--alone, each operator is compared by itself, as most commands do, one after the other and on the CPUs that opperf
chooses: identical code, and +5 % a fifth as often. With --tolerance, changes from that size on are to be called, by
comparisons that are told so; the effects are +1, +2, +3 and +5 %, and no other tool's rule stands beside them. The
results of each are a file of their own.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
from load import burners
from report import publish
from scipy import stats
from warm_worker import torch_side
from workloads import BLOCK_CALLS, WORKLOADS

from opperf.domain.errors import InputError
from opperf.domain.measurement import Samples
from opperf.domain.message.requests import Prepare, Release, Turn
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.stats.order import CONFIDENCE
from opperf.domain.stats.significance import PairedTest, wilson
from opperf.domain.units import parse_percent
from opperf.parent.analysis.verdict import MOST_PAIRS, Rule
from opperf.parent.documents.comparison import PairValue
from opperf.parent.measuring.comparing import Comparing
from opperf.parent.measuring.contest import Contest, outcome
from opperf.parent.workers.duel import Duel
from opperf.parent.workers.process import Launch
from opperf.parent.workers.rounds import Patience
from opperf.parent.workers.starting import start

EFFECTS = {"A/A": 1.0, "+1 %": 1.01, "+2 %": 1.02, "+3 %": 1.03, "+5 %": 1.05, "+10 %": 1.10}
#: Those that are measured at the default tolerance, and at another one.
AT_DEFAULT, AT_ANOTHER = ("A/A", "+2 %", "+5 %", "+10 %"), ("A/A", "+1 %", "+2 %", "+3 %", "+5 %")
BURNING = "A/A beside burners"
#: The samples of one side after the other, which the rules of other tools judge.
SEQUENTIAL = "sequential"
#: What stands for each side where samples are taken one side after the other.
SEQUENTIAL_PROCESSES, SEQUENTIAL_SAMPLES = 5, 12


class Injected(Duel):
    """A duel whose new side makes more calls in a block, for workloads whose work is added by calls."""

    factor = 1.0
    log: list[tuple[str, int, float]]
    _by_calls = False

    def compare(self, base: Trial, new: Trial, patience: Patience | None = None) -> PairValue:
        """Compare, and note which side was started first."""
        self._by_calls = BY_CASE[base.case.id].by_calls
        value = super().compare(base, new, patience)
        if value.log_ratio is not None:
            self.log.append((BY_CASE[base.case.id].name, self.first, value.log_ratio))
        return value

    def _turn(self, place: int, handle: int, calls: int | None, samples: int) -> Samples:
        if not self._by_calls:
            return super()._turn(place, handle, calls, samples)
        taken = super()._turn(place, handle, round(BLOCK_CALLS * (self.factor if place else 1.0)), samples)
        return replace(taken, samples=tuple(replace(sample, calls=BLOCK_CALLS) for sample in taken.samples))


BY_CASE = {workload.case.id: workload for workload in WORKLOADS}


def suite(effect: str, seed: int, cpu: int | None, side: Side, rule: Rule) -> dict[str, Any]:
    """Compare every workload, by opperf's defaults but for the rule: each by itself unless there is a CPU for all."""
    factor = EFFECTS.get(effect, 1.0)
    log: list[tuple[str, int, float]] = []

    def duel(*arguments: Any) -> Injected:
        result = Injected(*arguments)
        result.factor, result.log = factor, log
        return result

    contests = []
    for workload in WORKLOADS:
        base = Trial(workload.case, side, "forward")
        contests.append(Contest(base, replace(base, case=workload.grown(factor)), base))
    began = time.monotonic()
    for number, together in enumerate([[contest] for contest in contests] if cpu is None else [contests]):
        settings = Settings(seed=seed + number, cpus=None if cpu is None else (cpu,))
        Comparing(settings, rule, lambda _: None, duel=duel).run(together)
    wall = time.monotonic() - began
    result = []
    for workload, contest in zip(WORKLOADS, contests):
        said = outcome(contest)
        entry = {"name": workload.name, "verdict": said.verdict.verdict, "interval": said.verdict.interval}
        result.append(
            {
                **entry,
                "stages": said.log_ratios,
                "time": said.base_time,
                "reason": said.verdict.reason,
                "confidence": said.verdict.confidence,
            }
        )
    return {"effect": effect, "wall": wall, "comparisons": result, "pairs": log}


def sequential(seed: int, cpu: int, side: Side) -> dict[str, Any]:
    """Measure the base in some fresh processes, then the new sides in some; return what the common rules say."""
    generator = random.Random(seed)

    def process(effects: Sequence[str]) -> dict[tuple[str, str], list[float]]:
        worker, _ = start(side, Launch((cpu,)), progress=lambda _: None)
        jobs = [(workload, effect) for workload in WORKLOADS for effect in effects]
        result = {}
        try:
            for workload, effect in generator.sample(jobs, len(jobs)):
                factor = EFFECTS[effect]
                trial = Trial(workload.grown(factor), side, "forward")
                handle = worker.ask(Prepare(trial), 60).handle
                calls = round(BLOCK_CALLS * factor) if workload.by_calls else None
                taken = worker.ask(Turn(handle, SEQUENTIAL_SAMPLES, calls), 60).samples
                scale = factor if workload.by_calls else 1.0
                result[workload.name, effect] = [second * scale for second in taken.seconds(clean_only=False)]
                worker.ask(Release(handle), 60)
        finally:
            worker.close()
        return result

    bases = [process(["A/A"]) for _ in range(SEQUENTIAL_PROCESSES)]
    news = [process(AT_DEFAULT) for _ in range(SEQUENTIAL_PROCESSES)]
    verdicts: dict[str, dict[str, list[str]]] = {}
    for rule, judge in PEERS.items():
        for effect in AT_DEFAULT:
            verdicts.setdefault(rule, {})[effect] = [
                judge(
                    np.concatenate([result[workload.name, "A/A"] for result in bases]),
                    np.concatenate([result[workload.name, effect] for result in news]),
                )
                for workload in WORKLOADS
            ]
    return {"effect": SEQUENTIAL, "verdicts": verdicts}


def _when(changed: bool, ratio: float) -> str:
    return "same" if not changed else "slower" if ratio > 1 else "faster"


def _mean_moved(base: Any, new: Any) -> str:
    ratio = float(new.mean() / base.mean())
    return _when(abs(ratio - 1) > 0.05, ratio)


def _mann_whitney(base: Any, new: Any) -> str:
    return _when(stats.mannwhitneyu(base, new).pvalue < 0.05, float(np.median(new) / np.median(base)))


def _student(base: Any, new: Any) -> str:
    return _when(stats.ttest_ind(base, new).pvalue < 0.05, float(new.mean() / base.mean()))


def _asv(base: Any, new: Any) -> str:
    ratio = float(np.median(new) / np.median(base))
    return _when(stats.mannwhitneyu(base, new).pvalue < 0.002 and (ratio > 1.1 or ratio < 1 / 1.1), ratio)


def _bootstrap(base: Any, new: Any) -> str:
    generator = np.random.default_rng(0)
    drawn = [np.median(generator.choice(side, (1000, side.size)), axis=1) for side in (new, base)]
    low, high = np.quantile(drawn[0] / drawn[1], (0.025, 0.975))
    return _when(low > 1 or high < 1, float(low))


PEERS: dict[str, Callable[[Any, Any], str]] = {
    "mean moved 5 %": _mean_moved,
    "pooled Mann-Whitney, p < 0.05": _mann_whitney,
    "pooled t, p < 0.05 (pyperf)": _student,
    "asv: p < 0.002 and median moved 10 %": _asv,
    "bootstrap of medians, 95 %": _bootstrap,
}


def lane(cpu: int | None, effects: Sequence[str], raw: Path, rule: Rule) -> None:
    """Run suites on one CPU, or where opperf runs them, and write a line for each."""
    side = torch_side()
    for number, effect in enumerate(effects):
        seed = random.SystemRandom().randrange(1 << 30)
        with burners(1) if effect == BURNING else nullcontext():
            if effect == SEQUENTIAL and cpu is not None:
                _write(raw, sequential(seed, cpu, side))
            else:
                _write(raw, suite(effect, seed, cpu, side, rule))
        print(f"CPU {cpu}: suite {number + 1} of {len(effects)}", file=sys.stderr, flush=True)


def missing(
    suites: int, lines: Sequence[dict[str, Any]], effects: Sequence[str], rule: Rule, *, alone: bool
) -> list[str]:
    """Return the effects whose suites are still to be run, in random order."""
    measured = Counter(line["effect"] for line in lines)
    few = {"+5 %": 5} if alone else {f"+{100 * rule.tolerance:.3g} %": 10}  # which nobody promises to find
    wanted = {effect: max(1, suites // few.get(effect, 1)) for effect in effects}
    left = [effect for effect, count in wanted.items() for _ in range(count - measured[effect])]
    return random.sample(left, len(left))


def _write(raw: Path, result: dict[str, Any]) -> None:
    with raw.open("a") as file:
        file.write(json.dumps({**result, "load": os.getloadavg()[0]}) + "\n")


def _tolerance(text: str) -> float:
    """Read the value of `--tolerance` for the parser of options, which says what is wrong with it."""
    try:
        return parse_percent(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(error.message) from error


def main() -> None:
    """Measure, print and judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suites", nargs="?", type=int, default=20)
    parser.add_argument("raw", nargs="?", type=Path)
    parser.add_argument("--settle", action="store_true")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--tolerance", type=_tolerance, default=Rule().tolerance, metavar="PERCENT")
    parser.add_argument("--effect", action="append", choices=[*EFFECTS, BURNING, SEQUENTIAL], dest="effects")
    parser.add_argument("--lane", type=int, help="the CPU of a lane, which does each effect once")
    parser.add_argument("--name", help="of the file of results, where those that are there are to stay")
    given = parser.parse_args()
    options = [option for option in ("settle", "alone") if getattr(given, option)]
    other = given.tolerance != Rule().tolerance
    words = [f"tolerance_{100 * given.tolerance:.3g}"] if other else []
    name = given.name or "_".join(["false_alarms", *options, *words])
    raw = given.raw or Path(f"{name}.jsonl")
    rule = Rule(tolerance=given.tolerance, most=MOST_PAIRS if given.settle else None)
    if given.lane is not None:
        lane(given.lane, given.effects, raw, rule)
        return
    every = [*(AT_ANOTHER if other else AT_DEFAULT), BURNING, *([] if given.settle or other else [SEQUENTIAL])]
    every = ["A/A", "+5 %"] if given.alone else every
    left = missing(given.suites, _read(raw), given.effects or every, rule, alone=given.alone)
    if given.alone:
        lane(None, left, raw, rule)
    else:
        _lanes(
            left,
            [*(f"--{option}" for option in options), f"--tolerance={given.tolerance}", str(given.suites), str(raw)],
        )
    judge(_read(raw), name, rule, alone=given.alone)


def _lanes(left: Sequence[str], words: Sequence[str]) -> None:
    """Run a lane on each CPU, and share what is left among them."""
    shares = [(cpu, left[place :: len(cpus_used())]) for place, cpu in enumerate(cpus_used())]
    lanes = [
        subprocess.Popen([sys.executable, __file__, *words, "--lane", str(cpu), *(f"--effect={one}" for one in share)])
        for cpu, share in shares
        if share
    ]
    codes = [one.wait() for one in lanes]
    if any(codes):
        sys.exit("a lane failed")


def _read(raw: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in raw.read_text().splitlines()] if raw.exists() else []


def judge(lines: Sequence[dict[str, Any]], name: str, rule: Rule, *, alone: bool) -> None:
    """Print and write the tables."""
    other = rule.tolerance != Rule().tolerance
    suites = [line for line in lines if line["effect"] != SEQUENTIAL]
    rows = _ours(suites) + _peers([line for line in lines if line["effect"] == SEQUENTIAL])
    shares = {row["effect"]: row for row in rows if row["rule"] == "opperf"}
    orders = [_bias(suites, (first,)) for first in (0, 1)]
    walls = {row["all operators"]: row["mean s"] for row in _wall_rows(suites)}
    operators = _operators(suites)
    same = [one["verdict"] == "same" for _, one in _comparisons(suites, "A/A")]
    unsettled, slowest = (5.0, 10.0) if rule.most else (15.0, 15.0) if alone else (15.0, 10.0 if other else 4.0)
    figures = {
        "identical code that is not called the same": (100 * (1 - fmean(same)), unsettled, "%"),
        "bias, base started first": (abs(orders[0]), 0.3, "%"),
        "bias, new side started first": (abs(orders[1]), 0.3, "%"),
        "operators whose 99 % interval of identical code leaves out 0": (
            sum(not row["99 % low"] <= 0 <= row["99 % high"] for row in operators), 0, "operators",
        ),
        "coverage of the 95 % interval, away from 95": (abs(_coverage(suites) - 95), 3.0, "%"),
    }  # fmt: skip
    for effect, where in (("A/A", ""), (BURNING, " beside burners")):
        if effect in shares:
            figures[f"false alarms{where}"] = (shares[effect]["called changed %"], 1.0, "%")
            # Of 100 comparisons without one the interval ends at 3.7 %.
            figures[f"false alarms{where}, Wilson upper end"] = (
                shares[effect]["Wilson high %"], 3.0 if shares[effect]["comparisons"] > 125 else 4.0, "%",
            )  # fmt: skip
    promises = (("+2 %", 10.0), ("+3 %", 10.0), ("+5 %", 10.0)) if other else (("+5 %", 15.0), ("+10 %", 2.0))
    for effect, most in promises:
        if effect in shares:
            figures[f"{effect} not found"] = (100 - shares[effect]["called changed %"], most, "%")
    slower = [(effect, f"where all are {effect[1:]} slower") for effect in (("+2 %", "+5 %") if other else ("+5 %",))]
    for effect, what in (("A/A", "identical code"), *slower):
        if effect in walls:
            figures[f"wall time of an operator and side, {what}"] = (walls[effect], slowest, "s")
    lanes = "each by itself" if alone else f"{len(cpus_used())} lanes at once"
    publish(
        name,
        f"verdicts on {len(WORKLOADS)} torch workloads at a tolerance of {rule.tolerance:.3g}; {lanes}",
        rows,
        figures,
        {
            "Identical code, by operator": operators,
            "Wall time of an operator and side, imports included": _wall_rows(suites),
            "What each number of pairs buys (identical code)": _pairs_buy(suites, fmean(_pair_seconds(suites)), rule),
            "Coverage of the reported 95 % interval": _coverage_rows(suites),
        },
    )


def cpus_used() -> list[int]:
    """Return the CPUs that lanes run on."""
    return sorted(os.sched_getaffinity(0))


def _row(rule: str, effect: str, verdicts: Sequence[str]) -> dict[str, Any]:
    slow_only = EFFECTS.get(effect, 1.0) > 1
    called = sum(word == "slower" if slow_only else word in ("slower", "faster") for word in verdicts)
    low, high = wilson(called, len(verdicts))
    return {
        "rule": rule,
        "effect": effect,
        "called changed %": 100 * called / len(verdicts),
        "Wilson low %": 100 * low,
        "Wilson high %": 100 * high,
        "inconclusive %": 100 * list(verdicts).count("inconclusive") / len(verdicts),
        "comparisons": len(verdicts),
    }


def _ours(suites: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        _row("opperf", effect, [one["verdict"] for _, one in _comparisons(suites, effect)])
        for effect in _measure(suites)
    ]


def _measure(suites: Sequence[dict[str, Any]]) -> list[str]:
    """Return the effects that were measured, in their order."""
    return [effect for effect in (*EFFECTS, BURNING) if any(line["effect"] == effect for line in suites)]


def _peers(lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        _row(rule, effect, [word for line in lines for word in line["verdicts"][rule][effect]])
        for rule in (PEERS if lines else ())
        for effect in AT_DEFAULT
    ]


def _comparisons(suites: Sequence[dict[str, Any]], *effects: str) -> list[tuple[str, dict[str, Any]]]:
    return [(line["effect"], one) for line in suites if line["effect"] in effects for one in line["comparisons"]]


def _truths(suites: Sequence[dict[str, Any]]) -> dict[tuple[str, str], float]:
    """Return the true log-ratios: known for identical code and extra calls, the mean of all pairs for extra rows."""
    truths = {}
    for workload in WORKLOADS:
        for effect in _measure(suites):
            factor = EFFECTS.get(effect, 1.0)
            pooled = [
                ratio
                for _, one in _comparisons(suites, effect)
                if one["name"] == workload.name
                for stage in one["stages"]
                for ratio in stage
            ]
            known = workload.by_calls or factor == 1.0
            truths[workload.name, effect] = float(np.log(factor)) if known else float(stats.trim_mean(pooled, 0.1))
    return truths


def _cover(suites: Sequence[dict[str, Any]], *effects: str, one_stage: bool = False) -> list[bool]:
    """Return which intervals hold the truth: those at 95 %, or the wider ones where one stage was enough."""
    truths = _truths(suites)
    return [
        bool(one["interval"][0] <= np.exp(truths[one["name"], effect]) <= one["interval"][1])
        for effect, one in _comparisons(suites, *effects)
        if one["interval"] is not None and (one.get("confidence", CONFIDENCE) > CONFIDENCE) == one_stage
    ]


def _coverage(suites: Sequence[dict[str, Any]]) -> float:
    covered = _cover(suites, *EFFECTS)
    return 100 * sum(covered) / len(covered)


def _coverage_rows(suites: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    every = {effect: _cover(suites, effect) for effect in _measure(suites)}
    for effect, covered in {**every, "one stage": _cover(suites, *EFFECTS, one_stage=True)}.items():
        if not covered:
            continue
        low, high = wilson(sum(covered), len(covered))
        rows.append(
            {
                "effect": effect,
                "covered %": 100 * sum(covered) / len(covered),
                "Wilson low %": 100 * low,
                "Wilson high %": 100 * high,
                "intervals": len(covered),
            }
        )
    return rows


def _identical(suites: Sequence[dict[str, Any]]) -> list[tuple[str, int, float]]:
    """Return the pairs of identical code, beside burners too: name, which side was started first, log-ratio."""
    return [tuple(pair) for line in suites if line["effect"] in ("A/A", BURNING) for pair in line["pairs"]]


def _bias(suites: Sequence[dict[str, Any]], firsts: Sequence[int]) -> float:
    return 100 * median(ratio for _, first, ratio in _identical(suites) if first in firsts)


def _operators(suites: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for workload in WORKLOADS:
        ratios = [ratio for name, _, ratio in _identical(suites) if name == workload.name]
        low, high = PairedTest.of(ratios).interval(0.99)
        times = [one["time"] for _, one in _comparisons(suites, "A/A") if one["name"] == workload.name]
        result = {
            effect: [one["verdict"] for _, one in _comparisons(suites, effect) if one["name"] == workload.name]
            for effect in _measure(suites)
        }
        rows.append(
            {
                "operator": workload.name,
                "us": 1e6 * median(time for time in times if time is not None),
                "pairs": len(ratios),
                "median %": 100 * median(ratios),
                "spread of pairs %": 100 * float(np.std(ratios, ddof=1)),
                "99 % low": 100 * low,
                "99 % high": 100 * high,
                "same %": 100 * result["A/A"].count("same") / len(result["A/A"]),
                **{
                    f"{effect} found": 100 * verdicts.count("slower") / len(verdicts)
                    for effect, verdicts in result.items()
                    if EFFECTS.get(effect, 1.0) > 1
                },
            }
        )
    return rows


def _wall_rows(suites: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for effect in _measure(suites):
        walls = [line["wall"] / len(WORKLOADS) / 2 for line in suites if line["effect"] == effect]
        rows.append({"all operators": effect, "mean s": fmean(walls), "most s": max(walls), "suites": len(walls)})
    return rows


def _pair_seconds(suites: Sequence[dict[str, Any]]) -> list[float]:
    """Return the wall time of a pair of one operator, imports included, in each suite."""
    return [line["wall"] / len(line["pairs"]) for line in suites if line["effect"] != BURNING and line["pairs"]]


def _pairs_buy(suites: Sequence[dict[str, Any]], seconds: float, rule: Rule) -> list[dict[str, Any]]:
    rows = []
    for count in (3, 5, 8, 12):
        halves = []
        for workload in WORKLOADS:
            ratios = [ratio for name, _, ratio in _identical(suites) if name == workload.name]
            edges = range(0, len(ratios) + 1, count)
            halves += [_half(ratios[i:j]) for i, j in pairwise(edges)]
        rows.append(
            {
                "pairs": count,
                "median half-width %": 100 * float(np.median(halves)),
                "90 % of half-widths under %": 100 * float(np.quantile(halves, 0.9)),
                f"within {100 * rule.tolerance:.3g} % of 0, share %": 100
                * float(np.mean(np.array(halves) < rule.band)),
                "s an operator and side": count * seconds / 2,
            }
        )
    return rows


def _half(ratios: Sequence[float]) -> float:
    low, high = PairedTest.of(ratios).interval()
    return (high - low) / 2


if __name__ == "__main__":
    main()
