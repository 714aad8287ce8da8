"""A softmax compiled by a plain script of `torch.compile`, beside the same by `opperf run`: the first and second time.

`compiled_softmax.py PYTHON [NAME=OPPERF...]` takes the Python of an environment with PyTorch, which the scripts run in,
and opperf's command of other revisions; `new` is the one of this folder. In each round all take turns, each with empty
folders for whatever it keeps on the disk. Beside the wall time stands the CPU time of a command and of all that it has
started, which other programs on the machine change less.

The script imports PyTorch, makes the input, compiles by a first call, and times some hundred calls.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from report import publish

from opperf.domain.stats.order import median
from opperf.parent.workers.package import cache_folder

ROUNDS = int(os.environ.get("ROUNDS", "3"))
SCRIPT = """
import time
import torch
torch.set_num_threads(1)
values = torch.rand(1024, 1024)
function = torch.compile(lambda values: torch.softmax(values, -1))
with torch.no_grad():
    for _ in range(20):
        function(values)
    times = []
    for _ in range(600):
        start = time.perf_counter()
        function(values)
        times.append(time.perf_counter() - start)
print(sorted(times)[300])
"""
RUN = ("run", "softmax", "--mode", "compiled", "--framework", "torch", "--direction", "forward")


def time_of(command: list[str], folder: Path) -> tuple[float, float, int]:
    """Return the wall and CPU seconds of a command that keeps everything in a folder, and its exit code."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("TORCHINDUCTOR_")}
    variables |= {"TMPDIR": str(folder / "tmp"), "OPPERF_CACHE_DIR": str(folder / "cache")}
    before, start = os.times(), time.perf_counter()
    done = subprocess.run(command, env=variables, check=False, capture_output=True)
    wall, after = time.perf_counter() - start, os.times()
    return wall, sum(after[2:4]) - sum(before[2:4]), done.returncode


def main(python: str, *others: str) -> None:
    """Run all by turns."""
    opperf = {"new": str(Path(sys.executable).with_name("opperf")), **dict(one.split("=", 1) for one in others)}
    commands = {"script": [python, "-c", SCRIPT], **{name: [path, *RUN] for name, path in opperf.items()}}
    raw: list[dict[str, object]] = []
    for _ in range(ROUNDS):
        for name, command in commands.items():
            with tempfile.TemporaryDirectory() as text:
                folder = Path(text)
                (folder / "tmp").mkdir()
                (folder / "cache").mkdir(mode=0o700)
                (folder / "cache" / "environments").symlink_to(cache_folder() / "environments")
                for which in ("first", "second"):
                    wall, cpu, code = time_of(command, folder)
                    took = {"wall_s": wall, "cpu_s": cpu, "exit_code": code, "load": os.getloadavg()[0]}
                    raw.append({"name": name, "which": which, **took})
                    print(raw[-1], flush=True)

    report(raw)


def report(raw: Sequence[Mapping[str, object]]) -> None:
    """Publish what every command took."""

    def centre(name: str, which: str, clock: str) -> float:
        return median([float(str(one[clock])) for one in raw if (one["name"], one["which"]) == (name, which)])

    rows = [
        {"command": name, "time": which, **{clock: centre(name, which, clock) for clock in ("wall_s", "cpu_s")}}
        for name in dict.fromkeys(str(one["name"]) for one in raw)
        for which in ("first", "second")
    ]
    figures = {
        f"{which} run, {clock[:-2]} time": (centre("new", which, clock) / centre("script", which, clock), 1.3, "times")
        for which in ("first", "second")
        for clock in ("wall_s", "cpu_s")
    }
    publish("compiled_softmax", "A compiled softmax", rows, figures, {"Raw": raw})


if __name__ == "__main__":
    main(*sys.argv[1:])
