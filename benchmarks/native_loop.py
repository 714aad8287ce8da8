"""Hold `--loop native` against calls that are written in C++, and count what it can call.

Each of 32 ATen operators of 1, 8 or 64 elements is timed from Python, by opperf's loop, and by a loop in C++ over the
call as a user of libtorch writes it. What Python adds is the first less the second, or less the third: two answers that
share only the first. Then every operator of the catalog on PyTorch, and every registered operator of MXNet, is measured
with a loop, and those that have a time without Python are counted.

    python benchmarks/native_loop.py
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from report import publish

import opperf
from opperf.catalog import catalog
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import interpreter
from opperf.parent.workers.package import package_folder

SCRIPT = Path(__file__).with_name("one_call_torch.py")


def calls() -> list[dict[str, Any]]:
    """Return a row for each operator, with what Python adds by either way and how far they are apart."""
    python = interpreter(EnvironmentSpec.parse("torch"), framework="torch")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [str(python), str(SCRIPT), folder],
            env=os.environ | {"PYTHONPATH": str(package_folder()), "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    for row in rows:
        other = row["python ns"] - row["C++ ns"]
        row["apart %"] = 100 * abs(row["python ns"] - row["native ns"] - other) / other
        row["identical"] = "yes" if row["identical"] else "no"
    return rows


def alone(rows: Sequence[Mapping[str, Any]]) -> float:
    """Return what the loop takes beside copying arguments: operators of one and of two tensors tell them apart."""
    one, two = (median(row["loop ns"] for row in rows if row["tensors"] == count) for count in (1, 2))
    return float(2 * one - two)


def coverage(framework: str, *, own: bool) -> dict[str, Any]:
    """Return how many operators that can be measured forward have a time without Python, and why others have none."""
    words: Any = None if own else [*catalog()]
    results = opperf.run(
        words, all=own, framework=framework, size="small", direction="forward", loop="native", warmup=1, runs=1,
        trial_budget=0.05, memory=False, latency=False, check=False,
    )  # fmt: skip
    records = [one for one in results.run.records if one.status == "ok" and (":" in one.trial.case.operator) == own]
    native = {one.trial.case.operator for one in records if "time_native" in one.metrics}
    names = {one.trial.case.operator for one in records}
    reasons: dict[str, int] = {}
    for one in records:
        for warning in one.warnings:
            if "Python only" in warning.message and one.trial.case.operator not in native:
                reasons[warning.message] = reasons.get(warning.message, 0) + 1
    usual = max(reasons, key=lambda reason: reasons[reason], default="")
    return {
        "framework": framework,
        "operators": "registered" if own else "catalog",
        "measured": len(names),
        "native": len(native),
        "native %": 100 * len(native) / len(names),
        "why not, mostly": usual[:100],
    }


def main() -> None:
    """Measure, print and write the results."""
    rows = calls()
    covered = [coverage("torch", own=False), coverage("mxnet", own=True), coverage("numpy", own=False)]
    publish(
        "native_loop",
        "one call by three ways",
        rows,
        {
            "loop itself": (alone(rows), 10.0, "ns"),
            "what Python adds, apart, median": (median(row["apart %"] for row in rows), 15.0, "%"),
            "what Python adds, apart, most": (max(row["apart %"] for row in rows), 15.0, "%"),
            "results that differ": (float(sum(row["identical"] == "no" for row in rows)), 0.0, ""),
            "PyTorch's of the catalog that are not native": (100 - covered[0]["native %"], 5.0, "%"),
            "MXNet's registered that are not native": (100 - covered[1]["native %"], 10.0, "%"),
        },
        {"what has a time without Python": covered},
    )


if __name__ == "__main__":
    main()
