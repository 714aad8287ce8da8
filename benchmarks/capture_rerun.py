"""Capture, then run again: how many operators of training steps run by themselves, with the same results.

Each step is captured in its framework's own environment, on a CPU, and each of its operators is called again from its
case: `rerun.py` says how, and what is compared.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from report import publish
from rerun import BITS, NUMBERS

from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment, interpreter
from opperf.parent.workers.package import package_folder

HERE = Path(__file__).parent
TESTS = HERE.parent / "tests" / "processes"
MODELS = HERE.parent / "examples" / "models"
STEPS = HERE / "capture_rerun_models"
PROGRAMS = {
    "torch": {
        "residual network": f"{TESTS}/captured_models.py:residual_network",
        "transformer encoder": f"{TESTS}/captured_models.py:transformer",
        "LeNet": f"{MODELS}/lenet_torch.py:training_step",
    },
    "mxnet": {
        "LeNet": f"{MODELS}/lenet_mxnet.py:training_step",
        "LeNet, hybridized": f"{TESTS}/captured_models_mxnet.py:lenet_hybridized",
    },
    "jax": {
        "dense layers": f"{STEPS}/mlp_jax.py:training_step",
        "transformer encoder": f"{STEPS}/transformer_jax.py:training_step",
        "LeNet": f"{MODELS}/lenet_jax.py:training_step",
    },
    "tensorflow": {
        "LeNet": f"{MODELS}/lenet_tensorflow.py:training_step",
        "Keras CNN with Adam": f"{STEPS}/cnn_keras.py:training_step",
    },
}


def again(framework: str) -> list[dict[str, Any]]:
    """Return what the environment of a framework finds of its programs."""
    python = interpreter(choose_environment(EnvironmentSpec.parse("current"), framework), framework=framework)
    done = subprocess.run(
        [str(python), str(HERE / f"rerun_{framework}.py"), str(HERE), *PROGRAMS[framework].values()],
        env={**os.environ, "PYTHONPATH": str(package_folder()), "JAX_PLATFORMS": "cpu"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    result: list[dict[str, Any]] = json.loads(done.stdout)
    return result


def row(framework: str, program: str, result: dict[str, Any]) -> dict[str, Any]:
    """Return what the table says of a program."""
    numbers: dict[str, int] = result["numbers"]
    left = [f"{count} {why}" for why, count in numbers.items() if why not in (BITS, NUMBERS)]
    return {
        "framework": framework,
        "program": program,
        "calls": result["calls"],
        "run again %": 100 * (1 - result["missed"] / result["calls"]),
        "cases": result["cases"],
        BITS: numbers.get(BITS, 0),
        NUMBERS: numbers.get(NUMBERS, 0),
        "not compared": ", ".join(left) or "none",
    }


def main() -> None:
    """Run, print and publish."""
    rows = []
    figures = {}
    for framework, programs in PROGRAMS.items():
        for program, result in zip(programs, again(framework)):
            for name, why in result["unlike"]:
                print(f"{framework}, {program}: {name}: {why}")
            rows.append(row(framework, program, result))
            figures[f"{framework}, {program}: not run again"] = (100 * result["missed"] / result["calls"], 0.0, "%")
    publish("capture_rerun", "Captured calls, run again by themselves", rows, figures)


if __name__ == "__main__":
    main()
