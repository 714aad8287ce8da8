"""How well two runs of the same rows agree, by opperf under the commands of MXNet's opperf, and by the original.

The 20 broadcast operators on the original's three shapes, warm-up 10, runs 50, by both profilers. All runs take turns:
ours, theirs, ours, theirs, so that both see the same minutes. Of each row and direction the relative difference of the
median (of the mean, where the original has no other) between the two runs is taken, and the median of those is the
figure. Ours may be a third of theirs. All of it is done twice: on the machine as it is, and beside processes that come
and go on every core.

python benchmarks/compat_repeat.py CHECKOUT, which is that of MXNet 1.9.1, with `benchmark/opperf` in it
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

from load import burners
from report import publish

from opperf.compat.mxnet_opperf.categories import members
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.workers.interpreters import choose_environment, interpreter

WARMUP, RUNS = 10, 50
#: What else the machine does.
LOADS: Mapping[str, Callable[[], AbstractContextManager[None]]] = {
    "nothing else runs": nullcontext,
    "work that comes and goes": partial(burners, resting=True),
}
OURS, THE_ORIGINAL = "opperf", "MXNet's"
#: Both arrays of the original's rows.
SHAPES = ((1024, 1024), (10000, 10), (10000, 1))
#: What is compared, by profiler: ours, theirs.
KEYS = {"native": ("p50_time_", "avg_time_"), "python": ("p50_time_", "p50_time_")}
#: How much of the original's difference ours may be.
SHARE = 1 / 3
THEIRS = """
import json, sys
from benchmark.opperf.nd_operations.binary_operators import run_mx_binary_broadcast_operators_benchmarks
profiler, warmup, runs, output = sys.argv[1:]
found = run_mx_binary_broadcast_operators_benchmarks(profiler=profiler, warmup=int(warmup), runs=int(runs))
open(output, "w").write(json.dumps(found))
"""

#: Rows by operator.
Document: TypeAlias = Mapping[str, list[dict[str, Any]]]


def ours(profiler: str, folder: Path) -> Document:
    """Run our command line and return its rows."""
    output, inputs = folder / "ours.json", folder / "rows.json"
    rows = [{"lhs": shape, "rhs": shape} for shape in SHAPES]
    inputs.write_text(json.dumps(dict.fromkeys(members("mx_binary_broadcast"), rows)))
    words = ["--profiler", profiler, "--warmup", str(WARMUP), "--runs", str(RUNS),
             "--inputs", str(inputs)]  # fmt: skip
    subprocess.run([sys.executable, "-m", "opperf.compat.mxnet_opperf", *words, "-o", str(output)], check=True)
    return _read(output)


def theirs(profiler: str, folder: Path, checkout: Path) -> Document:
    """Run the original in MXNet's environment and return its rows."""
    output = folder / "theirs.json"
    python = interpreter(choose_environment(EnvironmentSpec.parse("current"), "mxnet"), framework="mxnet")
    words = [profiler, str(WARMUP), str(RUNS), str(output)]
    variables = {**os.environ, "PYTHONPATH": str(checkout)}
    subprocess.run([str(python), "-c", THEIRS, *words], check=True, cwd=folder, env=variables)
    return _read(output)


def _read(path: Path) -> Document:
    result: Document = json.loads(path.read_text())
    path.unlink()
    return result


def difference(first: Document, second: Document, prefix: str) -> tuple[float, int]:
    """Return the median relative difference between two runs of all rows, and of how many times.

    >>> difference({"a": [{"p50_time_a": 1.0}]}, {"a": [{"p50_time_a": 1.5}]}, "p50_time_")
    (0.4, 1)
    """
    apart = [
        abs(row[key] - again[key]) / ((row[key] + again[key]) / 2)
        for name, rows in first.items()
        for row, again in zip(rows, second[name], strict=True)
        for key in row
        if key.startswith(prefix) and key in again and row[key] + again[key] > 0
    ]
    return median(apart), len(apart)


def apart(profiler: str, folder: Path, checkout: Path) -> dict[str, tuple[float, int]]:
    """Run both twice, by turns; return how far each one's runs differ, and of how many times."""
    runs = [(ours(profiler, folder), theirs(profiler, folder, checkout)) for _ in range(2)]
    return {
        whose: difference(first, second, key)
        for whose, key, (first, second) in zip((OURS, THE_ORIGINAL), KEYS[profiler], zip(*runs))
    }


def main() -> None:
    """Take two runs of each profiler, with and without a load, and publish how far they lie apart."""
    checkout = Path(sys.argv[1]).resolve()
    table, figures = [], {}
    with tempfile.TemporaryDirectory(prefix="opperf-repeat-") as folder:
        for load, loaded in LOADS.items():
            for profiler in KEYS:
                with loaded():
                    result = apart(profiler, Path(folder), checkout)
                table += [
                    {"load": load, "profiler": profiler, "whose": whose, "times": times, "difference %": 100 * share}
                    for whose, (share, times) in result.items()
                ]
                figures[f"{profiler}, {load}: ours / theirs"] = (result[OURS][0] / result[THE_ORIGINAL][0], SHARE, "")
    publish("compat_repeat", "Two runs of 60 rows", table, figures)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("give the path of a checkout of MXNet 1.9.1")
    main()
