"""How far counts of instructions can be trusted: runs of the same operator, one per cent of extra calls, and A/A.

Twenty operators on small inputs are counted by ten runs of opperf beside a burner on each core. Then each is compared
with itself in fresh processes and with other inputs each time, and 100 calls of an operator with 101 of them, by counts
alone.

    python benchmarks/instruction_counts.py [--framework numpy|torch] [--runs N] [--extra N] [--identical N]

A suite is 20 comparisons; there are suites with extra calls and of identical code. There are as many at once as cores,
since counts do not hang on the load. What is done is kept in `results/NAME.partial.jsonl`: a benchmark that was stopped
goes on where it was, and one that ends removes the file.
NumPy is the default: each process under Valgrind imports PyTorch for twenty seconds, so its benchmark takes hours.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from load import burners
from report import RESULTS, publish

import opperf
from opperf.catalog import operator
from opperf.domain.case import Case
from opperf.domain.code import Code
from opperf.domain.plan import INSTRUCTIONS, Settings, Side, Trial
from opperf.domain.stats.order import median
from opperf.domain.tensor import TensorSpec
from opperf.parent.analysis.verdict import Rule
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.measuring.comparing import Comparing
from opperf.parent.measuring.contest import Contest
from opperf.parent.workers.interpreters import choose_environment

OPERATORS = {
    "numpy": (
        *("add", "multiply", "exp", "tanh", "sqrt", "sin", "maximum", "floor", "sum", "mean"),
        *("max", "argmax", "cumsum", "sort", "matmul", "batch_matmul", "concatenate", "transpose", "where", "take"),
    ),
    "torch": (
        *("add", "multiply", "exp", "tanh", "relu", "gelu", "sigmoid", "softmax", "log_softmax", "sum"),
        *("mean", "argmax", "matmul", "batch_matmul", "linear", "conv2d", "max_pool2d", "layer_norm", "embedding"),
        "sort",
    ),
}
EXTRA_CALLS = Path(__file__).with_name("extra_calls.py")
RUNS, EXTRA, IDENTICAL = 10, 5, 20
#: The figures: how far runs may be apart, and how long twenty operators may take.
APART, SECONDS = 0.1, 60.0


@dataclass(frozen=True)
class Steps:
    """The steps of a benchmark that can be stopped, kept line by line in a file; several threads may take them."""

    path: Path
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, step: str, measure: Callable[[], Any]) -> Any:
        """Return what a step gave: now, or before the benchmark was stopped."""
        with self.lock:
            lines = self.path.read_text().splitlines() if self.path.is_file() else []
        results: dict[str, Any] = dict(json.loads(line) for line in lines)
        if step not in results:
            print(f"{time.strftime('%H:%M:%S')} {step}", flush=True)
            results[step] = measure()
            with self.lock, self.path.open("a") as file:
                file.write(json.dumps([step, results[step]]) + "\n")
        return results[step]


def count(framework: str) -> tuple[dict[str, float], float]:
    """Count every operator once; return the counts and the wall time."""
    began = time.perf_counter()
    results = opperf.run(
        list(OPERATORS[framework]), framework=framework, size="small", direction="forward", clock=INSTRUCTIONS,
        warmup=1, runs=5, trial_budget=0.05, memory=False, latency=False, check="none",
    )  # fmt: skip
    wall = time.perf_counter() - began
    return {one.trial.case.operator: one.metrics["instructions"].value for one in results.run.records}, wall


def repeat(framework: str, runs: int, steps: Steps) -> list[dict[str, Any]]:
    """Return for each operator how far apart its counts of some runs under load are."""
    with burners():
        counts = [steps.take(f"run {run}", lambda: count(framework)[0]) for run in range(runs)]
    rows = []
    for name in OPERATORS[framework]:
        several = [one[name] for one in counts]
        apart = 100 * (max(several) - min(several)) / median(several)
        rows.append({"operator": name, "instructions": median(several), "runs": runs, "apart %": apart})
    return rows


def verdicts(pairs: list[tuple[Trial, Trial]], seed: int) -> list[tuple[str, str, float | None]]:
    """Compare each pair by counts alone; return its operator, the verdict and the ratio."""
    contests = [Contest(base, new, base) for base, new in pairs]
    Comparing(Settings(seed=seed, clock=INSTRUCTIONS), Rule(), lambda _: None, timed=False).run(contests)
    said = []
    for contest in contests:
        assert contest.verdict is not None, "the comparison has ended"
        said.append((contest.base.case.operator, contest.verdict.verdict, contest.verdict.ratio))
    return said


def suites(
    what: str, pairs: list[tuple[Trial, Trial]], seed: int, count: int, steps: Steps
) -> list[tuple[str, str, float | None]]:
    """Compare the pairs so many times, each with a seed of its own, on all cores; return all verdicts."""
    tasks = {f"{what}, suite {suite}": partial(verdicts, pairs, seed + suite) for suite in range(count)}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [one for several in pool.map(steps.take, tasks, tasks.values()) for one in several]


def same(side: Side) -> list[tuple[Trial, Trial]]:
    """Return each operator beside itself."""
    trials = [Trial(operator(name).case("small"), side, "forward") for name in OPERATORS[side.framework]]
    return [(trial, trial) for trial in trials]


def extra(side: Side) -> list[tuple[Trial, Trial]]:
    """Return 100 calls of each operator beside 101."""
    pairs = []
    for name in OPERATORS[side.framework]:
        case = Case(f"calls_of_{name}", {"data": TensorSpec((32, 32))})
        base, new = (replace(side, implementation=Code(f"{EXTRA_CALLS}:{name}_{calls}")) for calls in (100, 101))
        pairs.append((Trial(case, base, "forward"), Trial(case, new, "forward")))
    return pairs


def judge(heading: str, said: list[tuple[str, str, float | None]]) -> dict[str, Any]:
    """Return a row that counts verdicts."""
    words = Counter(verdict for _, verdict, _ in said)
    ratios = [ratio for *_, ratio in said if ratio is not None]
    return {
        "comparison": heading,
        "comparisons": len(said),
        **{word: words[word] for word in ("slower", "faster", "same", "inconclusive", "failed")},
        "lowest ratio": min(ratios),
        "highest ratio": max(ratios),
    }


def main() -> None:
    """Measure, print and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--framework", choices=sorted(OPERATORS), default="numpy")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--extra", type=int, default=EXTRA, help="suites of 101 calls beside 100")
    parser.add_argument("--identical", type=int, default=IDENTICAL, help="suites of identical code")
    options = parser.parse_args()
    name = "instruction_counts" if options.framework == "numpy" else f"instruction_counts_{options.framework}"
    steps = Steps(RESULTS / f"{name}.partial.jsonl")
    # Builds the environment, and compiles what counts.
    steps.take("first run", partial(count, options.framework))
    _, wall = steps.take("20 operators", partial(count, options.framework))
    rows = repeat(options.framework, options.runs, steps)
    environment = choose_environment(EnvironmentSpec.parse("current"), options.framework).text
    side = Side(options.framework, environment=environment)
    more = suites("101 calls", extra(side), 0, options.extra, steps)
    none = suites("identical code", same(side), 1000, options.identical, steps)
    publish(
        name,
        "counts of the same operator",
        rows,
        {
            "runs apart, most": (max(row["apart %"] for row in rows), APART, "%"),
            "20 operators": (wall, SECONDS, "s"),
            "+1 % of calls that was not called slower": (sum(word != "slower" for _, word, _ in more), 0, ""),
            "identical code that was called changed": (sum(word in ("slower", "faster") for _, word, _ in none), 0, ""),
        },
        {"comparisons by counts": [judge("101 calls beside 100", more), judge("identical code", none)]},
    )
    steps.path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
