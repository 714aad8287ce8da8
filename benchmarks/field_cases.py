"""Cases from public reports of the field: what opperf says of each, beside a plain script in the same environment.

    python benchmarks/field_cases.py [ROW ...]

Each case is a command that anyone may type. Its independent figure comes from a loop of a few lines: processes of it by
turns, some before and some after the command. Both are ratios of two sides, or a time in microseconds. What computes
alone in its thread is timed by its CPU time, so that the figure holds beside other programs. Rows that are named are
measured again, all others stay as they were.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from field_table import CASES, Case, Plain
from report import RESULTS, publish

HERE = Path(__file__).parent
#: Processes of each plain side, seconds of calls in each, and what a command may take.
ROUNDS, SECONDS, BUDGET = 3, 0.4, 120
#: How far from its independent figure an answer may be, as a factor.
CLOSE = 1.15
#: Warnings of other numbers than the one that is looked at.
OTHERS = ("p99_of_few",)
#: A plain process: one thread on one CPU.
SCRIPT = """
import json, os, sys, time
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))} if %(threads)d == 1 else os.sched_getaffinity(0))
import numpy as np
rng = np.random.default_rng(1)
%(setup)s
clock = time.perf_counter if %(wall)r else time.process_time
def call():
    return %(call)s
def fresh():
    %(fresh)s
end = time.process_time() + %(seconds)r  # an allocator too takes some calls until they are alike
while time.process_time() < end:
    fresh()
    call()
fresh()
begin = clock(); call(); once = max(clock() - begin, 1e-7)
many = 1 if %(fresh)r != "pass" else max(1, int(0.002 / once))
times, end = [], time.perf_counter() + %(seconds)r
while time.perf_counter() < end or len(times) < 5:
    fresh()
    begin = clock()
    for _ in range(many):
        call()
    times.append((clock() - begin) / many)
times.sort()
print(json.dumps(times[len(times) // 2]))
"""
ONE_THREAD = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    "MXNET_ENGINE_TYPE": "NaiveEngine",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
}


@cache
def python_of(environment: str) -> str:
    """Return the Python of an environment, built if need be."""
    done = subprocess.run(
        [sys.executable, "-m", "opperf", "env", "python", environment], capture_output=True, text=True, check=True
    )
    return done.stdout.split()[-1]


def plain_seconds(plain: Plain) -> float:
    """Return what a call takes in a fresh plain process."""
    text = SCRIPT % {
        "setup": plain.setup,
        "call": plain.call,
        "fresh": plain.fresh or "pass",
        "wall": plain.threads > 1,
        "threads": plain.threads,
        "seconds": SECONDS,
    }
    words = [python_of(plain.environment), "-c", text]
    threads = {name: str(plain.threads) for name in ONE_THREAD if name.endswith("_NUM_THREADS")}
    done = subprocess.run(words, env=os.environ | ONE_THREAD | threads, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return float(done.stdout.split()[-1])


def answer(case: Case, folder: Path) -> dict[str, Any]:
    """Return opperf's answer: its figure, its interval where it has one, what it calls it, and what it warns of."""
    limits = ("--budget", str(BUDGET), "--timeout", str(BUDGET))
    verb, *words = case.command
    few = ("--pairs", "4") if verb == "compare" else ("--processes", "3")
    output = folder / "answer.json"
    command = [sys.executable, "-m", "opperf", verb, *words, *few, *limits, "--force", "--output", str(output)]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    if not output.exists():
        raise RuntimeError(done.stderr[-2000:])
    document = json.loads(output.read_text())
    if verb == "compare":
        (found,) = document["comparisons"]
        value, interval, says = found["ratio"], found["interval"], found["verdict"]
    else:
        (found,) = document["records"]
        time = (found.get("metrics") or {}).get("time") or {}
        value, interval, says = time.get("median"), time.get("interval"), found["status"]
        value, interval = value and 1e6 * value, interval and [1e6 * end for end in interval]
    reason = found.get("reason") or ""
    reason = reason if isinstance(reason, str) else reason["message"]
    if says in ("slower", "faster", "same", "ok"):
        reason = ""  # why it is certain
    slugs = dict.fromkeys(one["slug"] for one in found.get("warnings", ()) if one["slug"] not in OTHERS)
    return {"value": value, "interval": interval, "says": says, "reason": reason, "warnings": list(slugs)}


def measured(case: Case) -> dict[str, Any]:
    """Return the row of a case."""
    print(f"# {case.row} {case.what}", file=sys.stderr, flush=True)
    independent: list[float] = []
    said: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(ROUNDS):
            if turn == ROUNDS // 2:
                said = answer(case, Path(folder))
            base = plain_seconds(case.base)
            independent.append(1e6 * base if case.new is None else plain_seconds(case.new) / base)
    by_hand = median(independent)
    value, (low, high) = said["value"], said["interval"] or ("-", "-")
    return {
        "row": case.row,
        "case": case.what,
        "unit": "us" if case.new is None else "ratio",
        "opperf": "-" if value is None else value,
        "low": low,
        "high": high,
        "by hand": by_hand,
        "by hand, least": min(independent),
        "by hand, most": max(independent),
        "quotient": "-" if value is None else value / by_hand,
        "says": said["says"],
        "warnings": " ".join(said["warnings"]) or said["reason"] or "-",
    }


def is_close(row: dict[str, Any]) -> bool:
    """Whether an answer is as close as it should be."""
    return row["quotient"] != "-" and bool(1 / CLOSE <= row["quotient"] <= CLOSE)


def is_told(row: dict[str, Any]) -> bool:
    """Whether an answer says itself that it is not certain."""
    return bool(row["warnings"] != "-")


def main() -> None:
    """Measure, print and judge."""
    wanted = sys.argv[1:]
    unknown = set(wanted) - {case.row for case in CASES}
    if unknown:
        sys.exit(f"no rows {', '.join(sorted(unknown))}; there are {', '.join(case.row for case in CASES)}")
    file = RESULTS / "field_cases.json"
    before = json.loads(file.read_text())["rows"] if wanted and file.exists() else []
    partial = RESULTS / "field_cases.partial.jsonl"
    done = [json.loads(line) for line in partial.read_text().splitlines()] if partial.exists() else []
    rows = {row["row"]: row for row in (*before, *done)}
    left = [case for case in CASES if case.row in (wanted or rows.keys() ^ {one.row for one in CASES})]
    for case in left:
        try:
            rows[case.row] = measured(case)
        except RuntimeError as error:
            sys.exit(f"row {case.row}: {error}")
        with partial.open("a") as lines:
            print(json.dumps(rows[case.row]), file=lines)
    shown = [rows[case.row] for case in CASES if case.row in rows]
    partial.unlink(missing_ok=True)
    far = [row for row in shown if not is_close(row)]
    publish(
        "field_cases",
        "cases from public reports: opperf's answer beside a plain loop",
        shown,
        {
            "cases more than 15 % from their independent figure": (len(far), 0, "cases"),
            "of them without a warning or a reason": (len([row for row in far if not is_told(row)]), 0, "cases"),
        },
    )


if __name__ == "__main__":
    main()
