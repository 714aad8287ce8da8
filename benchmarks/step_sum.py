"""A training step beside the sum of its operators, each measured by itself: in PyTorch, MXNet and JAX.

The step of `examples/models/lenet_*.py` is captured, which times it unwatched; then every operator of it is measured as
a suite, on one thread as the step was. Both come anew in each round, and the round in the middle is shown. What a sum
outside of 0.7 to 1.3 of the step means, the report of the run says below its table, and so does a row here.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from report import publish

from opperf.domain.record import Run
from opperf.parent.reports.remarks import shares
from opperf.parent.store.documents import read_run

MODELS = Path(__file__).resolve().parents[1] / "examples" / "models"
FRAMEWORKS = ("torch", "mxnet", "jax")
ROUNDS = 3
#: How far the sum may be from the step, as a part of the step.
MOST_APART = 0.3


def opperf(*words: object) -> None:
    """Run a command of opperf, which prints to nobody."""
    command = [sys.executable, "-m", "opperf", *map(str, words)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def measure(framework: str, folder: Path) -> Run:
    """Return the operators of a step, captured and measured."""
    suite, result = folder / "suite.json", folder / "result.json"
    step = f"{MODELS / f'lenet_{framework}.py'}:training_step"
    opperf("capture", step, "--framework", framework, "--output", suite, "--force")
    opperf("run", "--suite", suite, "--framework", framework, "--output", result, "--force")
    return read_run(result)


def row(run: Run) -> dict[str, Any]:
    """Return the sum of the operators that have a time, beside the step."""
    known = [record for record in run.records if record.total is not None]
    step = run.environment["suite"]["program"]["time"]
    total = sum(record.total or 0.0 for record in known)
    (said,) = shares(run)
    return {
        "framework": known[0].trial.side.framework,
        "cases": len(run.records),
        "calls": sum(record.trial.count for record in run.records),
        "measured calls": sum(record.trial.count for record in known),
        "step ms": 1e3 * step,
        "sum ms": 1e3 * total,
        "sum/step": total / step,
        "what the report says": said.rpartition(" of it")[2].removeprefix(". ") or "none",
    }


def ratio(result: dict[str, Any]) -> float:
    """Return the sum as a part of the step."""
    return float(result["sum/step"])


def main() -> None:
    """Capture, measure, publish."""
    shown = []
    with tempfile.TemporaryDirectory() as folder:
        for framework in FRAMEWORKS:
            rounds = sorted((row(measure(framework, Path(folder))) for _ in range(ROUNDS)), key=ratio)
            least, most = ratio(rounds[0]), ratio(rounds[-1])
            shown.append({**rounds[ROUNDS // 2], "least": least, "most": most})
    publish(
        "step_sum",
        "a training step beside the sum of its operators",
        shown,
        {f"{one['framework']}: the sum, from the step": (abs(ratio(one) - 1), MOST_APART, "of it") for one in shown},
    )


if __name__ == "__main__":
    main()
