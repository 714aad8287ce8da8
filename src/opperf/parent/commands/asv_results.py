"""Results of an asv suite as asv's own files, by the suite's own names, so that `asv publish` goes on.

asv knows builds by commits of the project, and so a side has results there if it is a commit, or if the build that was
measured says which one it is of. `benchmarks.json` gets what asv's library lists, files of results a row for each
benchmark: NaN for combinations of parameters that were left out, null for those that failed. Rows of a file that is
there are kept.
Format 2: https://asv.readthedocs.io/en/stable/dev.html.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from opperf.domain.case import Case
from opperf.domain.code import SuiteCode
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.destination import explain_errors, write_text
from opperf.domain.files.json_text import JsonDict, JsonObject
from opperf.domain.files.text_file import read_json
from opperf.domain.measurement import Quantity
from opperf.domain.parameter import combinations
from opperf.domain.plan import Settings, Side
from opperf.domain.record import Record, Run, Statistics
from opperf.domain.units import plural
from opperf.parent.documents.comparison import ComparisonRun
from opperf.parent.documents.environment import CommitText
from opperf.parent.reports.exports import asv
from opperf.parent.workers.pool import Pool

Note: TypeAlias = Callable[[str], None]


@dataclass(frozen=True)
class _Value:
    """What a side has of a case; None is a failure, NaN what was left out."""

    result: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class _Build:
    """What was measured on one side, by case."""

    side: Side
    facts: Mapping[str, object]
    values: Mapping[str, _Value]


def write_results(folder: Path, document: Run | ComparisonRun, note: Note) -> None:
    """Write what was measured of an asv suite; raises `InputError` where a file cannot be written."""
    run = document if isinstance(document, Run) else document.run
    builds = [*(_of_run(document) if isinstance(document, Run) else _of_comparisons(document))]
    machine = asv.machine_of(run)
    with Pool(Settings(), note) as pool:
        for build in builds:
            environment = build.side.environment
            place = f"{build.side.framework} in `{environment}`"
            commit = environment.source.commit if isinstance(environment, CommitText) else build.facts.get("commit")
            if not isinstance(commit, str):
                note(f"no results for asv of {place}: it does not say of which commit it was built")
                continue
            files = build.side.implementation
            assert isinstance(files, SuiteCode)
            listing = pool.listing(build.side, files)
            path = folder / machine["machine"] / f"{commit[:8]}-{asv.file_name(build.side.framework)}.json"
            file = asv.file_of(commit, build.side.framework, str(build.facts.get("version") or ""), run, machine)
            old = _earlier(path)
            rows = dict(_rows(listing, build.values, file["date"]))
            file["results"] = {**_part(old, "results"), **rows}
            own = {str(benchmark["name"]): benchmark for benchmark in listing}
            benchmarks = {**_earlier(folder / "benchmarks.json"), **own, "version": 2}
            _write(folder / machine["machine"] / "machine.json", machine)
            _write(folder / "benchmarks.json", benchmarks)
            _write(path, file)
            note(f"wrote {path}: {plural(len(rows), 'benchmark')}")


def _of_run(run: Run) -> Iterator[_Build]:
    """Yield the builds of a run."""
    sides: dict[Side, dict[str, _Value]] = {}
    for record in run.records:
        if _is_of_asv(record.trial.side) and record.trial.direction == "forward":
            sides.setdefault(record.trial.side, {})[record.trial.case.id] = _of_record(record)
    for side, values in sides.items():
        facts = (one for one in run.frameworks if one.get("environment") == side.environment)
        yield _Build(side, next(facts, {}), values)


def _of_record(record: Record) -> _Value:
    if record.status != "ok":
        return _Value(math.nan if record.status == "skipped" else None)
    value = next(iter(record.metrics.values())) if record.time is None else record.time
    if isinstance(value, Statistics):
        return _Value(value.value, *(value.interval or (None, None)))
    return _Value(value.value if isinstance(value, Quantity) else None)


def _of_comparisons(document: ComparisonRun) -> Iterator[_Build]:
    """Yield both builds of a comparison."""
    sides: dict[tuple[str, Side], dict[str, _Value]] = {}
    for comparison in document.comparisons:
        levels = (comparison.base_time, comparison.new_time) if comparison.metric == "time" else comparison.levels
        for name, side, level in zip(("base", "new"), (comparison.base, comparison.new), levels):
            if _is_of_asv(side) and comparison.direction == "forward":
                left_out = math.nan if comparison.status == "skipped" else None
                value = _Value(left_out if level is None else level)
                sides.setdefault((name, side), {})[comparison.case.id] = value
    for (name, side), values in sides.items():
        yield _Build(side, document.run.sides.get(name, {}), values)


def _is_of_asv(side: Side) -> bool:
    return isinstance(side.implementation, SuiteCode) and side.implementation.kind == "asv"


def _rows(
    listing: tuple[JsonObject, ...], values: Mapping[str, _Value], moment: object
) -> Iterator[tuple[str, list[object]]]:
    """Yield asv's row of each benchmark of which anything was measured."""
    for benchmark in listing:
        name, params = str(benchmark["name"]), benchmark["params"]
        choices = combinations(benchmark["param_names"], params, str(benchmark["version"]))
        ids = [Case(name, attributes=attributes).id for attributes in choices]
        if values.keys().isdisjoint(ids):
            continue
        several = [values.get(key, _Value(math.nan)) for key in ids]
        lows, highs = [value.low for value in several], [value.high for value in several]
        yield name, [[value.result for value in several], params, benchmark["version"], moment, None, lows, highs]


def _earlier(path: Path) -> JsonDict:
    """Return the object that a file holds, an empty one where there is no file; raises `InputError` for others."""
    if not path.exists():
        return {}
    value = read_json(path)
    if not isinstance(value, dict):
        raise InputError(f"{path}: found {type(value).__name__}, expected an object of asv's")
    return value


def _part(file: JsonDict, name: str) -> JsonDict:
    part = file.get(name, {})
    return part if isinstance(part, dict) else {}


def _write(path: Path, value: object) -> None:
    with explain_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(value, indent=1) + "\n")
