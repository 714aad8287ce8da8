"""How long a category takes by the command of MXNet's opperf, with one job at its defaults, and by the original.

`rearrange`: 13 rows of five operators, 25 calls of warm-up, 100 samples, forward and backward. The original measures
these forward only; here it is told to do both, through its own functions, so that both do the same work. They take
turns, so that both meet the same minutes. Processor time is that of the command and all of its children, which a busy
machine moves less than it moves the wall time.

python benchmarks/mxnet_category.py CHECKOUT, which is that of MXNet 1.9.1, with `benchmark/opperf` in it
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from report import publish

from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment, interpreter

CATEGORY, TURNS = "rearrange", 3
THEIRS = """
import mxnet as mx
from benchmark.opperf.utils.benchmark_utils import run_op_benchmarks
from benchmark.opperf.utils.op_registry_utils import get_all_rearrange_operators
operators = get_all_rearrange_operators()
for parameters in operators.values():
    parameters["has_backward"] = True
run_op_benchmarks(operators, "float32", mx.cpu(), "native", "off", 25, 100)
"""


def took(command: Sequence[str], folder: Path, **variables: str) -> tuple[float, float]:
    """Run a command; return its wall time and the processor time of all of its processes, in seconds."""
    start = time.perf_counter()
    with subprocess.Popen(command, cwd=folder, env={**os.environ, **variables}, stderr=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command[:3])} ended with {process.returncode}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime


def commands(checkout: Path) -> Mapping[str, tuple[Sequence[str], dict[str, str]]]:
    """Return both commands with their environment variables; both have one thread."""
    python = interpreter(choose_environment(EnvironmentSpec.parse("current"), "mxnet"), framework="mxnet")
    ours = [sys.executable, "-m", "opperf.compat.mxnet_opperf", "--category", CATEGORY, "--force"]
    one = {"OMP_NUM_THREADS": "1"}
    return {"opperf": (ours, one), "the original": ([str(python), "-c", THEIRS], {**one, "PYTHONPATH": str(checkout)})}


def main() -> None:
    """Measure and print."""
    if len(sys.argv) != 2:
        sys.exit("usage: python benchmarks/mxnet_category.py CHECKOUT")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(1, TURNS + 1):
            for name, (command, variables) in commands(Path(sys.argv[1]).resolve()).items():
                wall, processor = took(command, Path(folder), **variables)
                rows.append({"tool": name, "turn": turn, "wall, s": wall, "processor, s": processor})
    publish(
        "mxnet_category",
        f"`{CATEGORY}` at its defaults, one job: {TURNS} turns",
        rows,
        {
            f"{what}, to the original's": (_ratio(rows, f"{column}, s"), 1.0, "times")
            for what, column in (("wall time", "wall"), ("processor time", "processor"))
        },
    )


def _ratio(rows: Sequence[Mapping[str, object]], column: str) -> float:
    """Return the median of the turns' ratios."""
    ours, theirs = ([float(str(row[column])) for row in rows if row["tool"] == name] for name in _tools(rows))
    return median(mine / other for mine, other in zip(ours, theirs, strict=True))


def _tools(rows: Sequence[Mapping[str, object]]) -> list[object]:
    return list(dict.fromkeys(row["tool"] for row in rows))


if __name__ == "__main__":
    main()
