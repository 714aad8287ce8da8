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


def agreement(quiet: dict[str, Any]) -> dict[str, Any]:
    """Return the medians of the rounds on a quiet machine, and how far both are apart in a round."""
    ratio = median([own / other for own, other in zip(quiet["ours"], quiet["theirs"])])
    return {
        "statement": quiet["statement"],
        "theirs us": 1e6 * median(quiet["theirs"]),
        "ours us": 1e6 * median(quiet["ours"]),
        "apart %": 100 * (ratio - 1),
        "their spread %": spread(quiet["theirs"]),
        "our spread %": spread(quiet["ours"]),
    }


def neighbour(quiet: dict[str, Any], busy: dict[str, Any]) -> dict[str, Any]:
    """Return what the neighbour made of the medians."""
    return {
        "statement": quiet["statement"],
        "their error %": 100 * (median(busy["theirs"]) / median(quiet["theirs"]) - 1),
        "our error %": 100 * (median(busy["ours"]) / median(quiet["ours"]) - 1),
        "their spread %": spread(busy["theirs"]),
        "our spread %": spread(busy["ours"]),
    }


def middle(rows: list[dict[str, Any]], column: str) -> float:
    """Return the median of a column, whatever its signs."""
    return median([abs(row[column]) for row in rows])


def main() -> None:
    """Measure, print and judge."""
    quiet = measure()
    with burners():
        busy = measure()
    rows = [agreement(case) for case in quiet]
    beside = [neighbour(*cases) for cases in zip(quiet, busy)]
    ours, theirs = middle(beside, "our error %"), middle(beside, "their error %")
    publish(
        "torch_timers",
        f"PyTorch's Timer and opperf's by turns on a quiet machine, {ROUNDS} rounds",
        rows,
        {
            "median distance of both": (middle(rows, "apart %"), 3.0, "%"),
            "largest distance of both": (max(abs(row["apart %"]) for row in rows), 10.0, "%"),
            "our median error beside a burner on every core": (ours, 5.0, "%"),
            "our median error as a share of theirs": (ours / theirs, 0.5, ""),
        },
        {"Beside a burner on every core": beside},
    )


if __name__ == "__main__":
    main()
