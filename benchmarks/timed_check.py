"""What the check of timed calls costs an honest function: the time of a command with it and without it, by turns.

Eight functions of the user's own, from 5 us to 50 ms in NumPy and in PyTorch, are measured by `opperf run`, and one of
each framework is compared by `opperf compare` with the framework's own operator; each with `--check timed` and with
`--check none`, in random order. The figures are the medians over all functions of the ratio of both: of what a command
takes, by the clock and of the CPUs (which other work on the machine changes less), and of the times that it measures.

    python benchmarks/timed_check.py [RUNS [FUNCTION...]]

Three runs of everything take about three and a half minutes on a quiet machine.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from report import publish

#: Functions that compute what an operator of the catalog does, so that they are held against the framework's own.
CODE = """
import {module}
import opperf

@opperf.operator(implements="{operator}", arguments={{"x": "data"}})
def f(x):
    return {expression}
"""
#: By name: framework, operator, expression, shape of the input.
FUNCTIONS = {
    "numpy 5 us": ("numpy", "exp", "numpy.exp(x)", "4x1024"),
    "numpy 50 us": ("numpy", "exp", "numpy.exp(x)", "48x1024"),
    "numpy 2 ms": ("numpy", "exp", "numpy.exp(x)", "1800x1024"),
    "numpy 50 ms": ("numpy", "sort", "numpy.sort(x, axis=-1)", "2048x1024"),
    "torch 5 us": ("torch", "exp", "torch.exp(x)", "8x1024"),
    "torch 50 us": ("torch", "softmax", "torch.softmax(x, -1)", "64x1024"),
    "torch 2 ms": ("torch", "softmax", "torch.softmax(x, -1)", "2048x1024"),
    "torch 50 ms": ("torch", "softmax", "torch.softmax(x.double().exp().log(), -1).float()", "2048x1024"),
}
#: Those that are compared too, each in so many pairs.
COMPARED, PAIRS = ("numpy 50 us", "torch 2 ms"), 3
CHECKS = ("timed", "none")
#: The most time that the check may add, as a ratio, and the most by which measured times may differ.
MOST, MOST_APART = 1.10, 0.03


def call(words: Sequence[str], folder: Path) -> dict[str, Any]:
    """Run a command; return its seconds by the clock and of the CPUs, and its document."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    command = [sys.executable, "-m", "opperf", *words, "--direction", "forward", "--format", "json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=dict(os.environ))
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    cpu = sum(getattr(after, name) - getattr(before, name) for name in ("ru_utime", "ru_stime"))
    return {"wall": wall, "cpu": cpu, "document": json.loads(done.stdout)}


def run(name: str, check: str, folder: Path) -> dict[str, float]:
    """Return what `opperf run` of a function takes, and what it measures."""
    framework, _, _, shape = FUNCTIONS[name]
    words = ["run", f"{name.replace(' ', '_')}.py:f", "--framework", framework, "--input", f"x={shape}"]
    result = call([*words, "--check", check], folder)
    (record,) = result.pop("document")["records"]
    if record["status"] != "ok":
        sys.exit(f"{name}: {record['reason']}")
    return {**result, "time": record["metrics"]["time"]["median"]}


def compare(name: str, check: str, folder: Path) -> dict[str, float]:
    """Return what `opperf compare` of a function with the framework's own operator takes, and the ratio."""
    framework, operator, _, shape = FUNCTIONS[name]
    new = f"{name.replace(' ', '_')}.py:f;framework={framework}"
    words = ["compare", operator, "--input", f"data={shape}", "--base", framework, "--new", new]
    result = call([*words, "--pairs", str(PAIRS), "--check", check], folder)
    (comparison,) = result.pop("document")["comparisons"]
    if comparison["verdict"] == "failed":
        sys.exit(f"{name}: {comparison}")
    return {**result, "time": comparison["ratio"]}


def main(runs: int, names: Sequence[str]) -> None:
    """Measure and publish."""
    jobs = [(run, name) for name in names] + [(compare, name) for name in COMPARED if name in names]
    results: dict[tuple[str, str, str], list[dict[str, float]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        for name, (framework, operator, expression, _) in FUNCTIONS.items():
            code = CODE.format(module=framework, operator=operator, expression=expression)
            (folder / f"{name.replace(' ', '_')}.py").write_text(code)
        for number in range(runs):
            for measure, name in jobs if number == 0 else [job for job in jobs if job[0] is run]:
                for check in random.sample(CHECKS, 2):
                    results[measure.__name__, name, check].append(measure(name, check, folder))
    rows: list[dict[str, Any]] = []
    for measure, name in jobs:
        timed, none = (results[measure.__name__, name, check] for check in CHECKS)
        ratios = {
            what: min(one[what] for one in timed) / min(one[what] for one in none) for what in ("wall", "cpu", "time")
        }
        rows.append({"command": measure.__name__, "function": name, "runs": len(timed), **ratios})
    figures = {
        f"{what} of a command with the check, to that without": (median([row[what] for row in rows]), MOST, "times")
        for what in ("wall", "cpu")
    }
    apart = median([abs(row["time"] - 1) for row in rows])
    publish(
        "timed_check",
        "the check of timed calls, as a ratio to none: the least of some runs",
        rows,
        {**figures, "measured times differ by": (apart, MOST_APART, "of them")},
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3, sys.argv[2:] or list(FUNCTIONS))
