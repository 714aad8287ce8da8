"""NumPy's asv suite, or another: the benchmarks that opperf finds and measures, and false alarms beside asv's own.

    python benchmarks/asv_suite.py names SUITE [--environment NUMPY]
    python benchmarks/asv_suite.py measured SUITE [--select REGEX] [--budget SECONDS]
    python benchmarks/asv_suite.py alarms SUITE [--select REGEX] [--budget SECONDS] [--asv COMMAND] [--loops COUNT]

SUITE is the folder that holds `asv.conf.json`. `names` asks asv's library itself, in the Python of the environment, and
counts which of its benchmarks and parameters opperf lists. `measured` runs each once, and counts why others are not.
`alarms` compares one release with itself, in two environments of the same packages, and asks asv for the same: two runs
of each by turns, which `asv compare` judges. Without a command of asv that part is left out; with `--loops`, so many
busy loops run beside all of it. The machine is quiet otherwise, or the figures mean nothing.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from asv_runs import ENVIRONMENT, FILES, AsvRuns, listed, opperf
from load import burners
from report import publish

from opperf.domain.units import plural

#: The goals: shares of what asv finds, seconds for both sides, and what is called changed.
FOUND, MEASURED, SECONDS = 0.99, 0.97, 1200.0
#: What asv calls changed by default: medians that lie apart by more than this factor.
ASV_FACTOR = 1.1
#: Short turns do: what differs from process to process, more rounds in one do not tell.
BRIEF = ("--trial-budget", "0.1")


def names(asked: argparse.Namespace) -> None:
    """Hold what opperf lists against what asv's library finds."""
    theirs = Counter(name for name, _ in listed(asked.suite, asked.environment))
    words = ("run", f"asv:{asked.suite}", "--environment", asked.environment, "--dry-run", "--format", "csv")
    rows = list(csv.DictReader(opperf(*words).splitlines()))
    ours = Counter(row["operator"] for row in rows)
    both = sum((theirs & ours).values())
    row = {
        "environment": asked.environment,
        "asv finds": sum(theirs.values()),
        "opperf lists": len(rows),
        "both": both,
        "benchmarks": len(ours),
    }
    missed = (1 - both / sum(theirs.values()), 1 - FOUND, "of asv's cases")
    publish("asv_suite_names", "benchmarks with parameters", [row], {"not found": missed})


def measured(asked: argparse.Namespace) -> None:
    """Run each benchmark in one process, and count what is not measured by reason."""
    began = time.monotonic()
    words = ["run", f"asv:{asked.suite}", "--environment", asked.environment, "--format", "json", "--no-samples"]
    words += ["--runs", "3", "--warmup", "1"]
    words += ["--budget", str(asked.budget)] if asked.budget else []
    words += ["--select", asked.select] if asked.select else []
    records = json.loads(opperf(*words, codes=(0, 1, 3)))["records"]
    reasons = Counter(_reason(record) for record in records if record["status"] != "ok")
    by_asv = sum(count for reason, count in reasons.items() if reason.startswith("skipped: asv"))
    ok = sum(record["status"] == "ok" for record in records)
    row = {"cases": len(records), "measured": ok, "left out by the suite": by_asv, "seconds": time.monotonic() - began}
    others = 1 - (ok + by_asv) / len(records)
    figures = {"neither measured nor left out by the suite": (others, 1 - MEASURED, "of the cases")}
    more = {"not measured": [{"reason": reason, "cases": count} for reason, count in reasons.most_common()]}
    publish("asv_suite_measured", "cases of the suite", [row], figures, more if reasons else None)


def _reason(record: dict[str, Any]) -> str:
    reason = record["reason"]
    what = "asv's own reason" if reason["slug"] == "skipped_by_suite" else f"{reason['slug']}: {reason['message']}"
    return f"{record['status']}: {what[:100]}"


def alarms(asked: argparse.Namespace) -> None:
    """Compare a release with itself, and have asv do so."""
    select = asked.select or FILES
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, burners(asked.loops):
        if asked.asv:
            rows.append(_alarms_of_asv(asked, select, Path(folder)))
        output = Path(folder) / "compared.json"
        began, load = time.monotonic(), os.getloadavg()[0]
        words = ["compare", f"asv:{asked.suite}", "--select", select, "--output", str(output), *BRIEF]
        words += ["--base", asked.environment, "--new", asked.environment]
        opperf(*words, *(("--budget", str(asked.budget)) if asked.budget else ()), codes=(0, 3))
        seconds = time.monotonic() - began
        comparisons = json.loads(output.read_text())["comparisons"]
    words_of = Counter(one["verdict"] for one in comparisons)
    intervals = [one["interval"] for one in comparisons if one["interval"]]
    holding = sum(low <= 1 <= high for low, high in intervals) / max(1, len(intervals))
    changed = words_of["slower"] + words_of["faster"]
    rows.append(
        {
            "tool": "opperf",
            "cases": len(comparisons),
            "called changed": changed,
            "seconds": seconds,
            "same": words_of["same"],
            "inconclusive": words_of["inconclusive"],
            "intervals that hold 1": holding,
            "pairs": sum(one["pairs"] for one in comparisons) / max(1, len(comparisons)),
            "load": load,
        }
    )
    figures = {
        "called changed": (changed, 0, "cases"),
        "both sides": (seconds, SECONDS, "s"),
        "intervals that hold 1, off 95 %": (abs(holding - 0.95), 0.02, "of them"),
    }
    title = f"{asked.environment} against itself, {select}"
    title += f", beside {plural(asked.loops, 'busy loop')}" if asked.loops else ""
    more = {"asv": rows[:-1]}
    publish("asv_suite_alarms_loops" if asked.loops else "asv_suite_alarms", title, rows[-1:], figures, more)


def _alarms_of_asv(asked: argparse.Namespace, select: str, folder: Path) -> dict[str, Any]:
    """Run asv twice in the environment that opperf measures, and count the medians that lie apart."""
    runs = AsvRuns(asked.asv, asked.suite, asked.environment, folder)
    began, load = time.monotonic(), os.getloadavg()[0]
    first, second = (runs.medians(select) for _ in range(2))
    factors = [max(one / second[case], second[case] / one) for case, one in first.items() if case in second]
    return {
        "tool": "asv",
        "cases": len(factors),
        "called changed": sum(factor > ASV_FACTOR for factor in factors),
        "seconds": time.monotonic() - began,
        "apart by 5 %": sum(factor > 1.05 for factor in factors),
        "apart by 10 %": sum(factor > 1.1 for factor in factors),
        "largest factor": max(factors, default=1.0),
        "load": load,
    }


def main() -> None:
    """Do what is asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("names", "measured", "alarms"))
    parser.add_argument("suite")
    parser.add_argument("--environment", default=ENVIRONMENT)
    parser.add_argument("--select")
    parser.add_argument("--budget", type=float)
    parser.add_argument("--asv", help="how asv is started, such as `/opt/asv/bin/asv`")
    parser.add_argument("--loops", type=int, default=0, help="busy loops beside `alarms`")
    asked = parser.parse_args()
    {"names": names, "measured": measured, "alarms": alarms}[asked.what](asked)


if __name__ == "__main__":
    main()
