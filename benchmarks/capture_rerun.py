"""Capture, then run again: how many operators of training steps run by themselves, with the same results.

For PyTorch a small residual network, a transformer encoder and the LeNet of the examples, each one step on a CPU. Every
captured call is made again from its case: with inputs of its own, whose results must have the shapes, strides and
element types of the captured call's, and with the captured tensors, whose results must be the same numbers within the
tolerance of their type. Numbers of operators that draw some, or return memory as it is, are not compared.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from report import publish

from opperf.environment import EnvironmentSpec
from opperf.workers.interpreters import interpreter, settled
from opperf.workers.package import package_folder

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests" / "processes"
PROGRAMS = {
    "residual network": f"{TESTS}/captured_models.py:residual_network",
    "transformer encoder": f"{TESTS}/captured_models.py:transformer",
    "LeNet": f"{ROOT}/examples/models/lenet_torch.py:training_step",
}


def main() -> None:
    """Run, print and publish."""
    python = interpreter(settled(EnvironmentSpec.parse("current"), "torch"), framework="torch")
    done = subprocess.run(
        [str(python), str(TESTS / "captured.py"), str(TESTS), *PROGRAMS.values()],
        env={**os.environ, "PYTHONPATH": str(package_folder())},
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [
        {
            "framework": "torch",
            "program": name,
            "calls": found["calls"],
            "cases": found["cases"],
            "run again %": 100 * (1 - len(found["unlike"]) / found["calls"]),
            "numbers compared": found["compared"],
        }
        for name, found in zip(PROGRAMS, json.loads(done.stdout))
    ]
    figures = {f"{row['program']}, not run again": (100 - float(str(row["run again %"])), 0.0, "%") for row in rows}
    publish("capture_rerun", "Captured calls, run again by themselves", rows, figures)


if __name__ == "__main__":
    main()
