"""How long `opperf compare` takes for one operator that is 5 % slower, or the same: an old opperf and this one.

Both run the same command by turns, in random order, so that both meet the same minutes. The slowdown is real work: a
matrix product of 5 % more rows. What is the same is a steady operator and one that the places of its tensors move, for
which this opperf takes more rounds of a pair. Beside the wall time stands what the command and its children had of the
CPUs, which other work on the machine changes less.

    python benchmarks/compare_speed.py OLD_PYTHON [RUNS]

OLD_PYTHON is the interpreter of an environment with the opperf that this one is compared with. Run it on a quiet
machine: a run of all three on both sides is three minutes, two runs are enough to see a half.
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
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from report import publish

#: A function whose new version multiplies 5 % more rows.
CODE = """
import torch

LEFT, RIGHT = torch.ones(400, 256), torch.ones(256, 256)
MORE = torch.ones(420, 256)


def old(data):
    torch.mm(LEFT, RIGHT)
    return data


def new(data):
    torch.mm(MORE, RIGHT)
    return data
"""
#: What is asked of either opperf.
ASKED = {
    "5 % slower": ("torch:code:rows:old", "--input", "data=16", "--base", "torch", "--new", "torch:code:rows:new"),
    "the same, steady": ("tanh", "--input", "data=32x256", "--base", "torch", "--new", "torch"),
    "the same, noisy": ("gelu", "--input", "data=500x1024", "--base", "torch", "--new", "torch"),
}


def time_calls(python: str, asked: Sequence[str], folder: Path) -> dict[str, Any]:
    """Return what one comparison took, and what it said."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    command = [python, "-m", "opperf", "compare", *asked, "--direction", "forward", "--format", "json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    (said,) = json.loads(done.stdout)["comparisons"]
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall": wall, "cpu": cpu, "verdict": said["verdict"], "pairs": sum(map(len, said["log_ratios"]))}


def main() -> None:
    """Run, print and judge."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    pythons = {"old": str(Path(sys.argv[1]).absolute()), "new": sys.executable}
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    result: dict[tuple[str, str], list[dict[str, Any]]] = {(what, name): [] for what in ASKED for name in pythons}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "rows.py").write_text(CODE)
        for python in pythons.values():  # what the first command of an opperf makes is there afterwards
            time_calls(python, (*ASKED["the same, steady"], "--budget", "5"), Path(folder))
        for _ in range(runs):
            for what, name in random.sample(list(result), len(result)):
                result[what, name].append(time_calls(pythons[name], ASKED[what], Path(folder)))
    rows: list[dict[str, Any]] = [
        {
            "comparison": what,
            "opperf": name,
            "wall s": fmean(one["wall"] for one in several),
            "CPU s": fmean(one["cpu"] for one in several),
            "pairs": fmean(one["pairs"] for one in several),
            "s a pair": fmean(one["wall"] / max(1, one["pairs"]) for one in several),
            "said": ", ".join(f"{count} {word}" for word, count in Counter(one["verdict"] for one in several).items()),
            "runs": runs,
        }
        for (what, name), several in result.items()
    ]
    walls = {(row["comparison"], row["opperf"]): row["wall s"] for row in rows}
    identical = [what for what in ASKED if what.startswith("the same")]
    publish(
        "compare_speed",
        f"one torch operator; load {os.getloadavg()[0]:.1f}",
        rows,
        {
            "wall time of a comparison of what is 5 % slower": (walls["5 % slower", "new"], 30.0, "s"),
            "wall time of comparisons of what is the same, of that of the old opperf": (
                sum(walls[what, "new"] for what in identical) / sum(walls[what, "old"] for what in identical), 1.0, "",
            ),
        },
    )  # fmt: skip


if __name__ == "__main__":
    main()
