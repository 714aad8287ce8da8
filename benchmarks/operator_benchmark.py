"""PyTorch's operator benchmarks in opperf: the same names, how many are measured, and times beside their own runner's.

python operator_benchmark.py PYTORCH [TIMES]

PYTORCH is a checkout of https://github.com/pytorch/pytorch, of which benchmarks/operator_benchmark is enough. Its
runner runs in PyTorch's environment beside an empty `benchmark_cpp_extension`, which only scripted tests need. It lists
the tests tagged `short` of each file in pt/; files that do not load there (a C++ extension, a GPU) are named and left
out. opperf lists and measures the same files. TIMES tests, 50 by default, are drawn from all and timed by both, in
turns, one thread each: leave the machine alone meanwhile. 0 leaves the times out.

Why times differ: their runner calls a method that calls another one for each call, in Python, whose time is that of a
test that computes nothing. It keeps the last result while it computes the next, so that large ones are in fresh pages:
run with the last one dropped first, it shows how much that is. Of a gradient it times that of `mean` too, and the
addition to `.grad`; and what a test of one input's gradient computes is that of all. Where nothing of this brings the
times together, both are run once more, to see how far those of one runner lie apart.
"""

from __future__ import annotations

import json
import math
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report import publish

from opperf.domain.code import SuiteCode
from opperf.domain.message.replies import BROKEN
from opperf.domain.plan import Settings
from opperf.parent.documents.environment import EnvironmentSpec
from opperf.parent.measuring.session import Session
from opperf.parent.planning.benchmarks import benchmark_files, labelled_trials
from opperf.parent.planning.selection import Selection
from opperf.parent.workers.interpreters import choose_environment, interpreter

#: Loads a module into their runner, and leaves it the tests of one tag: it makes all of a file, some of gigabytes.
LOAD = """
import importlib, json, sys
sys.path.insert(0, ".")
import operator_benchmark, benchmark_core
importlib.import_module(sys.argv.pop(1))
benchmark_core.BENCHMARK_TESTER[:] = [
    ([config for config in configs if any(one.get("tags") == "short" for one in config)], *rest)
    for configs, *rest in benchmark_core.BENCHMARK_TESTER
]
"""
LIST = """
cases = [case for test in benchmark_core.BENCHMARK_TESTER for _, case in benchmark_core._build_test(*test)]
print(json.dumps([case.test_config.test_name for case in cases]))
"""
RUN = "operator_benchmark.benchmark_runner.main()"
#: A test that computes nothing, in place of a module.
NOTHING = """
import operator_benchmark
import torch
class NothingBenchmark(operator_benchmark.TorchBenchmarkBase):
    def init(self, N):
        self.inputs = {"lhs": torch.rand(N), "rhs": torch.rand(N)}
    def forward(self, lhs, rhs):
        return lhs
operator_benchmark.generate_pt_test([[{"N": 1}, {"tags": "short"}]], NothingBenchmark)
"""
#: Drops the last result ahead of the next call.
DROPPING = """
import benchmark_pytorch
def run_forward(self, num_runs, print_per_iter, cuda_sync):
    for _ in range(num_runs):
        self.output = None
        self.output = self.op_bench.forward_impl()
benchmark_pytorch.PyTorchOperatorTestCase.run_forward = run_forward
"""
#: An address in a name, which is another one in each process.
ADDRESS = re.compile(r"at0x[0-9a-f]+")
TIME = re.compile(r"Execution Time \(us\) : ([\d.]+)")
TAG, SEED, DEADLINE = "short", 0, 1800
#: By how much times may differ.
NEAR = 0.10
NEAR_ENOUGH, UNKNOWN = "within 10 %", "without a reason"
#: The most names that may differ, and tests that may not be measured, in per cent.
LIMITS = {"names": 0.0, "tests": 2.0}


