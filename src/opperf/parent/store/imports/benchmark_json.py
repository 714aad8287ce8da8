"""The JSON of pytest-benchmark and of google-benchmark: one file, one run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Annotated

from opperf.domain.codec import Fields, read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.record import Run
from opperf.domain.type_hint import Amount, Natural, OneOf
from opperf.parent.store.imports.absolute_times import Spread, Timing, absolute_run

#: How many of google-benchmark's units a second has.
UNITS = {"ns": 1e9, "us": 1e6, "ms": 1e3, "s": 1.0}


@dataclass(frozen=True)
class _Stats(Fields):
    min: Amount
    max: Amount
    mean: Amount
    median: Amount
    stddev: Amount
    rounds: Natural
    iterations: Natural


@dataclass(frozen=True)
class _PytestBenchmark(Fields):
    name: str
    fullname: str
    stats: _Stats
    params: Mapping[str, object] | None = None


@dataclass(frozen=True)
class _Commit(Fields):
    id: str | None = None


@dataclass(frozen=True)
class _Pytest(Fields):
    benchmarks: tuple[_PytestBenchmark, ...]
    datetime: str
    commit_info: _Commit = _Commit()
    machine_info: Mapping[str, object] = field(default_factory=dict)


def pytest_run(data: object, where: str) -> Run:
    """Read what `pytest --benchmark-json` wrote."""
    file = read_as(_Pytest, data, where)
    timings = [
        Timing(
            # The parameters stand next to the name.
            one.fullname.partition("[")[0],
            Spread(
                one.stats.median,
                one.stats.mean,
                one.stats.min,
                one.stats.max,
                stdev=one.stats.stddev,
                samples=one.stats.rounds,
                calls=one.stats.iterations,
            ),
            {name: _argument(value) for name, value in (one.params or {}).items()},
        )
        for one in file.benchmarks
    ]
    info = file.machine_info
    cpu = read_as(Mapping[str, object], info.get("cpu") or {}, f"{where}: machine_info.cpu")
    machine = {"architecture": info.get("machine"), "cpu": cpu.get("brand_raw"), "cores_logical": cpu.get("count")}
    version = (file.commit_info.id or "unversioned")[:12]
    return absolute_run("pytest-benchmark", timings, version=version, started=_moment(file.datetime), machine=machine)


@dataclass(frozen=True)
class _GoogleBenchmark(Fields):
    name: str
    run_type: str = "iteration"
    run_name: str | None = None
    aggregate_name: str | None = None
    iterations: Natural = 1
    real_time: Amount | None = None
    time_unit: Annotated[str, OneOf(tuple(UNITS))] = "ns"
    error_occurred: bool = False


@dataclass(frozen=True)
class _Cache(Fields):
    type: str
    level: Natural
    size: Natural
    num_sharing: Natural = 1


@dataclass(frozen=True)
class _Context(Fields):
    date: str | None = None
    host_name: str | None = None
    num_cpus: Natural | None = None
    caches: tuple[_Cache, ...] = ()


@dataclass(frozen=True)
class _Google(Fields):
    context: _Context
    benchmarks: tuple[_GoogleBenchmark, ...]


def google_run(data: object, where: str, *, version: str) -> Run:
    """Read what `--benchmark_format=json` wrote: repetitions are samples, else the median that stands for them."""
    file = read_as(_Google, data, where)
    samples: dict[str, list[float]] = {}
    medians: dict[str, float] = {}
    for one in file.benchmarks:
        name = one.run_name or one.name
        time = None if one.real_time is None else one.real_time / UNITS[one.time_unit]
        if one.run_type == "iteration":
            several = samples.setdefault(name, [])
            if time and not one.error_occurred:
                several.append(time)
        elif one.aggregate_name == "median" and time:
            medians[name] = time
    timings = []
    for name in dict.fromkeys([*samples, *medians]):
        spread = Spread.of(samples[name]) if samples.get(name) else None
        if spread is None and name in medians:
            spread = Spread(medians[name])
        base, *arguments = name.split("/")
        timings.append(Timing(base, spread, dict(map(_google_argument, enumerate(arguments)))))
    context = file.context
    caches = [
        {"level": one.level, "type": one.type.lower(), "size": one.size, "shared_by": one.num_sharing}
        for one in context.caches
    ]
    machine = {"cpu": context.host_name, "cores_logical": context.num_cpus, "caches": caches}
    start = None if context.date is None else _moment(context.date)
    return absolute_run("google-benchmark", timings, version=version, started=start, machine=machine)


def _google_argument(part: tuple[int, str]) -> tuple[str, str | int]:
    """Return the name and the value of an argument of a name: `8`, or `size:8`.

    >>> _google_argument((0, "8")), _google_argument((1, "size:8"))
    (('arg1', 8), ('size', 8))
    """
    i, text = part
    name, colon, value = text.partition(":")
    word = value if colon else text
    return name if colon else f"arg{i + 1}", int(word) if word.isdecimal() else word


def _argument(value: object) -> str | int | float | bool | None:
    return value if isinstance(value, (str, int, float, bool)) or value is None else repr(value)


def _moment(text: str) -> datetime | None:
    """Read a moment; Python 3.10 reads no `Z`."""
    try:
        return datetime.fromisoformat(re.sub(r"Z$", "+00:00", text))
    except ValueError:
        return None
