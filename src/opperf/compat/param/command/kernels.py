"""Kernels as NVIDIA's tools report them, each under the label of the range that it was launched in.

`from_ncu` reads the raw page as CSV: names of columns, their units, a row for each launch; the tool's own lines stand
before it. `from_nsys` reads the SQLite export: ranges, calls of CUDA, and kernels that are joined to the calls.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import dropwhile
from pathlib import Path
from typing import Any, TypeAlias

from opperf.domain.dataclass import dataclass

#: The range that is around every call of a batch. A name without `/` means ranges of the process to ncu's filter, which
#: hold for every thread: backward launches its kernels from another one than the call, where a range of the thread that
#: called would hide them (https://github.com/NVIDIA/nsight-python/pull/57).
FILTER = "opperf"
#: What a label looks like, the range of one trial's calls.
LABEL = re.compile(rf"{FILTER}\.\d+\.[a-z_]+")
#: Columns of ncu's raw page that say which launch it was; columns of ranges have this in their names.
NOT_METRICS = {
    *("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Kernel Time", "Context", "Stream"),
    *("Block Size", "Grid Size", "Device", "CC"),
}
RANGES = "Domain:"
#: Metrics that are how long a kernel ran, and the tools' units of time in milliseconds, as old and new versions write.
DURATIONS = ("gpu__time_duration.sum", "duration")
MILLISECONDS = {"ns": 1e-6, "nsecond": 1e-6, "us": 1e-3, "usecond": 1e-3, "ms": 1.0, "msecond": 1.0}
#: Every launch in a range. Ranges are of the process, and each call is waited for within its own.
LAUNCHES = """
    SELECT coalesce(ranges.text, labels.value), coalesce(names.value, ''), kernels.end - kernels.start,
           kernels.gridX, kernels.gridY, kernels.gridZ, kernels.blockX, kernels.blockY, kernels.blockZ
    FROM CUPTI_ACTIVITY_KIND_KERNEL AS kernels
    JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS calls ON calls.correlationId = kernels.correlationId
    JOIN NVTX_EVENTS AS ranges ON calls.start BETWEEN ranges.start AND ranges.end
    LEFT JOIN StringIds AS labels ON labels.id = ranges.textId
    LEFT JOIN StringIds AS names ON names.id = kernels.demangledName
    ORDER BY kernels.start
"""


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel; a metric is its value and its unit."""

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    metrics: Mapping[str, tuple[float | str, str]]


Launches: TypeAlias = dict[str, list[Launch]]


def label(place: int, direction: str) -> str:
    """Return the label of a trial: the place of its case in the batch, and its direction."""
    return f"{FILTER}.{place}.{direction}"


def from_ncu(report: Path) -> Launches:
    """Return the launches of a CSV page; raises `ValueError` for anything else."""
    with report.open(encoding="utf-8", errors="replace", newline="") as file:
        page = dropwhile(lambda line: not line.startswith('"ID"'), file)
        rows = csv.reader(line for line in page if not line.startswith("=="))  # the tool's own lines
        try:
            names, *rest = list(rows) or [[]]
        except csv.Error as error:
            raise ValueError(str(error)) from error
        if not names:
            return {}
        if "Kernel Name" not in names or "Metric Name" in names:
            raise ValueError("it is not the raw page")
        units = dict(zip(names, rest[0])) if rest else {}
        launches: Launches = {}
        for row in rest[1:]:
            if len(row) != len(names):
                raise ValueError(f"a row has {len(row)} cells, its head {len(names)}")
            cells = dict(zip(names, row))
            ranges = " ".join(value for name, value in cells.items() if RANGES in name)
            metrics = {
                name: (_number(value), units.get(name, ""))
                for name, value in cells.items()
                if value and name not in NOT_METRICS and RANGES not in name
            }
            launch = Launch(cells["Kernel Name"], _sizes(cells, "Grid Size"), _sizes(cells, "Block Size"), metrics)
            for name in LABEL.findall(ranges):
                launches.setdefault(name, []).append(launch)
    return launches


def from_nsys(report: Path) -> Launches:
    """Return the launches of an SQLite export; raises `ValueError` for anything else."""
    import sqlite3  # no other run waits for it

    launches: Launches = {}
    try:
        with closing(sqlite3.connect(f"{report.absolute().as_uri()}?mode=ro", uri=True)) as database:
            tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
            if not {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"} <= tables:
                return {}  # a table is made when its first row is
            for name, kernel, duration, *sizes in database.execute(LAUNCHES):
                if LABEL.fullmatch(name or ""):
                    metrics = {"duration": (float(duration), "ns")}
                    launch = Launch(kernel, tuple(sizes[:3]), tuple(sizes[3:]), metrics)
                    launches.setdefault(name, []).append(launch)
    except sqlite3.Error as error:
        raise ValueError(str(error)) from error
    return launches


def summarize(launches: Sequence[Launch], iterations: int) -> dict[str, Any]:
    """Return the launches of some calls in a record: kernels with means of their metrics, in order.

    `launches` of a kernel, `kernel_time` in milliseconds and `metrics` are of one call; the last are those that add up.
    """
    kinds: dict[tuple[object, ...], list[Launch]] = {}
    for launch in launches:
        kinds.setdefault((launch.kernel, launch.grid, launch.block), []).append(launch)
    times = [time for launch in launches if (time := _milliseconds(launch)) is not None]
    return {
        "kernel_time": sum(times) / iterations if times else None,
        "iterations": iterations,
        "metrics": _sums(launches, iterations),
        "kernels": [
            {
                "name": launches[0].kernel,
                "grid": list(launches[0].grid),
                "block": list(launches[0].block),
                "launches": len(launches) / iterations,
                "metrics": {name: _mean(name, launches) for name in launches[0].metrics},
            }
            for launches in kinds.values()
        ],
    }


def _sums(launches: Sequence[Launch], iterations: int) -> dict[str, Any]:
    """Return the counters of all kernels of one call: those that the tools call sums."""
    totals: dict[tuple[str, str], float] = {}
    for launch in launches:
        for name, (value, unit) in launch.metrics.items():
            if name.endswith(".sum") and isinstance(value, float):
                totals[name, unit] = totals.get((name, unit), 0.0) + value
    return {name: {"value": total / iterations, "unit": unit} for (name, unit), total in totals.items()}


def _mean(name: str, launches: Sequence[Launch]) -> dict[str, Any]:
    """Return a metric over several launches; of words, the first."""
    value, unit = launches[0].metrics[name]
    numbers = [pair[0] for launch in launches if (pair := launch.metrics.get(name)) and isinstance(pair[0], float)]
    return {"value": sum(numbers) / len(numbers) if numbers else value, "unit": unit}


def _milliseconds(launch: Launch) -> float | None:
    for name in DURATIONS:
        value, unit = launch.metrics.get(name, ("", ""))
        if isinstance(value, float) and unit in MILLISECONDS:
            return value * MILLISECONDS[unit]
    return None


def _number(text: str) -> float | str:
    try:
        return float(text.replace(",", ""))  # of thousands
    except ValueError:
        return text


def _sizes(cells: Mapping[str, str], name: str) -> tuple[int, ...]:
    return tuple(int(word) for word in re.findall(r"\d+", cells.get(name, "")))
