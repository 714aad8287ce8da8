"""The JSON of pytest-benchmark and of google-benchmark: one file, one run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Annotated

from opperf.domain.case import Argument
from opperf.domain.codec import Fields, read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.files.json_text import show
from opperf.domain.moment import Moment, parse_moment
from opperf.domain.parameter import argument
from opperf.domain.type_hint import Amount, Natural, OneOf
from opperf.parent.store.imports.absolute_times import (
    Foreign,
    Sheet,
    Spread,
    Timing,
    absolute_run,
    json_argument,
    seconds,
)

#: google-benchmark's units, in seconds.
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
#: The aggregates of google-benchmark that a record has a place for; `cv` or `BigO` are others.
AGGREGATES = ("median", "mean", "min", "max", "stddev")
#: What a part of a name is that is an argument.
ARGUMENT = r"([\w ]+:)?-?\d+(\.\d+)?(e[+-]?\d+)?|(real|process|manual)_time"


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
    datetime: Moment
    commit_info: _Commit = _Commit()
    machine_info: Mapping[str, object] = field(default_factory=dict)


def pytest_run(data: object, where: str) -> Foreign:
    """Read what `pytest --benchmark-json` wrote."""
    file, sheet = read_as(_Pytest, data, where), Sheet(where)
    cases = [_pytest_case(one) for one in file.benchmarks]
    counts = Counter((name, repr(arguments)) for name, arguments in cases)
    for i, (benchmark, (name, arguments)) in enumerate(zip(file.benchmarks, cases)):
        place, stats = f"{where}: benchmarks[{i}].stats", benchmark.stats
        median, mean, least, most, deviation = (
            seconds(value, place) for value in (stats.median, stats.mean, stats.min, stats.max, stats.stddev)
        )
        spread = Spread(median, mean, least, most, stdev=deviation, samples=stats.rounds, calls=stats.iterations)
        # Tests that have nothing else to tell them apart are told apart by what stands in brackets behind their names.
        brackets = benchmark.fullname.partition("[")[2].removesuffix("]")
        if brackets and (not arguments or counts[name, repr(arguments)] > 1):
            arguments["id" if "id" not in arguments else "test_id"] = brackets
        sheet.add(Timing(name, spread, arguments))
    info = file.machine_info
    cpu = read_as(Mapping[str, object], info.get("cpu") or {}, f"{where}: machine_info.cpu")
    machine = {"architecture": info.get("machine"), "cpu": cpu.get("brand_raw"), "cores_logical": cpu.get("count")}
    version, started = (file.commit_info.id or "unversioned")[:12], parse_moment(file.datetime)
    return absolute_run("pytest-benchmark", sheet, where, version=version, started=started, machine=machine)


def _pytest_case(one: _PytestBenchmark) -> tuple[str, dict[str, Argument]]:
    """Return the name of a test and its parameters, which stand next to the name."""
    return one.fullname.partition("[")[0], {name: json_argument(value) for name, value in (one.params or {}).items()}


@dataclass(frozen=True)
class _GoogleBenchmark(Fields):
    name: str
    run_type: str = "iteration"
    run_name: str | None = None
    aggregate_name: str | None = None
    aggregate_unit: str = "time"
    repetitions: Natural | None = None
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


def google_run(data: object, where: str, *, version: str) -> Foreign:
    """Read what `--benchmark_format=json` wrote: repetitions are samples, or else what it states of them."""
    file, sheet = read_as(_Google, data, where), Sheet(where)
    samples: dict[str, list[float]] = {}
    aggregates: dict[str, dict[str, float]] = {}
    counts: dict[str, int | None] = {}
    others: list[tuple[str, str]] = []
    for i, benchmark in enumerate(file.benchmarks):
        name, place = benchmark.run_name or benchmark.name, f"{where}: benchmarks[{i}].real_time"
        time = (
            0.0 if benchmark.real_time is None else seconds(benchmark.real_time, place, unit=UNITS[benchmark.time_unit])
        )
        if benchmark.run_type == "iteration":
            several = samples.setdefault(name, [])
            if time and not benchmark.error_occurred:
                several.append(time)
        elif benchmark.aggregate_name in AGGREGATES and time and benchmark.aggregate_unit == "time":
            aggregates.setdefault(name, {})[benchmark.aggregate_name] = time
            counts[name] = benchmark.repetitions
        else:
            others.append((name, show(benchmark.aggregate_name)))
    for name, aggregate in others:
        if not samples.get(name):  # of repetitions that are there, every aggregate can be computed
            sheet.leave_out(f"aggregates called {aggregate}")
    for name in dict.fromkeys([*samples, *aggregates]):
        spread, stated = None, aggregates.get(name, {})
        if samples.get(name):
            spread = Spread.of(samples[name])
        elif stated.keys() & {"median", "mean"}:
            median, mean, least, most, deviation = map(stated.get, AGGREGATES)
            spread = Spread(median, mean, least, most, stdev=deviation, samples=counts[name])
        elif stated:
            sheet.leave_out("benchmarks of which neither median nor mean is stated")
            continue
        operator, arguments = _google_case(name)
        sheet.add(Timing(operator, spread, arguments))
    context = file.context
    caches = [
        {"level": one.level, "type": one.type.lower(), "size": one.size, "shared_by": one.num_sharing}
        for one in context.caches
    ]
    machine = {"cpu": context.host_name, "cores_logical": context.num_cpus, "caches": caches}
    started = None if context.date is None else _google_moment(context.date, f"{where}: context.date")
    return absolute_run("google-benchmark", sheet, where, version=version, started=started, machine=machine)


def _google_case(name: str) -> tuple[str, dict[str, Argument]]:
    """Return the name of a benchmark without its arguments, and those: `8`, `size:8` or a word of the library's own.

    >>> _google_case("Matrix/Multiply/8/threads:2"), _google_case("sum/real_time")
    (('Matrix/Multiply', {'arg1': 8, 'threads': 2}), ('sum', {'arg1': 'real_time'}))
    """
    first, *parts = name.split("/")
    begin = len(parts)
    while begin and re.fullmatch(ARGUMENT, parts[begin - 1]):
        begin -= 1
    arguments: dict[str, Argument] = {}
    for i, part in enumerate(parts[begin:], 1):
        key, colon, value = part.rpartition(":")
        word = value if colon else part
        arguments[key if colon else f"arg{i}"] = argument(word)
    return "/".join([first, *parts[:begin]]), arguments


def _google_moment(text: str, where: str) -> datetime:
    """Read a date, which releases before 1.5 wrote in a form of their own."""
    parts = re.fullmatch(r"(\d{4})[/-](\d\d)[/-](\d\d)[- ](\d\d:\d\d:\d\d)", text)
    moment = "{}-{}-{}T{}".format(*parts.groups()) if parts else text
    return parse_moment(read_as(Moment, moment, where))
