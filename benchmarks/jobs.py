"""Whether `--jobs 2` saves time and leaves numbers as they are: MXNet's own benchmark on two cores.

Every row, one warm-up call and five runs each, by two jobs and by MXNet's `benchmark/opperf`. They take turns of
fifteen seconds, in which the other is stopped: this machine's speed changes by half within an hour, and so both meet it
alike. Then some rows at a time by one job, by two and by one again: the medians of two are held against both of one,
and those of one against each other, which says how far medians move by themselves. Then comparisons of operators with
themselves by two jobs, none of which has changed.

python benchmarks/jobs.py INPUTS.json CHECKOUT, which is that of MXNet 1.9.1, with `benchmark/opperf` in it
`--rows N` takes N rows and leaves the original out, `--comparisons N` compares N rows with themselves.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import psutil
from mxnet_rows import original
from report import publish

from opperf.domain.record import Record
from opperf.domain.stats.order import median
from opperf.parent.store.documents import read_run

#: The share of the original's time that two jobs may take; how far medians may lie from those of one job, by the median
#: of all rows; and the share of comparisons that may call identical code changed.
SHARE, MOVED, ALARMS = 0.6, 0.03, 0.01
COMPARISONS = 100
#: Seconds of a turn, and parts of the rows that are measured by one job and by two in turn.
TURN, PARTS = 15.0, 12


def deal(path: Path, count: int | None = None, parts: int = 1) -> list[dict[str, list[Any]]]:
    """Return the first rows of a file of inputs, one of each operator before the second of any, dealt into parts."""
    inputs: dict[str, list[Any]] = json.loads(path.read_text())
    turns = (one for turn in range(max(map(len, inputs.values()))) for one in inputs if turn < len(inputs[one]))
    several: list[dict[str, list[Any]]] = [{} for _ in range(parts)]
    taken: Counter[str] = Counter()
    for place, operator in enumerate(islice(turns, count)):
        several[place % parts].setdefault(operator, []).append(inputs[operator][taken[operator]])
        taken[operator] += 1
    return several


def store(rows: dict[str, list[Any]], folder: Path, name: str) -> Path:
    """Write rows into a file."""
    place = folder / f"{name}.json"
    place.write_text(json.dumps(rows))
    return place


def command(inputs: Path, jobs: int, output: Path) -> list[str]:
    """Return the command that measures rows with so many jobs of one thread."""
    words = (
        "run", "--suite", inputs, "--framework", "mxnet", "--threads", 1, "--warmup", 1, "--runs", 5, "--no-check",
        "--jobs", jobs, "--output", output,
    )  # fmt: skip
    return [sys.executable, "-m", "opperf", *map(str, words)]


def opperf(words: Sequence[str]) -> None:
    """Run a command."""
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def take_turns(processes: Sequence[subprocess.Popen[bytes]]) -> list[float]:
    """Let processes that were just started run in turns; return the seconds that each had, to its end."""
    trees = [psutil.Process(process.pid) for process in processes]
    for tree in trees:
        each_process(tree, psutil.Process.suspend)
    seconds = [0.0 for _ in processes]
    left = [*range(len(processes))]
    while left:
        for place in [*left]:
            each_process(trees[place], psutil.Process.resume)
            start = time.perf_counter()
            with suppress(subprocess.TimeoutExpired):
                if processes[place].wait(TURN) != 0:
                    raise RuntimeError(f"{processes[place].args} failed")
                left.remove(place)
            seconds[place] += time.perf_counter() - start
            if place in left:
                each_process(trees[place], psutil.Process.suspend)
    return seconds


def each_process(tree: psutil.Process, act: Callable[[psutil.Process], None]) -> None:
    """Do something with a process and all that it has started."""
    with suppress(psutil.NoSuchProcess):
        for process in [tree, *tree.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                act(process)


def shifts(before: Iterable[Record], two: Iterable[Record], after: Iterable[Record]) -> list[dict[str, Any]]:
    """Return how far the median of each trial with two jobs lies from those with one, the farthest first."""
    first, last = (medians(records) for records in (before, after))
    rows = []
    for record in two:
        key, now = record.trial.key, None if record.time is None else record.time.median
        if now and key in first and key in last:
            jobs: Any = record.facts.get("jobs", {})
            ratio = now / math.sqrt(first[key] * last[key])
            rows.append(
                {
                    "operator": record.trial.case.operator.removeprefix("mxnet:nd."),
                    "direction": record.trial.direction,
                    "class": str(jobs.get("class")),
                    "alone": not jobs.get("beside"),
                    "one job, us": 1e6 * first[key],
                    "two jobs, us": 1e6 * now,
                    "one job again, us": 1e6 * last[key],
                    "to one": ratio,
                    "moved": abs(ratio - 1),
                    "one job moved": abs(last[key] / first[key] - 1),
                    "warnings": ", ".join(warning.slug for warning in record.warnings),
                }
            )
    return sorted(rows, key=lambda row: -row["moved"])


def medians(records: Iterable[Record]) -> dict[object, float]:
    """Return the median of each trial that has one, by the trial's key."""
    times = {record.trial.key: record.time for record in records}
    return {key: time.median for key, time in times.items() if time is not None and time.median}


