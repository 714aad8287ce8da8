"""What the profiler costs: imported and idle, beside a script without it; on, beside the framework's own profiler.

Ratios are of neighbours in time, in alternating order, so that a machine that slows down does not decide.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path
from typing import Any

from report import publish

from opperf.domain.stats.order import median
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment, interpreter
from opperf.parent.workers.package import package_folder

STEPS = Path(__file__).with_name("profiled_steps.py")
#: Pairs of scripts, and how many steps each has: some seconds, the import of PyTorch included.
PAIRS, SCRIPT_STEPS = 15, 500
ROUNDS = 30
FRAMEWORKS = ("torch", "mxnet")


def said(framework: str, *words: object) -> Any:
    """Return what the script prints in a framework's environment."""
    python = interpreter(choose_environment(EnvironmentSpec.parse("current"), framework), framework=framework)
    command = [str(python), "-W", "ignore", str(STEPS), *map(str, words)]
    variables = {"PYTHONPATH": str(package_folder()), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=os.environ | variables, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def idle() -> list[float]:
    """Return for each pair of scripts how much longer the one takes that imports the profiler, as a ratio."""
    result = []
    for _ in range(PAIRS):
        kinds = random.sample(("idle", "without"), 2)
        took = {kind: said("torch", kind, SCRIPT_STEPS) for kind in kinds}
        result.append(took["idle"] / took["without"])
    return result


def main() -> None:
    """Measure, print and judge."""
    random.seed(0)
    ratios = {
        "CPU time of a script: imported and idle, to without": idle(),
        **{f"{name}: on, to its own profiler": [ours / own for ours, own in said(name, name, ROUNDS)]
           for name in FRAMEWORKS},
    }  # fmt: skip
    rows = [
        {"what": what, "median": median(result), "least": min(result), "most": max(result), "pairs": len(result)}
        for what, result in ratios.items()
    ]
    limits = (1.01, *(1.3 for _ in FRAMEWORKS))
    publish(
        "profiler_overhead",
        "what the profiler costs",
        rows,
        {what: (median(result), limit, "times") for (what, result), limit in zip(ratios.items(), limits)},
    )


if __name__ == "__main__":
    main()
