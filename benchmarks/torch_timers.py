"""How far the stand-in for `torch.utils.benchmark` agrees with it, and what a busy neighbour does to each.

Twenty statements are timed by turns with both `Timer`s, on a quiet machine and beside a burner on every core. Both are
right on a quiet one, so their medians must agree; PyTorch's counts the turns of the loop too, some ten nanoseconds.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from load import burners
from report import publish

import opperf
from opperf.domain.stats.order import median
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment, interpreter

ROUNDS = 7
SCRIPT = Path(__file__).with_name("timers_torch.py")


def measure() -> list[dict[str, Any]]:
    """Time all statements in one process; return the medians of each round."""
    python = interpreter(choose_environment(EnvironmentSpec.parse("current"), "torch"), framework="torch")
    path = str(Path(opperf.__file__).parents[1])
    done = subprocess.run(
        [python, SCRIPT, str(ROUNDS)], env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def spread(times: list[float]) -> float:
    """Return how far the rounds lie apart, as a share of their median, in per cent."""
    return 100 * (max(times) - min(times)) / median(times)


def row(quiet: dict[str, Any], busy: dict[str, Any]) -> dict[str, Any]:
    """Return the medians of the rounds, and what the neighbour made of them."""
    theirs, ours = median(quiet["theirs"]), median(quiet["ours"])
    ratio = median([own / other for own, other in zip(quiet["ours"], quiet["theirs"])])
    return {
        "statement": quiet["statement"],
        "theirs us": 1e6 * theirs,
        "ours us": 1e6 * ours,
        "apart %": 100 * (ratio - 1),
        "their spread %": spread(quiet["theirs"]),
        "our spread %": spread(quiet["ours"]),
        "their error beside %": 100 * (median(busy["theirs"]) / theirs - 1),
        "our error beside %": 100 * (median(busy["ours"]) / ours - 1),
        "their spread beside %": spread(busy["theirs"]),
        "our spread beside %": spread(busy["ours"]),
    }


def main() -> None:
    """Measure, print and judge."""
    quiet = measure()
    with burners():
        busy = measure()
    rows = [row(one, other) for one, other in zip(quiet, busy)]

    def middle(column: str) -> float:
        return median([abs(row[column]) for row in rows])

    publish(
        "torch_timers",
        f"PyTorch's Timer and opperf's by turns, {ROUNDS} rounds; beside: a burner on every core",
        rows,
        {
            "median distance of both on a quiet machine": (middle("apart %"), 3.0, "%"),
            "largest distance of both on a quiet machine": (max(abs(row["apart %"]) for row in rows), 10.0, "%"),
            "our median error beside a burner": (middle("our error beside %"), 5.0, "%"),
            "our median error as a share of theirs": (
                middle("our error beside %") / middle("their error beside %"), 0.5, ""
            ),
        },
    )  # fmt: skip


if __name__ == "__main__":
    main()
