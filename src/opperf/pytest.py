"""Measure the tests of pytest-benchmark by opperf's rules, in pytest's own process: `pytest -p opperf.pytest`.

Its `benchmark` fixture takes the place of pytest-benchmark's, which stays away also where it is installed. Tests and
their options are theirs, as far as they are here; clock, sampling and the judgement of what disturbed it are opperf's.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from opperf import __version__
from opperf.child.worker.suites.benchmark import THEIRS, Benchmark, Hooks, Metadata, TimedCall, check_mark
from opperf.domain.case import Case
from opperf.domain.plan import Settings

if TYPE_CHECKING:
    from opperf.domain.reason import Warning

#: The columns of the table, and their titles. Those of times are in the unit of their group.
TIMES = {"min": "Min", "max": "Max", "mean": "Mean", "stddev": "StdDev", "median": "Median", "iqr": "IQR"}
OTHERS = {"precision": "±", "outliers": "Outliers", "ops": "OPS", "rounds": "Rounds", "iterations": "Iterations"}
COLUMNS = {**TIMES, **OTHERS}
SHOWN = ("min", "max", "mean", "stddev", "median", "precision", "iqr", "outliers", "ops", "rounds", "iterations")
SORTS = ("min", "max", "mean", "stddev", "name", "fullname")
GROUPS = ("group", "name", "func", "fullname", "fullfunc", "param")
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (0.0, "ns"))
#: Options of pytest-benchmark whose job is another command's, or another option's.
ELSEWHERE = {
    "compare": "`opperf compare pytest:FOLDER --base SIDE --new SIDE` measures both sides now",
    "compare-fail": "`opperf gate pytest:FOLDER --base SIDE --new SIDE` fails where the new side is slower",
    "autosave": "`--benchmark-json PATH` keeps all samples, `opperf history import PATH` collects them",
    "save": "`--benchmark-json PATH` keeps all samples, `opperf history import PATH` collects them",
}
#: Warnings of what each measurement here has and the legend says, and of what no column shows.
UNSAID = ("one_process", "p99_of_few")
LEGEND = (
    "±: precision of the median within this process; another process may differ by more: `opperf compare pytest:...`",
    "Rounds: samples that the machine left alone; Iterations: calls of one. OPS: 1 / mean.",
)


@dataclass(frozen=True)
class Timing:
    """The seconds of a call in each sample that counts, the calls of one, and how far that can be trusted."""

    seconds: list[float]
    calls: int
    precision: float | None
    warnings: tuple[Warning, ...]


@dataclass(frozen=True)
class Row:
    """A test that was measured."""

    stats: Metadata
    timing: Timing

    def value(self, column: str) -> Any:
        """Return its value in a column."""
        return self.timing.precision if column == "precision" else self.stats[column]

    def to_json(self) -> dict[str, Any]:
        """Return it as pytest-benchmark's JSON has it, and what opperf knows beyond that."""
        warnings = [{"slug": one.slug, "message": one.message} for one in self.timing.warnings]
        return {**self.stats.as_dict(), "opperf": {"precision": self.timing.precision, "warnings": warnings}}


@dataclass
class Session:
    """The benchmarks of a session."""

    disabled: bool
    rows: list[Row] = field(default_factory=list)


class Elsewhere(argparse.Action):
    """An option that is refused, and says what does its job."""

    def __call__(self, *_: object) -> NoReturn:
        """Refuse it."""
        raise argparse.ArgumentError(self, f"refused: {self.help}")


SESSION: pytest.StashKey[Session] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Take the place of pytest-benchmark."""
    pluginmanager.set_blocked(THEIRS)
    group = parser.getgroup("benchmark", "opperf, in place of pytest-benchmark")
    flags = {
        "disable": "call benchmarks once, and measure nothing",
        "enable": "measure, whatever the settings say of `--benchmark-disable`",
        "only": "run benchmarks only",
        "skip": "run all but benchmarks",
    }
    for name, text in flags.items():
        group.addoption(f"--benchmark-{name}", action="store_true", default=False, help=text)
    group.addoption(
        "--benchmark-json", metavar="PATH", type=_read_path, help="write all samples as pytest-benchmark's JSON"
    )
    group.addoption(
        "--benchmark-sort", metavar="COL", choices=SORTS, default="min", help=f"sort by one of {', '.join(SORTS)}"
    )
    group.addoption(
        "--benchmark-group-by",
        metavar="LABEL",
        type=_read_groups,
        default=("group",),
        help=f"group by some of {', '.join(GROUPS)}, param:NAME, with commas between",
    )
    group.addoption(
        *("--benchmark-columns",),
        metavar="LABELS",
        type=_read_columns,
        default=SHOWN,
        help=f"columns, with commas between: {', '.join(COLUMNS)}",
    )
    for name, text in ELSEWHERE.items():
        group.addoption(f"--benchmark-{name}", action=Elsewhere, nargs="?", help=text)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Know pytest-benchmark's hooks, of which those that add to the JSON are called."""
    pluginmanager.add_hookspecs(Hooks)


