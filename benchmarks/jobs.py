"""Whether `--jobs 2` saves time and leaves numbers as they are: MXNet's own benchmark on two cores.

Every row, one warm-up call and five runs each, by two jobs, by one job, and then by MXNet's `benchmark/opperf`, so that
all meet the same hour. Then comparisons of operators with themselves by two jobs, none of which has changed.

python benchmarks/jobs.py INPUTS.json CHECKOUT, which is that of MXNet 1.9.1, with `benchmark/opperf` in it
`--rows N` takes N rows and leaves the original out, `--comparisons N` compares N rows with themselves.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from mxnet_rows import theirs
from report import publish

from opperf.domain.record import Run
from opperf.domain.stats.order import median
from opperf.parent.store.documents import read_run

#: The share of the original's time that two jobs may take; how far medians may lie from those of one job, by the median
#: of all rows; and the share of comparisons that may call identical code changed.
SHARE, MOVED, ALARMS = 0.6, 0.03, 0.01
COMPARISONS = 100


def rows_of(path: Path, count: int | None, folder: Path, name: str) -> Path:
    """Write the first rows of a file of inputs, one of each operator before the second of any; all without a number."""
    inputs: dict[str, list[Any]] = json.loads(path.read_text())
    turns = (one for turn in range(max(map(len, inputs.values()))) for one in inputs if turn < len(inputs[one]))
    kept: dict[str, list[Any]] = {}
    for operator in islice(turns, count):
        several = kept.setdefault(operator, [])
        several.append(inputs[operator][len(several)])
    place = folder / f"{name}.json"
    place.write_text(json.dumps(kept))
    return place


def opperf(*words: object) -> float:
    """Run the command; return its wall time in seconds."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "opperf", *map(str, words)], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def run_of(inputs: Path, jobs: int, folder: Path) -> tuple[Run, float]:
    """Measure every row with so many jobs of one thread; return the records and the wall time."""
    output = folder / f"jobs{jobs}.json"
    wall = opperf(
        "run", "--suite", inputs, "--framework", "mxnet", "--threads", 1, "--warmup", 1, "--runs", 5, "--no-check",
        "--jobs", jobs, "--output", output,
    )  # fmt: skip
    return read_run(output), wall


def moved(one: Run, two: Run) -> list[dict[str, Any]]:
    """Return how far the median of each trial with two jobs lies from that with one, the farthest first."""
    alone = {record.trial.key: record.time.median for record in one if record.time is not None}
    rows = []
    for record in two:
        before, now = alone.get(record.trial.key), None if record.time is None else record.time.median
        if before and now:
            jobs: Any = record.facts.get("jobs", {})
            rows.append(
                {
                    "operator": record.trial.case.operator.removeprefix("mxnet:nd."),
                    "direction": record.trial.direction,
                    "class": str(jobs.get("class")),
                    "alone": not jobs.get("beside"),
                    "one job, us": 1e6 * before,
                    "two jobs, us": 1e6 * now,
                    "moved": abs(now / before - 1),
                }
            )
    return sorted(rows, key=lambda row: -row["moved"])


def by_class(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return how far the medians of each class moved, how many trials ran alone, and the seconds of their calls."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["class"], []).append(row)
    return [
        {
            "class": kind,
            "trials": len(several),
            "moved": median([row["moved"] for row in several]),
            "alone": sum(row["alone"] for row in several),
            "seconds of a call, all": sum(row["two jobs, us"] for row in several) / 1e6,
            "seconds of a call, alone": sum(row["two jobs, us"] for row in several if row["alone"]) / 1e6,
        }
        for kind, several in sorted(groups.items())
    ]


def failures(run: Run) -> list[dict[str, str]]:
    """Return which trials failed, and why."""
    return [
        {
            "operator": record.trial.case.operator,
            "direction": record.trial.direction,
            "reason": "" if record.reason is None else f"{record.reason.slug}: {record.reason.message}",
        }
        for record in run
        if record.status == "failed"
    ]


def alarms_of(inputs: Path, folder: Path) -> list[str]:
    """Compare rows with themselves by two jobs; return the verdicts."""
    output = folder / "verdicts.json"
    opperf(
        "compare", "--suite", inputs, "--base", "mxnet", "--new", "mxnet", "--jobs", 2, "--no-check", "--output", output
    )
    return [one["verdict"] for one in json.loads(output.read_text())["comparisons"]]


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
        inputs = rows_of(words.inputs, words.rows, folder, "rows")
        two, wall = run_of(inputs, 2, folder)
        one, wall_alone = run_of(inputs, 1, folder)
        their_wall = None if words.rows is not None else theirs(words.checkout.resolve(), folder)
        verdicts = alarms_of(rows_of(words.inputs, words.comparisons, folder, "compared"), folder)
    rows = moved(one, two)
    alarms = sum(verdict in ("slower", "faster") for verdict in verdicts)
    decided = sum(verdict not in ("failed", "skipped") for verdict in verdicts)
    beside = "" if their_wall is None else f", {their_wall:.0f} s by the original"
    publish(
        "jobs" if words.rows is None else "jobs_of_some_rows",
        f"{len(two.records)} trials, one warm-up call and five runs: {wall:.0f} s by two jobs, {wall_alone:.0f} s by "
        f"one{beside}; {alarms} of {decided} comparisons of identical code called changed",
        rows[:20],
        {
            **({} if their_wall is None else {"wall time, to the original's": (wall / their_wall, SHARE, "times")}),
            "medians of two jobs, off those of one": (median([row["moved"] for row in rows]), MOVED, "of them"),
            "false alarms": (alarms / max(1, decided), ALARMS, f"of {decided}"),
            "failed trials": (sum(record.status == "failed" for record in two), 0, "of them"),
        },
        {
            "by class of work": by_class(rows),
            "wall time, s": [{"two jobs": wall, "one job": wall_alone, "the original": their_wall}],
            "failures": failures(two),
        },
    )


if __name__ == "__main__":
    main()
