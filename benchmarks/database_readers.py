"""What reads a database, and what fills one from files of other tools: each row that came in is shown everywhere."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.parse import quote

from readers import ADD, RUN, SIDE, TRIAL, WHOLE, Reader, command
from starlette.testclient import TestClient

from opperf.domain.errors import InputError
from opperf.domain.files.text_file import read_json
from opperf.parent.commands.bisect.answers import Candidates, Judge, Subject
from opperf.parent.commands.bisect.bench import Journal
from opperf.parent.commands.bisect.questions import Questions
from opperf.parent.commands.exchange import EXPORTS, export_results, import_results
from opperf.parent.commands.history import imported_changes, named_changes
from opperf.parent.documents.comparison import Comparison, ComparisonRun, Verdict
from opperf.parent.documents.floor import Floor, NoiseRun
from opperf.parent.pages.server.app import PAGES, application
from opperf.parent.reports import render
from opperf.parent.reports.history import changes, runs, series
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import Address
from opperf.parent.store.database.history import entries, histories
from opperf.parent.store.database.listing import operators

PYTEST = {
    "machine_info": {"machine": "x86_64", "cpu": {"brand_raw": "EPYC", "count": 2}},
    "commit_info": {"id": "0123456789abcdef"},
    "datetime": "2026-11-23T10:00:00+00:00",
    "benchmarks": [
        {
            "name": "test_sum",
            "fullname": f"test_x.py::test_sum[{n}]",
            "params": {"n": n},
            "stats": {
                "min": 1e-6,
                "max": 4e-6,
                "mean": 3e-6,
                "median": 2e-6,
                "stddev": 1e-7,
                "rounds": 5,
                "iterations": 3,
            },
        }
        for n in (10, "b")
    ],
}
GOOGLE = {
    "context": {
        "date": "2026-11-23T11:00:00Z",
        "host_name": "vm",
        "num_cpus": 2,
        "caches": [{"type": "Data", "level": 1, "size": 32768, "num_sharing": 2}],
    },
    "benchmarks": [
        {"name": "sum/8", "run_name": "sum/8", "run_type": "iteration", "real_time": 3.0, "time_unit": "us"},
        {"name": "bad", "run_type": "iteration", "error_occurred": True},
        {"name": "a/n:2_m", "run_name": "a/n:2", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 1.0},
        {"name": "a/n:2_cv", "run_name": "a/n:2", "run_type": "aggregate", "aggregate_name": "cv", "real_time": 0.1},
    ],
}
MXNET = {"add": [{"inputs": {"lhs": [4, [4]], "axis": None}, "avg_time_forward_add": 0.5, "p50_time_add": 1.0}]}
PARAM = (
    {"run_options": {"device": "cuda"}, "sys_info": {"machine": {"cpu": "A"}}, "start_time": "2026-11-23T12:00:00"},
    {"op_name": "torch.add", "metric": {"forward": {"measure.time": [1.0, 3.0]}}, "config": {"input": [{"args": []}]}},
)
MACHINE = {"machine": "vm", "arch": "x86_64", "cpu": "EPYC", "num_cpu": "2", "ram": "16424684", "version": 1}
BENCHMARKS = {"version": 2, "s.time_sum": {"name": "s.time_sum", "type": "time", "param_names": ["n"]}}
ASV = {
    "commit_hash": "0123456789abcdef",
    "env_name": "py3.12",
    "date": 1795428000000,
    "requirements": {"numpy": "2"},
    "result_columns": ["result", "params", "stats_ci_99_a", "stats_ci_99_b", "stats_number", "stats_repeat"],
    "results": {
        "s.time_sum": [[1e-3, None], [["10", "20"]], [1e-4, None], [1e-2, None], [10, None], [5, None]],
        "s.time_all": [None, [["1", "2"], ["3", "4"]]],
        "s.mem_list": [[100], []],
    },
}
#: What a word of each kind stands behind, and one that is right; what a page may be asked.
COMMANDS = {
    "run": ("remove",),
    "operator": ("show",),
    "framework": ("show", "null:steady", "--framework"),
    "day": ("list", "--since"),
    "count": ("list", "--top"),
    "share": ("changes", "--tolerance"),
    "days": ("prune", "--dry-run", "--older-than"),
    "runs": ("prune", "--dry-run", "--keep"),
}
WORDS = {
    "run": "r1",
    "operator": "add",
    "framework": "null",
    "day": "2026-11-01",
    "count": "5",
    "share": "2%",
    "days": "30",
    "runs": "3",
    "machine": "1",
}
QUERIES = (
    *("since", "framework", "machine", "build", "anchor", "q", "metric", "inputs", "base", "new", "kind", "category"),
)
KEY = f"{TRIAL.case.id} {TRIAL.direction}"
BUILDS = [f"v{i}" for i in range(5)]
MOST_PAGES = 40


def database_readers(folder: Path) -> list[Reader]:
    """Return them all; the database that each file goes into lies in a folder."""
    place = folder / "cache" / "readers"
    place.mkdir(parents=True, exist_ok=True)
    address, kept = place / "empty.db", place / "kept.jsonl"
    with Archive(Address.of(str(address))):
        pass
    kept.write_bytes(_own_lines())
    shutil.copy(address, place / "base.db")
    _import_others(place)
    imports = Imports(place)
    benchmarks, machine, results = (json.dumps(one).encode() for one in (BENCHMARKS, MACHINE, ASV))
    return [
        Reader("import of pytest-benchmark", json.dumps(PYTEST).encode(), imports.file),
        Reader("import of google-benchmark", json.dumps(GOOGLE).encode(), imports.file),
        Reader("import of MXNet's opperf", json.dumps(MXNET).encode(), imports.file),
        Reader("import of PARAM's lines", b"\n".join(json.dumps(line).encode() for line in PARAM), imports.file),
        Reader("import of asv, results", results, imports.of_asv("vm/a.json")),
        Reader("import of asv, machine", machine, imports.of_asv("vm/machine.json")),
        Reader("import of asv, benchmarks", benchmarks, imports.of_asv("benchmarks.json")),
        Reader("import of a run's line", WHOLE["record"](), imports.file),
        Reader("import of a comparison's line", _own_lines().split(b"\n")[1], imports.file),
        Reader("import of a floor's line", _own_lines().split(b"\n")[2], imports.file),
        Reader("import of lines", _own_lines(), imports.file, ".jsonl"),
        Reader("journal of a bisection", _bisection_lines(), bisection, ".journal"),
        Reader("words of `opperf history`", json.dumps(WORDS).encode(), imports.words),
    ]


def _import_others(place: Path) -> None:
    """Store another build of what files hold, so that each row that comes in is beside one before it."""
    run = json.loads(WHOLE["record"]().replace(b'"1.0"', b'"0.9"'))
    run["run"] |= {"id": "base", "started": "2026-11-20T08:00:00+00:00"}
    others = [run, {**PYTEST, "commit_info": {"id": "base"}, "datetime": "2026-11-20T10:00:00+00:00"}]
    for number, one in enumerate(others):
        path = place / f"other{number}.json"
        path.write_text(json.dumps(one))
        import_results([path], str(place / "base.db"))


def _own_lines() -> bytes:
    run = json.loads(WHOLE["record"]())
    verdict = Verdict("slower", 1.1, (1.05, 1.15), "", 5)
    pair = Comparison(ADD, "forward", SIDE, SIDE, verdict, 1e-4, 1.1e-4, base_version="1", new_version="2")
    compared = ComparisonRun(replace(RUN, id="r2"), (pair,)).to_json()
    noise = NoiseRun(replace(RUN, id="r3"), (Floor(TRIAL, 1e-6, 5, 0.01, 0.02, 0.1, 0, 5, "2026-11-21"),), (), 0.02)
    return b"\n".join(json.dumps(one).encode() for one in (run, compared, noise.to_json()))


def _bisection_lines() -> bytes:
    pairs = [("v0", "v4"), ("v0", "v2"), ("v4", "v2"), ("v0", "v1"), ("v1", "v2")]
    lines = [[f"{KEY} {base} {new}", 0.1, 0.001, 5.0] for base, new in pairs]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


class Imports:
    """Puts files into a database that is empty, and shows all that is in it then."""

    def __init__(self, place: Path) -> None:
        self._place, self._database = place, place / "drawn.db"

    def file(self, path: Path) -> object:
        """Import a file."""
        for name in ("drawn.db", "drawn.db-wal", "drawn.db-shm"):
            (self._place / name).unlink(missing_ok=True)
        shutil.copy(self._place / "base.db", self._database)
        with Archive(Address.of(str(self._database))) as store:
            before = {one.key for one in entries(store)}
        done = import_results([path], str(self._database))
        with Archive(Address.of(str(self._database))) as store:
            show(store, self._place)
            open_pages(store)
            store.remove([one.key for one in done.additions])
            left = {one.key for one in entries(store)} - before
        if left:
            raise ValueError(f"{left} cannot be removed")
        return done

    def of_asv(self, name: str) -> Callable[[Path], object]:
        """Return what imports a folder of asv in which a file of this name is another one."""

        def read(path: Path) -> object:
            folder = self._place / "asv"
            (folder / "vm").mkdir(parents=True, exist_ok=True)
            for one, content in (("vm/a.json", ASV), ("vm/machine.json", MACHINE), ("benchmarks.json", BENCHMARKS)):
                (folder / one).write_text(json.dumps(content))
            (folder / name).write_bytes(path.read_bytes())
            return self.file(folder)

        return read

    def words(self, path: Path) -> bool:
        """Give commands, and the server, the values of a file as their words."""
        words = read_json(path)
        if not isinstance(words, dict):
            return False
        self.file(self._place / "kept.jsonl")
        import_results([self._place / "kept.jsonl"], str(self._database))
        texts = {
            key: value if isinstance(value, str) else json.dumps(value)
            for key, value in words.items()
            if value != WORDS.get(key)
        }
        for key, text in texts.items():
            if key in COMMANDS:
                with suppress(InputError):  # each of them for itself
                    command("history", *COMMANDS[key], text, "--database", str(self._database))(path)
        with Archive(Address.of(str(self._database))) as store:
            client = TestClient(application(store, hosts=["testserver"]))
            for text in texts.values():
                word = text.encode(errors="replace").decode()[:2000]
                for page in PAGES:
                    place = page.partition("{")[0] + (quote(word) if "{" in page else "")
                    status = client.get(place, params=dict.fromkeys(QUERIES, word)).status_code
                    if status not in (200, 400, 404):
                        raise ValueError(f"{place}: {status}")
        return True


def show(store: Archive, place: Path) -> None:
    """Print and export all that a database holds."""
    for form in ("md", "json", "csv"):
        render(runs(entries(store)), form)
    for one in operators(store):
        render(series(histories(store, one.operator)), "md")
    ratios, times = named_changes(store), imported_changes(store)
    render(changes([*ratios.changes, *times.changes], ratios.series, times.series), "md")
    for form in EXPORTS:
        export = export_results(store, form, place / f"out_{form}")
        if export.unreadable:
            raise ValueError(str(export.unreadable[0]))
    text = (place / "out_jsonl").read_bytes()
    again = place / "again.db"
    for name in ("again.db", "again.db-wal", "again.db-shm"):
        (place / name).unlink(missing_ok=True)
    shutil.copy(place / "empty.db", again)
    if text.strip():
        try:
            import_results([place / "out_jsonl"], str(again))
        except InputError as error:
            raise ValueError(f"what was exported does not come back: {error}") from error
    for form in EXPORTS:
        whole = place / f"out_{form}"
        shutil.rmtree(whole) if whole.is_dir() else whole.unlink()


def open_pages(store: Archive) -> None:
    """Open every page that a database has, in each form."""
    client = TestClient(application(store, hosts=["testserver"]))
    left, opened = {path for path in PAGES if "{" not in path}, set[str]()
    while left and len(opened) < MOST_PAGES:
        path = min(left, key=len)
        answer = client.get(path)
        if answer.status_code != 200:
            raise ValueError(f"{path}: {answer.status_code}: {answer.text[-300:]}")
        opened.add(path)
        links = {unescape(link) for link in re.findall(r'href="(/[^"]*)"', answer.text)}
        left = (left | {link for link in links if link != "/style.css"}) - opened
    for path in ("/runs", "/operators", "/changes", "/machines"):
        for form in ("json", "csv"):
            if client.get(f"{path}?format={form}").status_code != 200:
                raise ValueError(f"{path} as {form}")


def bisection(path: Path) -> object:
    """Go on with a bisection that a journal holds, as far as that says what was measured."""
    journal, subject, candidates = Journal(None, path), Subject(TRIAL), Candidates(BUILDS, 8)
    journal.check([subject])
    judge = Judge(candidates, 0.02, 5, lambda: False)
    for base in BUILDS:
        for new in BUILDS:
            while journal.recall(subject, base, new):
                pass
    if subject.probes:
        Questions(candidates, judge, 5, lambda build, pairs: 1.0).choose([subject])
    return judge.answer(subject) or judge.answer(subject, last=True) if subject.probes else None