def pytest_configure(config: pytest.Config) -> None:
    """Know the mark, and measure nothing beside other processes of the same session."""
    config.addinivalue_line("markers", "benchmark: how a test is measured; of its keywords the group is read")
    parallel = hasattr(config, "workerinput") or config.getoption("dist", "no") != "no"
    disabled = parallel or (config.getoption("benchmark_disable") and not config.getoption("benchmark_enable"))
    if disabled and config.getoption("benchmark_only"):
        reason = "pytest-xdist runs tests at the same time" if parallel else "`--benchmark-disable` is given as well"
        raise pytest.UsageError(f"`--benchmark-only` has nothing to measure: {reason}")
    config.stash[SESSION] = Session(bool(disabled))


def pytest_collection_modifyitems(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Skip what is not asked for."""
    only = config.getoption("benchmark_only")
    for item in items:
        is_benchmark = "benchmark" in getattr(item, "fixturenames", ())
        if only and not is_benchmark:
            item.add_marker(pytest.mark.skip(reason="no benchmark, and `--benchmark-only` is given"))
        elif is_benchmark and config.getoption("benchmark_skip") and not only:
            item.add_marker(pytest.mark.skip(reason="a benchmark, and `--benchmark-skip` is given"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Refuse a mark that pytest-benchmark refuses."""
    check_mark(item)


@pytest.fixture
def benchmark(request: pytest.FixtureRequest) -> Iterator[Benchmark]:
    """Measure a call: `benchmark(function, *args, **kwargs)` returns what one call returns."""
    session = request.config.stash[SESSION]
    timings: list[Timing] = []

    def measure(call: TimedCall) -> tuple[list[float], int]:
        timings.append(_timing(call, request.node.nodeid))
        return timings[0].seconds, timings[0].calls

    fixture = Benchmark(request.node, None if session.disabled else measure)
    yield fixture
    if fixture.stats is not None and not fixture.has_error:
        session.rows.append(Row(fixture.stats, timings[0]))


@pytest.fixture
def benchmark_weave(benchmark: Benchmark) -> Callable[..., object]:
    """Refuse to measure what others call."""
    return benchmark.weave


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the JSON that is asked for."""
    path, rows = session.config.getoption("benchmark_json"), session.config.stash[SESSION].rows
    if path is not None and rows:
        path.write_text(json.dumps(_document(session.config, rows), default=str, indent=4), encoding="utf-8")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Show a table for each group, and what makes times doubtful."""
    rows = config.stash[SESSION].rows
    if not rows:
        return
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(_group(row.stats, config.getoption("benchmark_group_by")), []).append(row)
    for name, members in sorted(groups.items()):
        members.sort(key=lambda row: row.value(config.getoption("benchmark_sort")))
        for line in _table(name, members, config.getoption("benchmark_columns")):
            terminalreporter.write_line(line)
        terminalreporter.write_line("")
    for row in rows:
        for warning in row.timing.warnings:
            terminalreporter.write_line(f"{warning.slug}: {row.stats.fullname}: {warning.message}")
    for line in LEGEND:
        terminalreporter.write_line(line)
    if (path := config.getoption("benchmark_json")) is not None:
        terminalreporter.write_line(f"wrote {path}")


def _timing(call: TimedCall, name: str) -> Timing:
    """Measure a call as `opperf.time` does."""
    from opperf.child.worker.caller import measure_bound
    from opperf.domain.measurement import CountedTimes
    from opperf.domain.record import Statistics
    from opperf.parent.analysis.summary import record

    settings = Settings(memory=False, latency=False)
    outcome, _ = measure_bound(call.bound(), settings)
    assert outcome.measurement is not None
    trial = replace(outcome.trial, case=Case(name))  # a function may be called like an operator, and be none
    times = CountedTimes.of([outcome.measurement.time], trial.side)
    summary = record(trial, [outcome], settings)
    statistics = summary.metrics["time"]
    precision = statistics.precision if isinstance(statistics, Statistics) else None
    warnings = tuple(warning for warning in summary.warnings if warning.slug not in UNSAID)
    return Timing(times.pooled, times.calls, precision, warnings)


def _group(benchmark: Metadata, labels: Sequence[str]) -> str:
    """Return the name of a test's group."""
    values = {
        "group": benchmark.group,
        "name": benchmark.name,
        "func": benchmark.name.partition("[")[0],
        "fullname": benchmark.fullname,
        "fullfunc": benchmark.fullname.partition("[")[0],
        "param": benchmark.param,
        **{f"param:{name}": f"{name}={value}" for name, value in (benchmark.params or {}).items()},
    }
    return " ".join(str(values[label]) for label in labels if values.get(label))


def _table(name: str, rows: Sequence[Row], columns: Sequence[str]) -> list[str]:
    """Return the lines of a group's table, each time with its ratio to the best of its column, as theirs has it."""
    factor, unit = next((factor, unit) for factor, unit in UNITS if min(row.value("min") for row in rows) >= factor)
    factor = factor or 1e-9
    best = {
        column: (max if column == "ops" else min)(row.value(column) for row in rows)
        for column in columns
        if column in (*TIMES, "ops")
    }

    def cell(row: Row, column: str) -> str:
        value = row.value(column)
        if column == "precision":
            return "" if value is None else f"{value * 100:.2g} %"
        if column not in best:
            return str(value)
        text = f"{value / factor:,.4f}" if column in TIMES else f"{value:,.1f}"
        return text if len(rows) == 1 or not best[column] else f"{text} ({value / best[column]:.2f})"

    lines = [[f"Name (time in {unit})", *(COLUMNS[column] for column in columns)]]
    lines += [[row.stats.name, *(cell(row, column) for column in columns)] for row in rows]
    widths = [max(map(len, texts)) for texts in zip(*lines)]
    texts = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in lines]
    title = f" benchmark{f' {name!r}' if name else ''}: {len(rows)} test{'s' if len(rows) > 1 else ''} "
    rule = "-" * len(texts[0])
    return [title.center(len(rule), "-"), texts[0], rule, *texts[1:], rule]


