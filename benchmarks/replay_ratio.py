"""Recorded workloads, run again operator by operator: how much of each is replayed, and how near its times come.

Three models are recorded while they train, on one thread: a perceptron, the convolutional network of
`examples/record_trace.py`, an encoder of a transformer. Each is replayed, and the sum of what all calls take by
themselves is compared with what they took inside the program by its Kineto trace. Alone, an operator finds its inputs
in the cache and no profiler watches; in the program, everything else has been there before it. Both hold on to memory
that was freed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from report import publish

from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment, interpreter

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parent / "examples" / "record_trace.py"
RECORD = HERE / "record_model.py"
#: What records each model, and how its files are called.
MODELS = {
    "mlp": ([str(RECORD), "mlp", "mlp"], "mlp"),
    "convnet": ([str(EXAMPLE)], "convnet"),
    "transformer": ([str(RECORD), "transformer", "transformer"], "transformer"),
}
#: How far the sums may be apart, and the calls that may be left out.
FACTOR, LEFT_OUT = 1.5, 1.0


def replay(folder: Path, program: list[str], stem: str) -> dict[str, Any]:
    """Record a model and replay it; return the document of the replay."""
    python = interpreter(choose_environment(EnvironmentSpec.parse("current"), "torch"), framework="torch")
    subprocess.run([str(python), *program], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    words = [f"{stem}_et.json", "--kineto", f"{stem}_kineto.json", "--output", f"{stem}.json", "--force"]
    subprocess.run(
        [sys.executable, "-m", "opperf", "replay", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL
    )
    result: dict[str, Any] = json.loads((folder / f"{stem}.json").read_text())
    return result


def row(name: str, result: dict[str, Any]) -> dict[str, Any]:
    """Return what became of a model."""
    coverage = result["coverage"]
    return {
        "model": name,
        "cases": len(result["calls"]),
        "calls": coverage["calls"],
        "replayed %": 100 * coverage["share_of_calls"],
        "of the time %": 100 * coverage["share_of_time"],
        "recorded ms": 1e3 * coverage["measured_recorded"],
        "alone ms": 1e3 * coverage["standalone"],
        "alone/recorded": coverage["ratio"],
        "left out": ", ".join(sorted({left["name"] for left in result["left_out"]})) or "nothing",
    }


def main() -> None:
    """Record, replay, publish."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [row(name, replay(Path(folder), *how)) for name, how in MODELS.items()]
    apart = max(max(one["alone/recorded"], 1 / one["alone/recorded"]) for one in rows)
    publish(
        "replay_ratio",
        "recorded models, replayed operator by operator",
        rows,
        {
            "the sum of standalone times, from the recorded one": (apart, FACTOR, "times"),
            "calls that are not replayed": (max(100 - one["replayed %"] for one in rows), LEFT_OUT, "%"),
        },
    )


if __name__ == "__main__":
    main()