def by_class(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return how far the medians of each class moved, how many trials ran alone, and the seconds of their calls."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["class"], []).append(row)
    return [part_of(kind, several) for kind, several in sorted(groups.items())]


def part_of(kind: str, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what is said of some rows together."""
    return {
        "class": kind,
        "trials": len(rows),
        "moved": median([row["moved"] for row in rows]),
        "to one": median([row["to one"] for row in rows]),
        "one job moved": median([row["one job moved"] for row in rows]),
        "alone": sum(row["alone"] for row in rows),
        "seconds of a call, all": sum(row["two jobs, us"] for row in rows) / 1e6,
        "seconds of a call, alone": sum(row["two jobs, us"] for row in rows if row["alone"]) / 1e6,
    }


def failures(records: Iterable[Record]) -> list[dict[str, str]]:
    """Return which trials failed, and why."""
    return [
        {
            "operator": record.trial.case.operator,
            "direction": record.trial.direction,
            "reason": "" if record.reason is None else f"{record.reason.slug}: {record.reason.message}",
        }
        for record in records
        if record.status == "failed"
    ]


def alarms_of(inputs: Path, folder: Path) -> list[str]:
    """Compare rows with themselves by two jobs; return the verdicts."""
    output = folder / "verdicts.json"
    words = ("compare", "--suite", inputs, "--base", "mxnet", "--new", "mxnet", "--jobs", 2, "--no-check")
    opperf([sys.executable, "-m", "opperf", *map(str, words), "--output", str(output)])
    return [one["verdict"] for one in json.loads(output.read_text())["comparisons"]]


def side_by_side(inputs: Path, checkout: Path, folder: Path) -> tuple[float, float]:
    """Measure every row by two jobs and by the original, in turns; return the seconds that each had."""
    ours = command(store(deal(inputs)[0], folder, "rows"), 2, folder / "rows-2.json")
    theirs, environment = original(checkout, folder)
    # A process group whose shell ends while one of it is stopped is hung up, so each has a session of its own.
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    processes = [
        subprocess.Popen(ours, **quiet),
        subprocess.Popen(theirs, cwd=folder, env=environment, **quiet),
    ]
    first, second = take_turns(processes)
    return first, second


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", type=Path)
    parser.add_argument("checkout", nargs="?", type=Path)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--comparisons", type=int, default=COMPARISONS)
    words = parser.parse_args()
    if words.rows is None and words.checkout is None:
        parser.error("all rows are held against the original: give CHECKOUT, or --rows N")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        walls = None if words.rows is not None else side_by_side(words.inputs, words.checkout.resolve(), folder)
        before: list[Record] = []
        two: list[Record] = []
        after: list[Record] = []
        for part, some in enumerate(deal(words.inputs, words.rows, PARTS)):
            inputs = store(some, folder, f"part{part}")
            for turn, (jobs, records) in enumerate(((1, before), (2, two), (1, after))):
                output = folder / f"part{part}-{turn}.json"
                opperf(command(inputs, jobs, output))
                records += read_run(output).records
        verdicts = alarms_of(store(deal(words.inputs, words.comparisons)[0], folder, "compared"), folder)
    rows = shifts(before, two, after)
    alarms = sum(verdict in ("slower", "faster") for verdict in verdicts)
    decided = sum(verdict not in ("failed", "skipped") for verdict in verdicts)
    beside = "" if walls is None else f"{walls[0]:.0f} s by two jobs, {walls[1]:.0f} s by the original; "
    publish(
        "jobs" if words.rows is None else "jobs_of_some_rows",
        f"{len(two)} trials, one warm-up call and five runs: {beside}"
        f"medians of one job moved by {median([row['one job moved'] for row in rows]):.1%} themselves; "
        f"{alarms} of {decided} comparisons of identical code called changed",
        rows[:20],
        {
            **({} if walls is None else {"wall time, to the original's": (walls[0] / walls[1], SHARE, "times")}),
            "medians of two jobs, off those of one": (median([row["moved"] for row in rows]), MOVED, "of them"),
            "false alarms": (alarms / max(1, decided), ALARMS, f"of {decided}"),
            "failed trials": (sum(record.status == "failed" for record in two), 0, "of them"),
        },
        {
            "by class of work": [*by_class(rows), part_of("all", rows)],
            "failures": failures(two),
        },
    )


if __name__ == "__main__":
    main()
