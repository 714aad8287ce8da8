"""One file of asv: a commit in an environment, in format 2 or in format 1 of the releases before 0.5.

Times are seconds, each the median of its samples; a benchmark with parameters has a result for each combination of
them, null where it failed and NaN where it was skipped. What asv measures besides times has no place in a record:
`peakmem_` is the memory of a whole process and not of a call, `mem_` the size of an object, `track_` anything.

A file has thousands of numbers, so they are looked at column by column.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Optional, cast

from opperf.domain.codec import Fields, read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import JsonObject
from opperf.domain.moment import EXPECTED, moment_of
from opperf.domain.parameter import VERSION, own_version, parameter_names
from opperf.domain.type_hint import AtLeast, Natural, Unread, wrong
from opperf.parent.store.imports.absolute_times import LONGEST, MOST_ROWS
from opperf.parent.store.imports.builds import Block, Build

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


@dataclass(frozen=True)
class Benchmark(Fields):
    """What `benchmarks.json` says of a benchmark."""

    name: str
    type: str
    param_names: tuple[str, ...] = ()


@dataclass(frozen=True)
class _File(Fields):
    commit_hash: str
    date: Natural
    results: Mapping[str, Unread]
    env_name: str | None = None
    result_columns: tuple[str, ...] = COLUMNS
    version: Unread = 2


#: A value for each combination of parameters; null for all is none at all.
_Column = Optional[tuple[Unread, ...]]
_Parameters = Optional[tuple[tuple[str, ...], ...]]
_Count = Optional[Annotated[int, AtLeast(1)]]


def read_build(
    value: object, path: Path, *, digest: str, machine: JsonObject, benchmarks: Mapping[str, Benchmark]
) -> Build:
    """Read a file; raises `InputError` that names the place."""
    file, where = read_as(_File, value, str(path)), str(path)
    started = moment_of(file.date / 1000)
    if started is None:
        raise wrong(file.date, f"{where}: date", f"milliseconds since 1970: {EXPECTED}")
    # Before releases wrote the name of the environment, the name of the file alone had it.
    environment = file.env_name or path.stem.partition("-")[2] or "unnamed"
    left_out: Counter[str] = Counter()
    blocks: list[Block] = []
    for name, own in file.results.items():
        place = f"{where}: {name}"
        row = _row(own, file.result_columns, place, is_first=file.version == 1)
        benchmark = benchmarks.get(name)
        kind = benchmark.type if benchmark else PREFIXES.get(name.rpartition(".")[2].partition("_")[0])
        if kind != "time":
            reason = OTHERS.get(kind or "", "values of benchmarks of an unknown kind")
            left_out[reason] += len(_column(row, "result", place) or ()) or 1
        elif (block := _block(name, benchmark, row, place, left_out)) is not None:
            blocks.append(block)
    build = Build(
        tool=TOOL,
        name=f"{path.parent.name}/{file.commit_hash}/{environment}",
        digest=digest,
        version=file.commit_hash[:12],
        started=started,
        machine=machine,
        labels={"asv_environment": environment},
        blocks=blocks,
        left_out=left_out,
    )
    if build.rows > MOST_ROWS:
        raise InputError(f"{where}: over {MOST_ROWS:,} results, expected fewer in one run", slug="bad_value")
    return build


def _row(fields: object, columns: Sequence[str], where: str, *, is_first: bool) -> Mapping[str, object]:
    """Return the columns of a benchmark by their names."""
    if not is_first:
        return dict(zip(columns, read_as(tuple[Unread, ...], fields, where)))
    row = dict(fields) if isinstance(fields, dict) else {"result": fields}
    result = row.get("result")
    if not isinstance(result, list) and not (result is None and row.get("params")):
        row["result"] = [result]
    stats = row.get("stats")
    several = stats if isinstance(stats, list) else [stats]
    if any(several):
        each = [read_as(Mapping[str, Unread], one or {}, f"{where}: stats[{i}]") for i, one in enumerate(several)]
        bounds = [read_as(_Column, one.get("ci_99"), f"{where}: stats[{i}].ci_99") for i, one in enumerate(each)]
        for i, column in enumerate(("stats_ci_99_a", "stats_ci_99_b")):
            row[column] = [one[i] if one is not None and len(one) == 2 else None for one in bounds]
        for key in ("number", "repeat"):
            row[f"stats_{key}"] = [one.get(key) for one in each]
    return row


def _column(row: Mapping[str, object], name: str, where: str) -> Sequence[object] | None:
    column = row.get(name)
    if column is not None and not isinstance(column, list):
        column = read_as(_Column, column, f"{where}.{name}")
    return column


def _block(
    name: str, benchmark: Benchmark | None, row: Mapping[str, object], where: str, left_out: Counter[str]
) -> Block | None:
    """Return the times of a benchmark, None where it has none; what has no place is counted."""
    values = read_as(_Parameters, row.get("params"), f"{where}.params") or ()
    if len(values) > MOST_PARAMETERS:
        raise wrong(list(values), f"{where}.params", f"at most {MOST_PARAMETERS} parameters")
    count, results = math.prod(map(len, values)), _column(row, "result", where)
    if results is None and not values:
        results = [None]
    if results is None:
        left_out["benchmarks that failed for all their parameters"] += 1
        return None
    # Parameters multiply: only as many combinations are made as there are results.
    if len(results) != count:
        left_out["benchmarks whose results are not one for each combination of their parameters"] += 1
        return None
    places = [place for place, result in enumerate(results) if result == result]
    if len(places) < count:
        left_out["combinations of parameters that a benchmark skips"] += count - len(places)

    def column(name: str) -> Sequence[object]:
        values = results if name == "result" else _column(row, name, where)
        if values is None or len(values) != count:
            return [None] * len(places)
        return values if len(places) == count else [values[place] for place in places]

    times, lows, highs = (_times(column(name), where) for name in ("result", "stats_ci_99_a", "stats_ci_99_b"))
    bounds = [
        (low, high) if None not in (time, low, high) else (None, None) for time, low, high in zip(times, lows, highs)
    ]
    names = tuple(parameter_names(benchmark.param_names if benchmark else (), values))
    version = own_version(row.get("version"))
    if version is not None and VERSION not in names:  # one more parameter, with one value
        names, values = (*names, VERSION), (*values, (version,))
    return Block(
        name,
        names,
        values,
        places,
        times,
        [low for low, _ in bounds],
        [high for _, high in bounds],
        _counts(column("stats_repeat"), f"{where}.stats_repeat"),
        _counts(column("stats_number"), f"{where}.stats_number"),
    )


def _times(values: Iterable[object], where: str) -> list[float | None]:
    """Return times, None for what is none: a benchmark may take any number above zero."""
    times = [value if isinstance(value, float) and 0 < value < math.inf else _whole_time(value) for value in values]
    longest = max(filter(None, times), default=0.0)
    if longest > LONGEST:
        raise wrong(longest, where, f"a time of at most {LONGEST:g} s")
    return times


def _whole_time(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _counts(values: Sequence[object], where: str) -> Sequence[int | None]:
    for i, value in enumerate(values):
        if value is not None and (type(value) is not int or value < 1):
            read_as(_Count, value, f"{where}[{i}]")
    return cast("Sequence[int | None]", values)
