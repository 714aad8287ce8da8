"""How long `opperf compare` takes for one operator that is 5 % slower: an old opperf and this one beside each other.

Both run the same command by turns, in random order, so that both meet the same minutes. The slowdown is real work: a
matrix product of 5 % more rows. Beside the wall time stands what the command and its children had of the CPUs, which
other work on the machine changes less.

    python benchmarks/compare_speed.py OLD_PYTHON [RUNS]

OLD_PYTHON is the interpreter of an environment with the opperf that this one is compared with. Run it on a quiet
machine: a run is a minute, two runs of each are enough to see a half.
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
from pathlib import Path
from statistics import median
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
COMPARE = ("compare", "torch:code:rows:old", "--base", "torch", "--new", "torch:code:rows:new", "--format", "json")
INPUT = ("--input", "data=16")


def timed(python: str, folder: Path) -> dict[str, Any]:
    """Return what one comparison took, and what it said."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    command = [python, "-m", "opperf", *COMPARE, *INPUT]
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
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in pythons}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "rows.py").write_text(CODE)
        for _ in range(runs):
            for name in random.sample(list(pythons), len(pythons)):
                found[name].append(timed(pythons[name], Path(folder)))
    rows = [
        {
            "opperf": name,
            "wall s": median(one["wall"] for one in several),
            "CPU s": median(one["cpu"] for one in several),
            "pairs": median(one["pairs"] for one in several),
            "s a pair": median(one["wall"] / one["pairs"] for one in several),
            "called slower %": 100 * sum(one["verdict"] == "slower" for one in several) / runs,
            "runs": runs,
        }
        for name, several in found.items()
    ]
    publish(
        "compare_speed",
        f"one torch operator that is 5 % slower; load {os.getloadavg()[0]:.1f}",
        rows,
        {
            "wall time of the comparison": (rows[1]["wall s"], 30.0, "s"),
            "wall time of a pair, of that of the old opperf": (rows[1]["s a pair"] / rows[0]["s a pair"], 0.7, ""),
        },
    )


if __name__ == "__main__":
    main()
