"""asv's folder of results: a folder for each machine, a file for each commit and environment.

Format 2: https://asv.readthedocs.io/en/stable/dev.html. Times are seconds, each the median of its samples; a benchmark
with parameters has a result for each combination of them, null where it failed and NaN where it was skipped. What asv
measures besides times has no place in a record: `peakmem_` is the memory of a whole process and not of a call, `mem_`
the size of an object, `track_` anything.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import product
from pathlib import Path
from typing import Annotated, Optional

from opperf.domain.codec import Fields, read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.files.text_file import read_json
from opperf.domain.moment import EXPECTED, moment_of
from opperf.domain.type_hint import AtLeast, Natural, Unread, wrong
from opperf.parent.store.imports.absolute_times import Foreign, Sheet, Spread, Timing, absolute_run, seconds

TOOL = "asv"
#: What names a benchmark that measures time, and those of other kinds, where `benchmarks.json` does not say the kind.
PREFIXES = {"time": "time", "timeraw": "time", "mem": "memory", "peakmem": "peakmemory", "track": "track"}
#: What is said of the values of each other kind.
OTHERS = {
    "memory": "values of `mem_` benchmarks, which are sizes of objects",
    "peakmemory": "values of `peakmem_` benchmarks, which are of whole processes",
    "track": "values of `track_` benchmarks, which may be of anything",
}
COLUMNS = (
    *("result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b"),
    *("stats_q_25", "stats_q_75", "stats_number", "stats_repeat", "samples", "profile"),
)
#: The most parameters of a benchmark, each of which every result repeats.
MOST_PARAMETERS = 32
#: The most digits of a number that stands in a text.
MOST_DIGITS = 18


@dataclass(frozen=True)
class _Machine(Fields):
    machine: str
    arch: str | None = None
    cpu: str | None = None
    num_cpu: str | None = None
    ram: str | None = None


@dataclass(frozen=True)
class _Benchmark(Fields):
    name: str
    type: str
    param_names: tuple[str, ...] = ()


@dataclass(frozen=True)
class _File(Fields):
    commit_hash: str
    env_name: str
    date: Natural
    results: Mapping[str, Unread]
    result_columns: tuple[str, ...] = COLUMNS
    requirements: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Row(Fields):
    """The columns of a benchmark that are read: a value for each combination of parameters, or null for all."""

    result: Optional[tuple[Unread, ...]] = None
    params: Optional[tuple[tuple[str, ...], ...]] = None
    stats_ci_99_a: Optional[tuple[Unread, ...]] = None
    stats_ci_99_b: Optional[tuple[Unread, ...]] = None
    stats_number: Optional[tuple[Optional[Annotated[int, AtLeast(1)]], ...]] = None
    stats_repeat: Optional[tuple[Optional[Annotated[int, AtLeast(1)]], ...]] = None


def is_results(folder: Path) -> bool:
    """Whether this is a folder of asv's results: it has one for each machine."""
    return any(folder.glob("*/machine.json"))


def read_folder(folder: Path) -> Iterator[Foreign]:
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


def _run(file: _File, benchmarks: Mapping[str, _Benchmark], machine: _Machine, where: str) -> Foreign:
    sheet = Sheet(where)
    for name, values in file.results.items():
        place = f"{where}: {name}"
        columns = dict(zip(file.result_columns, read_as(tuple[Unread, ...], values, place)))
        row, benchmark = read_as(_Row, columns, place), benchmarks.get(name)
        kind = benchmark.type if benchmark else PREFIXES.get(name.rpartition(".")[2].partition("_")[0])
        if kind != "time":
            reason = OTHERS.get(kind or "", "values of benchmarks of an unknown kind")
            sheet.leave_out(reason, len(row.result or ()) or 1)
        else:
            _add_times(sheet, name, benchmark, row, place)
    started = moment_of(file.date / 1000)
    if started is None:
        raise wrong(file.date, f"{where}: date", f"milliseconds since 1970: {EXPECTED}")
    facts = {
        "architecture": machine.arch,
        "cpu": machine.cpu or machine.machine,
        "cores_logical": _whole(machine.num_cpu),
        "memory_total": _whole(machine.ram),
    }
    labels = {"asv_environment": file.env_name}
    return absolute_run(
        TOOL, sheet, where, version=file.commit_hash[:12], started=started, machine=facts, labels=labels
    )


def _add_times(sheet: Sheet, name: str, benchmark: _Benchmark | None, row: _Row, where: str) -> None:
    params = row.params or ()
    if len(params) > MOST_PARAMETERS:
        raise wrong(list(params), f"{where}: params", f"at most {MOST_PARAMETERS} parameters")
    count = math.prod(map(len, params))
    results = row.result if row.result is not None or params else (None,)
    if results is None:
        sheet.leave_out("benchmarks that failed for all their parameters")
        return
    # Parameters multiply: only as many combinations are made as there are results.
    if len(results) != count:
        sheet.leave_out("benchmarks whose results are not one for each combination of their parameters")
        return
    names = benchmark.param_names if benchmark else ()
    names = names if len(set(names)) == len(params) else tuple(f"param{i + 1}" for i in range(len(params)))

    def column(values: Sequence[object] | None) -> Sequence[object]:
        return values if values is not None and len(values) == count else [None] * count

    others = (row.stats_ci_99_a, row.stats_ci_99_b, row.stats_number, row.stats_repeat)
    for values, result, low, high, number, repeat in zip(product(*params), results, *map(column, others)):
        if isinstance(result, float) and math.isnan(result):
            sheet.leave_out("combinations of parameters that a benchmark skips")
            continue
        time = None
        if _is_time(result):
            interval = (seconds(low, where), seconds(high, where)) if _is_time(low) and _is_time(high) else None
            time = Spread(seconds(result, where), interval=interval, samples=_count(repeat), calls=_count(number))
        sheet.add(Timing(name, time, dict(zip(names, values))))


def _count(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and len(text) <= MOST_DIGITS else None


def _is_time(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < math.inf
