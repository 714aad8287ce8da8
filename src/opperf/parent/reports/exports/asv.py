"""asv's folder of results, as `asv publish` reads it: a folder for each machine, a file for each build of a framework.

Format 2: https://asv.readthedocs.io/en/stable/dev.html. asv knows builds by the hash of a commit alone, so each build
gets one, made of its framework and version. Ratios have no place in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from hashlib import sha1
from pathlib import Path
from typing import Any

from opperf.domain.files.destination import explain_errors, write_text
from opperf.domain.record import Record, Run

COLUMNS = (
    *("result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b"),
    *("stats_q_25", "stats_q_75", "stats_number", "stats_repeat"),
)


def write(folder: Path, runs: Iterable[Run]) -> int:
    """Write the times of runs, oldest first; return how many records."""
    benchmarks: dict[str, Any] = {"version": 2}
    files: dict[tuple[str, str], dict[str, Any]] = {}
    machines: dict[str, dict[str, Any]] = {}
    count = 0
    for run in runs:
        machine = _machine(run)
        machines[machine["machine"]] = machine
        for record in run.records:
            framework, version = record.trial.side.framework, str(record.facts.get("version") or "unknown")
            commit = _hash(f"{framework} {version}")
            name = _name(record)
            benchmarks[name] = _benchmark(name, record)
            place = machine["machine"], f"{commit[:8]}-{_file_name(framework)}.json"
            file = files.setdefault(place, _file(commit, framework, version, run, machine))
            file["results"][name] = _result(record, name, file["date"])
            count += 1
    texts = {
        folder / "benchmarks.json": json.dumps(benchmarks, indent=4),
        **{folder / name / "machine.json": json.dumps(machine, indent=4) for name, machine in machines.items()},
        **{folder / name / file: json.dumps(document) for (name, file), document in files.items()},
    }
    for path, text in texts.items():
        with explain_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    return count


def _hash(text: str) -> str:
    return sha1(text.encode(), usedforsecurity=False).hexdigest()


def _name(record: Record) -> str:
    trial, side = record.trial, record.trial.side
    where = {name: value for name, value in side.to_json().items() if name != "environment"}
    place = _hash(json.dumps(where, sort_keys=True))[:8]
    return f"{trial.case.operator.replace(':', '.')}.{trial.case.id}.{place}.time_{trial.direction}"


def _benchmark(name: str, record: Record) -> dict[str, Any]:
    return {
        "code": json.dumps(record.trial.case.to_json()),
        "name": name,
        "pretty_name": f"{record.trial.case.operator} {record.trial.direction}",
        "param_names": [],
        "params": [],
        "timeout": 60.0,
        "type": "time",
        "unit": "seconds",
        "version": _hash(name),
    }


def _file(commit: str, framework: str, version: str, run: Run, machine: dict[str, Any]) -> dict[str, Any]:
    return {
        "commit_hash": commit,
        "env_name": framework,
        "date": int(datetime.fromisoformat(run.started).timestamp() * 1000),
        "params": {**machine, "python": "", framework: version},
        "python": "",
        "requirements": {framework: version},
        "env_vars": {},
        "result_columns": list(COLUMNS),
        "results": {},
        "durations": {},
        "version": 2,
    }


def _result(record: Record, name: str, date: int) -> list[Any]:
    """Return a row of results; null is asv's word for a failure."""
    time = record.time
    if time is None:
        return [None, [], _hash(name), date]
    low, high = time.interval or (None, None)
    statistics = ([low], [high], [None], [None], [time.calls_per_sample], [time.samples])
    return [[time.median], [], _hash(name), date, None, *statistics]


def _file_name(text: str) -> str:
    """Return a text as the name of a file; a text from a file must not become a path."""
    return "".join(letter if letter.isalnum() else "-" for letter in text)


def _machine(run: Run) -> dict[str, Any]:
    facts = run.machine
    cpu = str(facts.get("cpu") or "unknown")
    return {
        "machine": _file_name(f"{cpu}-{facts.get('cores_logical')}"),
        "arch": str(facts.get("architecture") or ""),
        "cpu": cpu,
        "num_cpu": str(facts.get("cores_logical") or ""),
        "os": str(facts.get("system") or ""),
        "ram": str(facts.get("memory_total") or ""),
        "version": 1,
    }
