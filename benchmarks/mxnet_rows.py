"""How long opperf takes for every row of MXNet's own benchmark, forward and backward, and how much memory that needs.

MXNet's `benchmark/opperf` measures the same rows right after, one warm-up call and five runs each, so that both meet
the same minutes. It gives MXNet all CPUs, and so does opperf here. The file holds its rows as JSON, see
docs/reference/suite.md.

python benchmarks/mxnet_rows.py INPUTS.json CHECKOUT, which is that of MXNet 1.9.1, with `benchmark/opperf` in it
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
from report import publish

from opperf.domain.record import Record, Run
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.store.documents import read_run
from opperf.parent.workers.interpreters import choose_environment, interpreter

#: The share of the original's time that opperf may take, and bytes; the original took 11.6 GB.
SHARE, MOST_BYTES = 0.6, 6e9
#: Memory is looked at so often, in seconds, and new children are looked for once in so many looks, which takes longer.
LOOK, LOOKS = 0.05, 10


def measure(path: Path, output: Path) -> tuple[float, int]:
    """Run the command; return its wall time in seconds and the most bytes that it and its children held at once."""
    command = [sys.executable, "-m", "opperf", "run", "--suite", str(path), "--framework", "mxnet",
               "--threads", str(os.cpu_count()), "--warmup", "1", "--runs", "5", "--no-check",
               "--output", str(output), "--force"]  # fmt: skip
    start = time.perf_counter()
    with psutil.Popen(command, stdout=subprocess.DEVNULL) as process:
        most = looks = 0
        children: list[psutil.Process] = []
        while process.poll() is None:
            if looks % LOOKS == 0:
                children = process.children(recursive=True)
            most = max(most, held_bytes([process, *children]))
            looks += 1
            time.sleep(LOOK)
    return time.perf_counter() - start, most


def original(checkout: Path, folder: Path) -> tuple[list[str], dict[str, str]]:
    """Return the command of the original in MXNet's environment, and its environment variables."""
    python = interpreter(choose_environment(EnvironmentSpec.parse("current"), "mxnet"), framework="mxnet")
    command = [str(python), str(checkout / "benchmark" / "opperf" / "opperf.py"), "--output-format", "json",
               "--output-file", str(folder / "theirs.json"), "--warmup", "1", "--runs", "5"]  # fmt: skip
    return command, {**os.environ, "PYTHONPATH": str(checkout)}


def theirs(checkout: Path, folder: Path) -> float:
    """Run the original; return its wall time in seconds."""
    command, environment = original(checkout, folder)
    start = time.perf_counter()
    subprocess.run(command, check=True, cwd=folder, env=environment, capture_output=True)
    return time.perf_counter() - start


def held_bytes(processes: Sequence[Any]) -> int:
    """Return the bytes that lie in memory for processes; one that ended holds none."""
    total = 0
    for process in processes:
        try:
            total += process.memory_info().rss
        except psutil.Error:
            continue
    return total


def rows(run: Run) -> list[dict[str, Any]]:
    """Return a row for each operator: its trials, its time in each direction, and what has no number; slowest first."""
    result = []
    for name in dict.fromkeys(record.trial.case.operator for record in run):
        mine = [record for record in run if record.trial.case.operator == name]
        result.append(
            {
                "operator": name.removeprefix("mxnet:nd."),
                "cases": len({record.trial.case.id for record in mine}),
                "forward, ms": 1e3 * seconds(mine, "forward"),
                "backward, ms": 1e3 * seconds(mine, "backward"),
                "skipped": sum(record.status == "skipped" for record in mine),
                "failed": sum(record.status == "failed" for record in mine),
            }
        )
    return sorted(result, key=lambda row: -(row["forward, ms"] + row["backward, ms"]))


def seconds(records: Sequence[Record], direction: str) -> float:
    """Return what one call of each case takes in a direction, together."""
    mine = (record for record in records if record.trial.direction == direction)
    return sum(record.time.median or 0.0 for record in mine if record.time is not None)


def main() -> None:
    """Measure and print."""
    if len(sys.argv) != 3:
        sys.exit("usage: python benchmarks/mxnet_rows.py INPUTS.json CHECKOUT")
    inputs, checkout = (Path(word).resolve() for word in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "rows.json"
        wall, most = measure(inputs, output)
        run = read_run(output)
        their_wall = theirs(checkout, Path(folder))
    cases = {record.trial.case.id for record in run}
    failed = sum(record.status == "failed" for record in run)
    publish(
        "mxnet_rows",
        f"{len(run.records)} trials of {len(cases)} cases, one warm-up call and five runs: {wall:.0f} s, "
        f"and {their_wall:.0f} s by the original",
        rows(run),
        {
            "wall time, to the original's": (wall / their_wall, SHARE, "times"),
            "memory, children included": (most / 1e9, MOST_BYTES / 1e9, "GB"),
            "failed trials": (failed, 0, "of them"),
        },
    )


if __name__ == "__main__":
    main()
