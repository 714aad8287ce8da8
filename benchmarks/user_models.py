"""Fourteen models of users, captured: what of their calls runs again, and what replays of their training steps take.

Models of torchvision, timm, transformers, flax, equinox, Gluon and ONNX, some of them with sparse gradients, nested
tensors, autocast and an operator of their own, are made from configurations, with no weights to load, in environments
of their own. Each step is captured, and each of its calls is run again from its case (`rerun.py` says how): alike, and
with a number wherever the program had one. What no case can hold counts as left out, each with its reason. Training
steps of PyTorch are also recorded and replayed: each case is called once, and must find a number wherever the step did.
With `--times`, larger ones are replayed with their times.

    python benchmarks/user_models.py                    what runs again, and what replays find
    python benchmarks/user_models.py --times [NAME...]  what replays of five steps, or of these, take

The first takes some eight minutes on two cores, the other one minute for each step, on a quiet machine. Both write
into one file of results, and leave there what the other wrote.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import uv
from report import RESULTS, publish

from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.installer import find_links
from opperf.parent.workers.interpreters import choose_environment, interpreter
from opperf.parent.workers.package import package_folder

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
#: Training steps that are recorded and replayed.
REPLAYED = (
    *(f"vision_torch.py:{name}" for name in ("resnet18", "mobilenet", "vit_autocast")),
    *(f"language_torch.py:{name}" for name in ("gpt2", "bert", "t5")),
    *(f"ragged_torch.py:{name}" for name in ("recommender", "policy")),
)
#: Those that are replayed with their times.
TIMED = (
    "vision_torch.py:resnet18", "vision_torch.py:vit_autocast", "language_torch.py:gpt2", "language_torch.py:bert",
    "ragged_torch.py:recommender",
)  # fmt: skip
#: How far the sum of what operators take alone may be from what they took in the program, either way.
LEAST_RATIO, MOST_RATIO = 0.7, 1.4
#: How a model of ONNX is made and captured.
ONNX = MODELS / "encoder_onnx.py"
#: What the tables are called in the file of results, beside the first.
VALUES, TIMES = "Their training steps, replayed", "Larger ones, replayed with their times"


def python(framework: str, folder: Path) -> Path:
    """Return a Python with a framework and its models."""
    wanted = REQUIREMENTS[framework]
    if not wanted:
        return Path(interpreter(choose_environment(EnvironmentSpec.parse("current"), framework), framework=framework))
    own = folder / framework
    command = uv.find_uv_bin()
    subprocess.run([command, "venv", "-q", "--python", sys.executable, str(own)], check=True)
    subprocess.run([command, "pip", "install", "-q", "--python", str(own), *find_links(), *wanted], check=True)
    return own / "bin" / "python"


def again(framework: str, program: str, path: Path) -> dict[str, Any]:
    """Return what becomes of the calls of a program."""
    done = subprocess.run(
        [str(path), str(HERE / f"rerun_{framework}.py"), str(MODELS), str(MODELS / program)],
        env=surroundings(),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    (answer,) = json.loads(done.stdout.splitlines()[-1])
    result: dict[str, Any] = answer
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


def surroundings(**more: str) -> dict[str, str]:
    """Return the environment variables of a program that imports opperf and the models."""
    places = os.pathsep.join((str(package_folder()), str(MODELS)))
    return {**os.environ, "PYTHONPATH": places, "JAX_PLATFORMS": "cpu", **more}


def recorded(program: str, path: Path, folder: Path, **more: str) -> Path:
    """Record a training step; return where, without the ends of the names of its files."""
    stem = folder / program.partition(":")[2]
    words = [str(path), str(HERE / "record_step.py"), str(MODELS / program), str(stem)]
    subprocess.run(words, env=surroundings(**more), check=True)
    return stem


def row(framework: str, program: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the table says of a program."""
    reasons = Counter(why for _, why in result["unlike"])
    return {
        "framework": framework,
        "program": label(program),
        "calls": result["calls"],
        "cases": result["cases"],
        "run again": result["calls"] - result["missed"],
        "left out": result["left_out"],
        "wrong": result["missed"] - result["left_out"],
        "reasons": ", ".join(f"{count} x {why[:60]}" for why, count in reasons.most_common(3)) or "none",
    }


def label(program: str) -> str:
    """Name a program by its file and its function, those of one function by the library."""
    file, _, name = program.partition(":")
    return file.partition(".")[0].partition("_")[2] if name == "training_step" else name