@dataclass(frozen=True)
class Theirs:
    """PyTorch's own runner, in PyTorch's environment."""

    folder: Path
    python: Path
    extension: Path

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run Python in the folder of the benchmarks."""
        variables = {"PYTHONPATH": str(self.extension), "PATH": "/usr/bin:/bin"}
        command = [str(self.python), *words]
        return subprocess.run(
            command, cwd=self.folder, env=variables, capture_output=True, text=True, timeout=DEADLINE, check=False
        )

    def names(self, file: Path) -> list[str] | str:
        """Return the names of a file's tests, or why it does not load."""
        done = self.run("-c", LOAD + LIST, f"pt.{file.stem}")
        if done.returncode != 0:
            return (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        return [ADDRESS.sub("", name) for name in json.loads(done.stdout.splitlines()[-1])]

    def time(self, file: str, name: str, change: str = "") -> float:
        """Return the microseconds of a test, with a change to the runner."""
        options = ("--test-name", name, "--omp-num-threads", "1")
        return _time(self.run("-c", LOAD + change + RUN, f"pt.{Path(file).stem}", *options).stdout)

    def nothing(self) -> float:
        """Return the microseconds of a test that computes nothing."""
        return _time(self.run("-c", NOTHING + RUN, "--omp-num-threads", "1").stdout)


def _time(text: str) -> float:
    match = TIME.search(text)
    return math.nan if match is None else float(match[1])


def own_names(files: Sequence[SuiteCode]) -> dict[str, list[str]]:
    """Return the names of each file's tests in opperf."""
    result: dict[str, list[str]] = {str(file): [] for file in files}
    with Session(Selection(benchmarks=files, frameworks=("torch",), devices=("cpu",)), Settings()) as session:
        for side in session.sides():
            for trial, labels in labelled_trials(Selection(benchmarks=files), side, session.answers):
                if BROKEN not in labels:
                    result[trial.origin].append(ADDRESS.sub("", trial.case.operator))
    return result


def records(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield what became of each test, measured shortly."""
    with tempfile.TemporaryDirectory() as place:
        output = Path(place) / "run.json"
        options = ["--runs", "3", "--trial-budget", "0.05", "--device", "cpu", "--output", str(output)]
        command = [sys.executable, "-m", "opperf", "run", f"op_bench:{folder}", *options]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        yield from json.loads(output.read_text())["records"]


def own_time(file: str, name: str) -> float:
    """Return the microseconds of a test in opperf."""
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-m", "opperf.compat.operator_benchmark", file, "--test-name", name]
        options = ["--omp-num-threads", "1", "--device", "cpu"]
        done = subprocess.run(command + options, cwd=place, capture_output=True, text=True, check=False)
    return _time(done.stdout)


def times(theirs: Theirs, tests: Sequence[tuple[str, str]], count: int) -> list[dict[str, Any]]:
    """Return the times of tests that are drawn, by both runners in turns, and why they differ."""
    rows, nothing = [], theirs.nothing()
    print(f"a test that computes nothing: {nothing} us", flush=True)
    for file, name in random.Random(SEED).sample(tests, min(count, len(tests))):
        own, other = own_time(file, name), theirs.time(file, name)
        why = reason(theirs, file, name, (own, other), nothing)
        row = {"file": Path(file).name, "test": name, "opperf_us": own, "theirs_us": other, "why": why}
        rows.append(row)
        print(" ".join(map(str, row.values())), flush=True)
    return rows


def reason(theirs: Theirs, file: str, name: str, pair: tuple[float, float], nothing: float) -> str:
    """Return what brings two times together."""
    own, other = pair
    if is_near(own, other):
        return NEAR_ENOUGH
    if is_near(own, other - nothing):
        return "the Python of their runner"
    if "_bwd" in name:
        return "their gradient is that of a mean too, and is added to `.grad`"
    dropping = theirs.time(file, name, DROPPING)
    if is_near(own, dropping) or is_near(own, dropping - nothing):
        return "their runner keeps the last result"
    if not is_near(theirs.time(file, name), other):
        return "their own two times differ"
    return UNKNOWN if is_near(own_time(file, name), own) else "opperf's own two times differ"


def is_near(own: float, other: float) -> bool:
    """Whether a time is as good as another one."""
    return abs(own / other - 1) <= NEAR


def main(pytorch: Path, count: int) -> None:
    """Compare names and times, and publish them."""
    folder = (pytorch / "benchmarks" / "operator_benchmark").resolve()
    python = interpreter(choose_environment(EnvironmentSpec.parse("current"), "torch"), framework="torch")
    files = benchmark_files(SuiteCode("op_bench", str(folder / "pt")), print)
    own = own_names(files)
    with tempfile.TemporaryDirectory() as extension:
        (Path(extension) / "benchmark_cpp_extension.py").touch()
        theirs = Theirs(folder, python, Path(extension))
        rows: list[dict[str, Any]] = []
        for file in files:
            listing = theirs.names(Path(file.path))
            names, why = ([], listing) if isinstance(listing, str) else (listing, "")
            equal = sum((Counter(names) & Counter(own[str(file)])).values())
            mine = 0 if why else len(own[str(file)])
            row = {"file": Path(file.path).name, "theirs": len(names), "opperf": mine, "equal": equal, "why": why[:80]}
            rows.append(row)
            print(" ".join(map(str, row.values())), flush=True)
        unloaded = {row["file"] for row in rows if row["why"]}
        tests = [one for one in records(folder / "pt") if Path(one["side"]["implementation"]).name not in unloaded]
        timed = times(theirs, [_place(one) for one in tests if one["status"] == "ok"], count)
    reasons = Counter(one["reason"]["message"][:100] for one in tests if one["status"] != "ok")
    total = sum(max(row["theirs"], row["opperf"]) for row in rows)
    figures = {
        "names that differ": (100 * (1 - sum(row["equal"] for row in rows) / total), LIMITS["names"], "%"),
        "tests not measured": (100 * sum(reasons.values()) / len(tests), LIMITS["tests"], "%"),
    }
    if timed:
        figures["times apart without a reason"] = (sum(row["why"] == UNKNOWN for row in timed), 0, f"of {len(timed)}")
    near = [{"times": why, "tests": tests} for why, tests in Counter(row["why"] for row in timed).most_common()]
    more = {
        "files": rows,
        "not measured": [{"why": why, "tests": number} for why, number in reasons.items()],
        "times": timed,
    }
    publish("operator_benchmark", f"{total} tests tagged {TAG}, {len(tests)} tried", near or rows, figures, more)


def _place(record: dict[str, Any]) -> tuple[str, str]:
    return record["side"]["implementation"].partition(":")[2], record["case"]["operator"]


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 50)
