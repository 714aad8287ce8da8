"""Whole commands against a script that does the same, in turns: what starting, checking and ending cost beside a call.

    python start_up.py PARAM [TURNS [NAME...]]

PARAM is a checkout of https://github.com/facebookresearch/param: its own command and ours measure the same configs,
with three calls before twenty that are timed. `opperf run add --framework torch` is held against a script that imports
PyTorch and times calls of `torch.add` by hand. Each turn starts both in random order. CPU time, of a command and all
that it starts, hardly minds what else runs on the machine; wall time does.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from report import publish

from opperf.domain.stats.order import median
from opperf.parent.documents.environment import preset
from opperf.parent.workers.interpreters import interpreter

TURNS = 5
FLAGS = ("-w", "3", "-i", "20")
#: Configs of PARAM, the shortest first; long ones take fewer turns.
CONFIGS = ("simple_add", "simple_mm", "simple_add_range", "simple_mm_range", "mm")
LONG, LONG_TURNS = ("simple_mm_range", "mm"), 3
CLOCKS = ("wall", "cpu")
#: The most that ours may take of what the other does, unless it is all of it.
MOST = {"run add": 1.3}
SCRIPT = """
import time, torch
torch.set_num_threads(1)
left, right = torch.rand(1024, 1024), torch.rand(1024, 1024)
def calls(count):
    began = time.perf_counter()
    for _ in range(count):
        torch.add(left, right)
    return (time.perf_counter() - began) / count
calls(20)
print(sorted(calls(1) for _ in range(100))[50])
"""


def cost(command: Sequence[str], folder: Path, variables: Mapping[str, str]) -> dict[str, float]:
    """Run a command to its end; return its seconds, and those of CPU of all that it started."""
    null = os.open(os.devnull, os.O_RDWR)
    streams = [(os.POSIX_SPAWN_DUP2, null, number) for number in (0, 1, 2)]
    here = Path.cwd()
    os.chdir(folder)
    began = time.perf_counter()
    pid = os.posix_spawn(command[0], [*command], variables, file_actions=streams)
    os.chdir(here)
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - began
    os.close(null)
    if status:
        raise SystemExit(f"{command} ended with status {status}")
    return {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime}


def commands(param: Path, folder: Path) -> dict[str, tuple[list[str], list[str]]]:
    """Return, by what is measured, our command and the other."""
    torch, ours = str(interpreter(preset("torch"), framework="torch")), [sys.executable, "-m"]
    configs = param / "train/compute/python/examples/pytorch/configs"
    run = [*ours, "opperf", "run", "add", "--framework", "torch", "--direction", "forward"]
    both = {"run add": (run, [torch, "-c", SCRIPT])}
    for name in CONFIGS:
        words = ["-c", str(configs / f"{name}.json"), *FLAGS, "-o", str(folder / name)]
        both[f"PARAM {name}"] = (
            [*ours, "opperf.compat.param", *words],
            [torch, "-m", "python.pytorch.run_benchmark", *words],
        )
    return both


def in_turns(
    both: tuple[list[str], list[str]], turns: int, folder: Path, generator: random.Random
) -> Iterator[dict[str, float]]:
    """Yield what both commands cost in each turn."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for command in both:  # Python compiles what it imports first
        cost(command, folder, variables)
    for _ in range(turns):
        one = {side: cost(both[side], folder, variables) for side in generator.sample((0, 1), 2)}
        yield {f"{name} {clock}": one[side][clock] for side, name in enumerate(("ours", "other")) for clock in CLOCKS}


def summary(what: str, turns: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """Return the medians of some turns, and of their ratios."""
    row: dict[str, Any] = {"what": what, "turns": len(turns)}
    for clock in CLOCKS:
        row |= {f"{name} {clock}": median([turn[f"{name} {clock}"] for turn in turns]) for name in ("ours", "other")}
        row[f"ratio {clock}"] = median([turn[f"ours {clock}"] / turn[f"other {clock}"] for turn in turns])
    return row


def show(raw: Sequence[Mapping[str, Any]]) -> None:
    """Publish the turns of all commands."""
    names = dict.fromkeys(str(turn["what"]) for turn in raw)
    rows = [summary(name, [turn for turn in raw if turn["what"] == name]) for name in names]
    figures = {
        f"{row['what']}: {clock}": (row[f"ratio {clock}"], MOST.get(row["what"], 1.0), "of the other")
        for row in rows
        for clock in CLOCKS
    }
    publish("start_up", "whole commands, in seconds", rows, figures, {"each turn": raw})


def main() -> None:
    """Measure, print and judge."""
    param, turns = Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else TURNS
    raw: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as text:
        for what, both in commands(param, Path(text)).items():
            if what in (sys.argv[3:] or [what]):
                few = min(turns, LONG_TURNS) if what.endswith(LONG) else turns
                for turn in in_turns(both, few, param / "train/compute", random.Random(what)):
                    raw.append({"what": what, **turn})
                    print(json.dumps(raw[-1]), file=sys.stderr, flush=True)
    show(raw)


if __name__ == "__main__":
    main()