def _document(config: pytest.Config, rows: Sequence[Row]) -> Mapping[str, Any]:
    """Return the document of `--benchmark-json`, as pytest-benchmark's tools and `opperf history import` read it."""
    machine: dict[str, Any] = {
        "node": platform.node(),
        "machine": platform.machine(),
        "python_implementation": platform.python_implementation(),
        "python_version": platform.python_version(),
        "release": platform.release(),
        "system": platform.system(),
        "cpu": {"arch": platform.machine(), "brand_raw": _processor(), "count": os.cpu_count()},
    }
    commit = _commit(config.rootpath)
    config.hook.pytest_benchmark_update_machine_info(config=config, machine_info=machine)
    config.hook.pytest_benchmark_update_commit_info(config=config, commit_info=commit)
    document = {
        "machine_info": machine,
        "commit_info": commit,
        "benchmarks": [row.to_json() for row in rows],
        "datetime": datetime.now(timezone.utc).isoformat(),
        "version": f"opperf {__version__}",
    }
    benchmarks = [row.stats for row in rows]
    config.hook.pytest_benchmark_update_json(config=config, benchmarks=benchmarks, output_json=document)
    return document


def _processor() -> str | None:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or None


def _commit(folder: Path) -> dict[str, Any]:
    """Return the commit of a project, as far as git tells it."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(folder), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        identity, time, author_time = git("log", "-1", "--format=%H %cI %aI").split()
        return {
            "id": identity,
            "time": time,
            "author_time": author_time,
            "dirty": bool(git("status", "--porcelain", "--untracked-files=no")),
            "project": folder.name,
            "branch": git("rev-parse", "--abbrev-ref", "HEAD"),
        }
    except (OSError, subprocess.CalledProcessError, ValueError):
        return {"id": "unversioned", "time": None, "author_time": None, "dirty": False, "project": folder.name}


def _read_path(text: str) -> Path:
    path = Path(text)
    if path.is_dir() or not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"found {text}, expected a file that can be written")
    return path


def _read_columns(text: str) -> tuple[str, ...]:
    columns = tuple(word.strip().lower() for word in text.split(","))
    if unknown := {*columns} - {*COLUMNS}:
        raise argparse.ArgumentTypeError(f"found {', '.join(sorted(unknown))}, expected some of {', '.join(COLUMNS)}")
    return columns


def _read_groups(text: str) -> tuple[str, ...]:
    labels = tuple(word.strip() for word in text.split(","))
    if unknown := [label for label in labels if label not in GROUPS and not label.startswith("param:")]:
        raise argparse.ArgumentTypeError(
            f"found {', '.join(unknown)}, expected some of {', '.join(GROUPS)}, param:NAME"
        )
    return labels
