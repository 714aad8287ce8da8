"""Fourteen models of users, captured: what of their calls runs again, and what replays of their training steps take.

Models of torchvision, timm, transformers, flax, equinox, Gluon and ONNX, some of them with sparse gradients, nested
tensors, autocast and an operator of their own, are made from configurations, with no weights to load, in environments
of their own. Each step is captured, and each of its calls is run again from its case (`rerun.py` says how): alike, and
with a number wherever the program had one. What no case can hold counts as left out, each with its reason.

    python benchmarks/user_models.py            what runs again: ten minutes on two cores
    python benchmarks/user_models.py --times    what replays of training steps take: ten more, on a quiet machine
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import uv
from report import publish

from opperf.environment import EnvironmentSpec
from opperf.workers.interpreters import interpreter, settled
from opperf.workers.package import package_folder

HERE = Path(__file__).resolve().parent
MODELS = HERE / "user_models"
#: What is installed for the models of a framework, beside the framework as opperf has it.
REQUIREMENTS = {
    "torch": ("torch==2.13.0", "torchvision", "timm", "transformers", "numpy"),
    "jax": ("jax==0.10.2", "flax", "equinox"),
    "mxnet": (),
    "onnxruntime": (),
}
PROGRAMS = {
    "torch": (
        *(f"vision_torch.py:{name}" for name in ("resnet18", "mobilenet", "segmentation", "vit_autocast")),
        *(f"language_torch.py:{name}" for name in ("gpt2", "bert", "t5")),
        *(f"ragged_torch.py:{name}" for name in ("recommender", "nested_encoder", "policy")),
    ),
    "jax": ("networks_flax.py:training_step", "networks_equinox.py:training_step"),
    "mxnet": ("networks_gluon.py:training_step",),
}
#: Training steps that are recorded and replayed with their times.
TIMED = (
    "vision_torch.py:resnet18", "vision_torch.py:vit_autocast", "language_torch.py:gpt2", "language_torch.py:bert",
    "ragged_torch.py:recommender",
)  # fmt: skip
#: How far the sum of what operators take alone may be from what they took in the program, either way.
LEAST_RATIO, MOST_RATIO = 0.7, 1.4
#: How a model of ONNX is made and captured.
ONNX = MODELS / "encoder_onnx.py"


def python(framework: str, folder: Path) -> Path:
    """Return a Python with a framework and its models."""
    wanted = REQUIREMENTS[framework]
    if not wanted:
        return Path(interpreter(settled(EnvironmentSpec.parse("current"), framework), framework=framework))
    own = folder / framework
    command = uv.find_uv_bin()
    subprocess.run([command, "venv", "-q", "--python", sys.executable, str(own)], check=True)
    subprocess.run([command, "pip", "install", "-q", "--python", str(own), *wanted], check=True)
    return own / "bin" / "python"


def again(framework: str, program: str, path: Path) -> dict[str, Any]:
    """Return what becomes of the calls of a program."""
    done = subprocess.run(
        [str(path), str(HERE / f"rerun_{framework}.py"), str(MODELS), str(MODELS / program)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(package_folder()), str(MODELS))), "JAX_PLATFORMS": "cpu"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    (found,) = json.loads(done.stdout.splitlines()[-1])
    result: dict[str, Any] = found
    return result


def onnx_again(folder: Path) -> dict[str, Any]:
    """Return what becomes of the nodes of an ONNX model, which `opperf run` measures from the suite of a capture."""
    model, suite, output = (folder / name for name in ("encoder.onnx", "encoder.json", "measured.json"))
    subprocess.run([str(python("onnxruntime", folder)), str(ONNX), str(model)], check=True)
    opperf("capture", model, "--output", suite)
    opperf("run", "--suite", suite, "--runs", 1, "--warmup", 0, "--output", output, "--no-samples")
    written = json.loads(suite.read_text())
    records = json.loads(output.read_text())["records"]
    wrong = [record for record in records if record["status"] != "ok"]
    lacking = written.get("left_out", [])
    return {
        "calls": sum(entry["count"] for entry in (*written["cases"], *lacking)),
        "missed": len(wrong) + sum(one["count"] for one in lacking),
        "left_out": sum(one["count"] for one in lacking),
        "cases": len(records),
        "unlike": [[record["case"]["operator"], record["reason"]["message"]] for record in wrong]
        + [[one["name"], one["reason"]] for one in lacking for _ in range(one["count"])],
    }


def opperf(*words: object) -> None:
    """Run a command of opperf."""
    command = [sys.executable, "-m", "opperf", *map(str, words)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def row(framework: str, program: str, found: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the table says of a program."""
    reasons = Counter(why for _, why in found["unlike"])
    return {
        "framework": framework,
        "program": program.partition("_")[0] + " " + program.partition(":")[2],
        "calls": found["calls"],
        "cases": found["cases"],
        "run again %": 100 * (1 - found["missed"] / found["calls"]),
        "left out": found["left_out"],
        "wrong": found["missed"] - found["left_out"],
        "reasons": ", ".join(f"{count} x {why[:60]}" for why, count in reasons.most_common(3)) or "none",
    }


def capture() -> None:
    """Capture, run again, publish."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for framework, programs in PROGRAMS.items():
            path = python(framework, folder)
            for program in programs:
                found = again(framework, program, path)
                rows.append(row(framework, program, found))
                print(rows[-1], flush=True)
                for operator, why in sorted({(operator, why) for operator, why in found["unlike"]}):
                    print(f"  {operator}: {why}", flush=True)
        rows.append(row("onnxruntime", "encoder_onnx.py:encoder", onnx_again(folder)))
    wrong = sum(one["wrong"] for one in rows)
    title = f"{len(rows)} models, their captured calls run again by themselves"
    publish("user_models", title, rows, {"calls that run otherwise, or not, with no reason": (wrong, 0.0, "calls")})


def times() -> None:
    """Record training steps, replay them, publish."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = python("torch", folder)
        for program in TIMED:
            stem = str(folder / program.partition(":")[2])
            subprocess.run([str(path), str(HERE / "record_step.py"), str(MODELS / program), stem], check=True)
            opperf("replay", f"{stem}_et.json", "--kineto", f"{stem}_kineto.json", "--output", f"{stem}.json")
            found = json.loads(Path(f"{stem}.json").read_text())
            coverage = found["coverage"]
            rows.append(
                {
                    "program": program.partition(":")[2],
                    "calls": coverage["calls"],
                    "measured %": 100 * coverage["share_of_calls"],
                    "left out": coverage["left_out_calls"],
                    "recorded ms": 1e3 * coverage["recorded"],
                    "alone ms": 1e3 * coverage["standalone"],
                    "alone/recorded": coverage["ratio"],
                    "failed": sum(record["status"] == "failed" for record in found["records"]),
                }
            )
            print(rows[-1], flush=True)
    publish(
        "user_models_times",
        "training steps of users' models, replayed operator by operator",
        rows,
        {
            "the largest sum alone, of the recorded one": (max(one["alone/recorded"] for one in rows), MOST_RATIO, ""),
            "the smallest, the other way round": (
                1 / min(one["alone/recorded"] for one in rows), 1 / LEAST_RATIO, "",
            ),
            "cases that failed": (sum(one["failed"] for one in rows), 0.0, "cases"),
        },
    )  # fmt: skip


if __name__ == "__main__":
    times() if sys.argv[1:] == ["--times"] else capture()
