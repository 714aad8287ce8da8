"""A project of asv, which `asv publish` reads: a folder for each machine, a file for each build of a framework.

Format 2: https://asv.readthedocs.io/en/stable/dev.html. asv knows builds by commits alone, and leaves out those that
its repository lacks. So each build gets an empty commit, named and dated as it is, after the build before it. Ratios
have no place in it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from datetime import datetime
from hashlib import sha1
from pathlib import Path

from opperf.domain.files.destination import explain_errors, write_parts
from opperf.domain.files.json_text import JsonDict
from opperf.domain.moment import parse_moment
from opperf.domain.record import Record, Run

COLUMNS = (
    *("result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b"),
    *("stats_q_25", "stats_q_75", "stats_number", "stats_repeat"),
)


RESULTS = "results"
#: What `asv publish` is told of the project, in the folder that it runs in.
PROJECT = {
    "version": 1,
    "project": "opperf",
    "project_url": "",
    "repo": "repository",
    "branches": ["main"],
    "environment_type": "existing",
    "results_dir": RESULTS,
    "html_dir": "html",
}


def write(folder: Path, runs: Iterable[Run]) -> int:
    """Write the times of runs, oldest first; return how many a later one of the same build took the place of."""
    repository = Repository()
    benchmarks: JsonDict = {"version": 2}
    files: dict[tuple[str, str], JsonDict] = {}
    machines: dict[str, JsonDict] = {}
    replaced = 0
    for run in runs:
        machine = machine_of(run)
        machines[machine["machine"]] = machine
        for record in run.records:
            framework, version = record.trial.side.framework, str(record.facts.get("version") or "unknown")
            commit = repository.commit(f"{framework} {version}", parse_moment(run.started))
            name = _name(record)
            benchmarks[name] = _benchmark(name, record)
            place = machine["machine"], f"{commit[:8]}-{file_name(framework)}.json"
            file = files.setdefault(place, file_of(commit, framework, version, run, machine))
            replaced += name in file["results"]
            file["results"][name] = _result(record, name, file["date"])
    results = folder / RESULTS
    texts = {
        folder / "asv.conf.json": json.dumps(PROJECT, indent=4),
        results / "benchmarks.json": json.dumps(benchmarks, indent=4),
        **{results / name / "machine.json": json.dumps(machine, indent=4) for name, machine in machines.items()},
        **{results / name / file: json.dumps(document) for (name, file), document in files.items()},
    }
    parts = {path: text.encode() for path, text in texts.items()}
    parts |= {folder / "repository" / name: data for name, data in repository.files().items()}
    for path, data in parts.items():
        with explain_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_parts(path, [data])
    return replaced


class Repository:
    """A bare repository of git with an empty commit for each build, one after the other."""

    def __init__(self) -> None:
        self._objects: dict[str, bytes] = {}
        self._commits: dict[str, str] = {}
        self._last = ""
        self._tree = self._add("tree", b"")

    def commit(self, build: str, when: datetime) -> str:
        """Return the hash of a build's commit, which is made when the build is first met."""
        if build not in self._commits:
            parents = [f"parent {self._last}"] if self._last else []
            author = f"opperf <> {when.timestamp():.0f} +0000"
            lines = [f"tree {self._tree}", *parents, f"author {author}", f"committer {author}", "", build, ""]
            self._last = self._commits[build] = self._add("commit", "\n".join(lines).encode(errors="replace"))
        return self._commits[build]

    def _add(self, kind: str, data: bytes) -> str:
        data = f"{kind} {len(data)}\0".encode() + data
        name = sha1(data, usedforsecurity=False).hexdigest()
        self._objects[name] = zlib.compress(data)
        return name

    def files(self) -> dict[str, bytes]:
        """Return the files of the repository."""
        head = {"refs/heads/main": f"{self._last}\n".encode()} if self._last else {}
        return {
            "HEAD": b"ref: refs/heads/main\n",
            "config": b"[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
            **head,
            **{f"objects/{name[:2]}/{name[2:]}": data for name, data in self._objects.items()},
        }


def _hash(text: str) -> str:
    return sha1(text.encode(), usedforsecurity=False).hexdigest()


def _name(record: Record) -> str:
    trial, side = record.trial, record.trial.side
    where = {name: value for name, value in side.to_json().items() if name != "environment"}
    place = _hash(json.dumps(where, sort_keys=True))[:8]
    return f"{trial.case.operator.replace(':', '.')}.{trial.case.id}.{place}.time_{trial.direction}"


def _benchmark(name: str, record: Record) -> JsonDict:
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


def file_of(commit: str, framework: str, version: str, run: Run, machine: JsonDict) -> JsonDict:
    """Return a file of results that has none yet."""
    # By what stands here asv tells one graph from another, so no version does.
    params = {**{name: value for name, value in machine.items() if name != "version"}, "python": "", framework: ""}
    return {
        "commit_hash": commit,
        "env_name": framework,
        "date": int(parse_moment(run.started).timestamp() * 1000),
        "params": params,
        "python": "",
        "requirements": {framework: version},
        "env_vars": {},
        "result_columns": list(COLUMNS),
        "results": {},
        "durations": {},
        "version": 2,
    }


def _result(record: Record, name: str, date: int) -> list[object]:
    """Return a row of results; null is asv's word for a failure."""
    time = record.time
    if time is None:
        return [None, [], _hash(name), date]
    low, high = time.interval or (None, None)
    statistics = ([low], [high], [None], [None], [time.calls_per_sample], [time.samples])
    return [[time.value], [], _hash(name), date, None, *statistics]


def file_name(text: str) -> str:
    """Return a text as the name of a file; a text from a file must not become a path."""
    return "".join(letter if letter.isalnum() else "-" for letter in text)


def machine_of(run: Run) -> JsonDict:
    """Describe the machine of a run as asv's `machine.json` does."""
    facts = run.machine
    cpu = str(facts.get("cpu") or "unknown")
    return {
        "machine": file_name(f"{cpu}-{facts.get('cores_logical')}"),
        "arch": str(facts.get("architecture") or ""),
        "cpu": cpu,
        "num_cpu": str(facts.get("cores_logical") or ""),
        "os": str(facts.get("system") or ""),
        "ram": str(facts.get("memory_total") or ""),
        "version": 1,
    }