def values(program: str, path: Path, folder: Path) -> dict[str, Any]:
    """Return what the cases of a replay find."""
    stem = recorded(program, path, folder)
    suite = f"{stem}_suite.json"
    opperf("replay", f"{stem}_et.json", "--dry-run", "--save-suite", suite)
    words = [str(path), str(HERE / "replayed_values.py"), suite, str(MODELS / program)]
    done = subprocess.run(words, env=surroundings(), stdout=subprocess.PIPE, text=True, check=True)
    result = json.loads(done.stdout.splitlines()[-1])
    written = json.loads(Path(suite).read_text())
    return {
        "program": label(program),
        "calls": sum(entry["count"] for entry in (*written["cases"], *written.get("left_out", ()))),
        "left out": sum(one["count"] for one in written.get("left_out", ())),
        "cases": result["cases"],
        "without a number": ", ".join(result["without_number"]) or "none",
        "failed": len(result["failed"]),
    }


def times(program: str, path: Path, folder: Path) -> dict[str, Any]:
    """Return what a replay of a training step takes."""
    stem = recorded(program, path, folder, OPPERF_LARGE_MODELS="1")
    opperf("replay", f"{stem}_et.json", "--kineto", f"{stem}_kineto.json", "--output", f"{stem}.json")
    result = json.loads(Path(f"{stem}.json").read_text())
    coverage = result["coverage"]
    return {
        "program": label(program),
        "calls": coverage["calls"],
        "measured %": 100 * coverage["share_of_calls"],
        "left out": coverage["left_out_calls"],
        "recorded ms": 1e3 * coverage["measured_recorded"],
        "alone ms": 1e3 * coverage["standalone"],
        "alone/recorded": coverage["ratio"],
        "failed": sum(record["status"] == "failed" for record in result["records"]),
    }


def written() -> dict[str, Any]:
    """Return the results that are there."""
    path = RESULTS / "user_models.json"
    result: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return result


def figures(rows: Sequence[Mapping[str, Any]], more: Mapping[str, Any]) -> dict[str, tuple[float, float, str]]:
    """Return what was wanted of the rows that there are."""
    result = {"calls that run otherwise, or not, with no reason": (sum(one["wrong"] for one in rows), 0.0, "calls")}
    if VALUES in more:
        lost = sum(one["without a number"] != "none" for one in more[VALUES])
        result["replayed steps with operators that find no number where they did"] = (lost, 0.0, "steps")
        result["cases of a replay that fail"] = (sum(one["failed"] for one in more[VALUES]), 0.0, "cases")
    if TIMES in more:
        ratios = [one["alone/recorded"] for one in more[TIMES]]
        result["the largest sum alone, of the recorded one"] = (max(ratios), MOST_RATIO, "times")
        result["the largest recorded one, of the sum alone"] = (1 / min(ratios), 1 / LEAST_RATIO, "times")
    return result


def main(wanted: Sequence[str]) -> None:
    """Run what is wanted, and publish it with the rest."""
    before = written()
    rows, more = before.get("rows", []), dict(before.get("more", {}))
    if wanted and not rows:
        sys.exit("no results to add times to: run it without `--times` first")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        torch = python("torch", folder)
        if wanted[:1] == ["--times"]:
            chosen = [one for one in TIMED if len(wanted) == 1 or label(one) in wanted]
            kept = {one["program"]: one for one in more.get(TIMES, ())}
            for program in chosen:
                kept[label(program)] = tell(times(program, torch, folder))
            more[TIMES] = [kept[label(one)] for one in TIMED if label(one) in kept]
        else:
            rows = [tell(one) for one in capture(torch, folder)]
            more = {**more, VALUES: [tell(values(program, torch, folder)) for program in REPLAYED]}
    title = "models of users, their captured calls run again by themselves"
    publish("user_models", title, rows, figures(rows, more), {key: more[key] for key in (VALUES, TIMES) if key in more})


def capture(torch: Path, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield what becomes of each program; prints what does not run again."""
    for framework, programs in PROGRAMS.items():
        path = torch if framework == "torch" else python(framework, folder)
        for program in programs:
            result = again(framework, program, path)
            yield row(framework, program, result)
            for operator, why in sorted({(operator, why) for operator, why in result["unlike"]}):
                print(f"  {operator}: {why}", flush=True)
    yield row("onnxruntime", "encoder_onnx.py:encoder", onnx_again(folder))


def tell(one: dict[str, Any]) -> dict[str, Any]:
    """Print a row, and return it."""
    print(one, flush=True)
    return one


if __name__ == "__main__":
    main(sys.argv[1:])
