"""Real nights: releases of NumPy, oldest first, measured by `opperf nightly`; every change that is named is checked.

A named change stands between two neighbouring releases, which are then compared directly. The comparison contradicts
it where the two intervals, each of 95 %, leave no ratio that both allow and the comparison sees no change that way.

    python benchmarks/real_nights.py [FOLDER]

FOLDER keeps the database, so that a stopped benchmark goes on where it was.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from report import publish

from opperf.parent.commands import compare as comparing
from opperf.parent.commands.history import archive, named_changes
from opperf.parent.commands.nightly.nightly import Order, nightly
from opperf.parent.measuring.progress import Silent, Stderr
from opperf.parent.planning.request import Request
from opperf.parent.reports.history import NamedChange
from opperf.parent.sources.gate_file import nightly_file
from opperf.parent.sources.options import What
from opperf.parent.store.database.history import ratios

ANCHOR = "1.26.0"
RELEASES = ("1.26.4", "2.0.2", "2.1.3", "2.2.6", "2.3.0", "2.3.5", "2.4.0", "2.4.6")
OPERATORS = (
    "add", "multiply", "exp", "log", "sqrt", "tanh", "power", "maximum", "sum", "mean", "max", "argmax", "cumsum",
    "sort", "argsort", "matmul", "softmax", "concatenate", "transpose", "where",
)  # fmt: skip
CONFIG = f"""
[nightly]
operators = {json.dumps(OPERATORS)}
sizes = "small"
directions = "forward"
anchor = "numpy=={ANCHOR}"
builds = {json.dumps([f"numpy=={release}" for release in RELEASES])}
"""


def direct(change: NamedChange) -> dict[str, Any]:
    """Compare the two releases that a change stands between, and hold the change against that."""
    before, after = change.change.before, change.change.after
    run, cause = comparing.compare(
        [change.series.case.operator],
        Request(What(size=("small",), direction=("forward",))),
        comparing.Order(),
        Silent(),
        base=f"numpy=={before}",
        new=[f"numpy=={after}"],
    )
    if cause is not None:
        raise cause
    (verdict,) = (one.verdict for one in run.comparisons)
    low, high = change.change.size.interval()
    own = verdict.interval or (0.0, float("inf"))
    apart = own[0] > high or own[1] < low
    wanted = "slower" if change.change.size.log_ratio > 0 else "faster"
    return {
        "operator": change.series.case.operator,
        "before": before,
        "after": after,
        "named": f"[{low:.3f}, {high:.3f}]",
        "direct": f"[{own[0]:.3f}, {own[1]:.3f}]",
        "verdict": verdict.verdict,
        "contradicted": "yes" if apart and verdict.verdict != wanted else "no",
    }


def main() -> None:
    """Measure the nights, find the changes, and check each."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp(prefix="opperf-nights-"))
    folder.mkdir(parents=True, exist_ok=True)
    file = nightly_file(CONFIG, folder / "opperf.toml")
    with archive(str(folder / "nights.db"), create=True) as store:
        nights = nightly(file, store, Order(), Stderr())
        if nights.cause is not None:
            raise nights.cause
        search = named_changes(store)
        comparisons = sum(len(series.ratios) for series in ratios(store))
    confirmed = [change for change in search.changes if change.change.confirmed]
    rows = [direct(change) for change in confirmed]
    near = sum(closure.sigmas <= 2 for _, closure in nights.closures)
    closures = len(nights.closures)
    publish(
        "real_nights",
        f"{len(RELEASES)} releases of NumPy, {search.series} series, {comparisons} ratios, {len(rows)} changes",
        rows or [{"operator": "none", "before": "", "after": ""}],
        {
            "changes that a direct comparison contradicts": (sum(row["contradicted"] == "yes" for row in rows), 0, ""),
            "ratios that others contradict (2 standard errors)": (100 * (1 - near / closures), 10, "%")
            if closures
            else (0, 10, "%"),
        },
    )


if __name__ == "__main__":
    main()
