"""asv's folder of results: a folder for each machine, a file for each commit and environment.

Format 2: https://asv.readthedocs.io/en/stable/dev.html. Times are seconds; a benchmark with parameters has a result
for each combination of them, null where it failed and NaN where it was skipped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timezone
from itertools import product
from pathlib import Path

from opperf.domain.codec import Fields, read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.files.text_file import read_json
from opperf.domain.record import Run
from opperf.domain.type_hint import Unread
from opperf.parent.store.imports.absolute_times import Spread, Timing, absolute_run

TOOL = "asv"
#: What names a benchmark of time, where `benchmarks.json` does not say what it measures.
PREFIXES = ("time_", "timeraw_")
COLUMNS = (
    *("result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b"),
    *("stats_q_25", "stats_q_75", "stats_number", "stats_repeat", "samples", "profile"),
)


@dataclass(frozen=True)
class _Machine(Fields):
    machine: str
    arch: str | None = None
    cpu: str | None = None
    num_cpu: str | None = None
    ram: str | None = None
    os: str | None = None


@dataclass(frozen=True)
class _Benchmark(Fields):
    name: str
    type: str
    param_names: tuple[str, ...] = ()


@dataclass(frozen=True)
class _File(Fields):
    commit_hash: str
    env_name: str
    date: int
    results: Mapping[str, Unread]
    result_columns: tuple[str, ...] = COLUMNS
    requirements: Mapping[str, str] = field(default_factory=dict)


def is_results(folder: Path) -> bool:
    """Whether this is a folder of asv's results: it has one for each machine."""
    return any(folder.glob("*/machine.json"))


def read_folder(folder: Path) -> Iterator[Run]:
    """Yield a run for each commit and environment of each machine; raises `InputError` for other files."""
    benchmarks = _benchmarks(folder / "benchmarks.json")
    for place in sorted(folder.glob("*/machine.json")):
        machine = read_as(_Machine, read_json(place), str(place))
        for path in sorted(place.parent.glob("*.json")):
            if path != place:
                yield _run(read_as(_File, read_json(path), str(path)), benchmarks, machine, str(path))


def _benchmarks(path: Path) -> dict[str, _Benchmark]:
    if not path.exists():
        return {}
    entries = read_as(Mapping[str, Unread], read_json(path), str(path))
    # `version` is the version of the file.
    return {name: read_as(_Benchmark, one, f"{path}: {name}") for name, one in entries.items() if name != "version"}


def _run(file: _File, benchmarks: Mapping[str, _Benchmark], machine: _Machine, where: str) -> Run:
    timings: list[Timing] = []
    for name, values in file.results.items():
        benchmark = benchmarks.get(name)
        if benchmark.type == "time" if benchmark else name.rpartition(".")[2].startswith(PREFIXES):
            row = dict(zip(file.result_columns, read_as(tuple[Unread, ...], values, f"{where}: {name}")))
            timings += _timings(name, benchmark, row, f"{where}: {name}")
    facts = {
        "architecture": machine.arch,
        "cpu": machine.cpu or machine.machine,
        "cores_logical": _whole(machine.num_cpu),
        "memory_total": _whole(machine.ram),
    }
    return absolute_run(
        TOOL,
        timings,
        version=file.commit_hash[:12],
        started=datetime.fromtimestamp(file.date / 1000, timezone.utc),
        machine=facts,
        labels={"asv_environment": file.env_name},
    )


def _timings(name: str, benchmark: _Benchmark | None, row: Mapping[str, object], where: str) -> Iterator[Timing]:
    params = read_as(tuple[tuple[str, ...], ...], row.get("params") or [], f"{where}: params")
    names = benchmark.param_names if benchmark else ()
    names = names if len(names) == len(params) else tuple(f"param{i + 1}" for i in range(len(params)))
    combinations = list(product(*params))

    def column(key: str) -> Sequence[object]:
        values = row.get(key)
        return values if isinstance(values, list) and len(values) == len(combinations) else [None] * len(combinations)

    results = column("result")
    others = ("stats_ci_99_a", "stats_ci_99_b", "stats_number", "stats_repeat")
    for values, result, low, high, number, repeat in zip(combinations, results, *map(column, others)):
        if isinstance(result, float) and math.isnan(result):
            continue
        spread = None
        if _is_time(result):
            interval = (float(low), float(high)) if _is_time(low) and _is_time(high) else None
            spread = Spread(result, interval=interval, samples=int(repeat or 1), calls=int(number or 1))
        yield Timing(name, spread, dict(zip(names, values)))


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() else None


def _is_time(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value > 0
