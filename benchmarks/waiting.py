"""Which calls may have CPU time for wall time: some that compute and some that wait, beside a burner on each core.

    python benchmarks/waiting.py [TRIALS]

Each trial is ten samples of a function in this process, which stays on one CPU as a side of a comparison does. It is
asked of every trial whether its calls only compute, be there enough clean samples or not.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in every child, before NumPy is imported

import numpy as np
from load import burners
from report import publish

from opperf.child.backends.numpy import runtime
from opperf.child.measure.disturbance import ProcessCounters
from opperf.compat.in_process import InProcess
from opperf.domain.measurement import CountedTimes, Samples
from opperf.domain.plan import Side
from opperf.domain.stats.order import median

TRIALS = 100
QUIET_TRIALS = 10
SAMPLES = 10
#: What the calls that wait do, in seconds: wait, then compute.
WAIT, COMPUTE = 0.02, 0.002
#: Half of what waits briefly is computed.
BRIEF = 0.0005
#: Another process that answers each byte after a while.
ANSWERING = f"""
import os, time
while os.read(0, 1):
    time.sleep({WAIT})
    os.write(1, b"x")
"""
SIDE = Side("numpy")


def compute(seconds: float = COMPUTE) -> None:
    """Take that much CPU time of this thread."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def computing(folder: Path) -> dict[str, Callable[[], object]]:
    """Return calls that never wait, of 2 to 20 ms."""
    generator = np.random.default_rng(1)
    square, row, large = generator.random((512, 512)), generator.random(200_000), generator.random(4_000_000)
    words = [str(number) for number in range(20_000)]
    others = ThreadPoolExecutor(1)
    others.submit(int).result()
    file = (folder / "written").open("wb")

    def write() -> None:
        file.seek(0)
        file.write(large.data)
        file.flush()

    return {
        "a loop in Python": lambda: sum(i * i for i in range(100_000)),
        "strings in Python": lambda: sorted(words, key=lambda word: word[::-1]),
        "matrix product": lambda: square @ square,
        "sort": lambda: np.sort(row),
        "fresh memory": lambda: large * 2.0,
        "a file in the page cache": write,
        "work of a thread that is there": lambda: others.submit(row.copy().sort).result(),
    }


@contextmanager
def waiting() -> Iterator[dict[str, Callable[[], object]]]:
    """Return calls that wait, most for 20 ms before 2 ms of computing."""
    lock, wanted = threading.Lock(), threading.Event()
    other = subprocess.Popen(
        [sys.executable, "-c", ANSWERING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    )
    assert other.stdin is not None
    assert other.stdout is not None
    asking, answer = other.stdin, other.stdout

    def timer() -> None:
        time.sleep(WAIT)
        compute()

    def pipe() -> None:
        asking.write(b"x")
        answer.read(1)
        compute()

    def hold() -> None:
        with lock:
            wanted.set()
            time.sleep(WAIT)

    def contended() -> None:
        wanted.clear()
        holder = threading.Thread(target=hold)
        holder.start()
        wanted.wait()
        with lock:
            compute()
        holder.join()

    def threads(function: Callable[[], object]) -> None:
        several = [threading.Thread(target=function) for _ in range(2)]
        for one in several:
            one.start()
        for one in several:
            one.join()

    def process() -> None:
        subprocess.run([sys.executable, "-c", "sum(range(300_000))"], check=True)

    def brief() -> None:
        compute(2 * COMPUTE)
        time.sleep(BRIEF)

    numbers = np.random.default_rng(2).random(100_000)
    try:
        yield {
            "a timer": timer,
            "a pipe": pipe,
            "a lock": contended,
            "another process": process,
            "threads that wait": lambda: threads(timer),
            "threads that compute": lambda: threads(lambda: np.sort(numbers)),
            "half a millisecond in 4.5": brief,
        }
    finally:
        asking.close()
        other.wait()


def trial(here: InProcess, function: Callable[[], object]) -> Samples:
    """Return the samples of one trial."""
    return here.measure(here.of_function(function), "forward", warmup=1, runs=SAMPLES, memory=False).time


def row(name: str, waits: bool, quiet: list[Samples], busy: list[Samples]) -> dict[str, Any]:
    """Return what is said of a call beside the burners, in milliseconds and from its quiet time."""
    usual = median([median(samples.seconds(clean_only=False)) for samples in quiet])
    counted = [CountedTimes.of([samples], SIDE) for samples in busy]
    allowed = [samples.only_compute for samples in busy]
    return {
        "call": name,
        "kind": "waits" if waits else "computes",
        "quiet ms": 1e3 * usual,
        "told beside ms": 1e3 * median([median(one.pooled) for one in counted]),
        "CPU time beside ms": 1e3 * median([median(one.cpu_seconds(clean_only=False)) for one in busy]),
        "trials": len(busy),
        "few clean": sum(one.disturbed > 0 for one in counted),
        "replaced": sum(one.clock == "cpu" for one in counted),
        "may be replaced": sum(allowed),
        "wrong %": 100 * sum(one is waits for one in allowed) / len(allowed),
    }


def main() -> None:
    """Measure, print and judge."""
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    here = InProcess(runtime.start(SIDE), ProcessCounters())
    rows: list[dict[str, Any]] = []

    def all_rows(functions: Mapping[str, Callable[[], object]], *, waits: bool) -> None:
        quiet = {name: [trial(here, function) for _ in range(QUIET_TRIALS)] for name, function in functions.items()}
        with burners():
            busy = {name: [trial(here, function) for _ in range(trials)] for name, function in functions.items()}
        rows.extend(row(name, waits, quiet[name], busy[name]) for name in functions)

    with tempfile.TemporaryDirectory() as folder:
        all_rows(computing(Path(folder)), waits=False)
    with waiting() as functions:
        all_rows(functions, waits=True)

    def wrong(kind: str) -> float:
        """Return the share of the trials of a kind of which the wrong thing is said, in per cent."""
        return fmean([float(one["wrong %"]) for one in rows if one["kind"] == kind])

    publish(
        "waiting",
        f"calls beside a burner on each of {os.cpu_count()} cores, {trials} trials of {SAMPLES} samples each",
        rows,
        {
            "computing calls that are denied CPU time": (wrong("computes"), 5.0, "% of trials"),
            "waiting calls that get CPU time": (wrong("waits"), 0.0, "% of trials"),
        },
    )


if __name__ == "__main__":
    main()
