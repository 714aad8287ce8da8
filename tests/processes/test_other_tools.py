"""Results of other tools as they really write them, and asv reading what opperf writes for it.

The tools are installed into an environment of their own, once; where they cannot be, the tests are skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import uv

import opperf
from opperf.domain.record import Run
from opperf.parent.commands.exchange import export_results, import_results
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import Address
from opperf.parent.store.database.history import entries

TOOLS = ("asv==0.6.6", "pytest-benchmark==5.3.1", "google-benchmark==1.9.5")
PYTEST = """
import pytest
@pytest.mark.parametrize("n", [10, 1000])
def test_sum(benchmark, n):
    benchmark(sum, range(n))
"""
GOOGLE = """
import google_benchmark as benchmark
@benchmark.register
@benchmark.option.range(8, 64)
def total(state):
    numbers = range(state.range(0))
    while state:
        sum(numbers)
benchmark.main()
"""
ASV = """
class Suite:
    params = ([10, 1000], ["list", "tuple"])
    param_names = ["n", "kind"]
    def setup(self, n, kind):
        if n == 1000 and kind == "tuple":
            raise NotImplementedError
        self.numbers = list(range(n))
    def time_sum(self, n, kind):
        sum(self.numbers)
def time_fails():
    raise ValueError
def track_size():
    return 42
"""
#: Reads a folder of results as asv does, and prints each benchmark with its values.
READER = """
import json, sys
from asv.benchmarks import Benchmarks
from asv.results import iter_results
found = {}
for result in iter_results(sys.argv[1]):
    for name in result.get_all_result_keys():
        values = result.get_result_value(name, result.get_result_params(name))
        found.setdefault(result.params["machine"], {}).setdefault(result.commit_hash, {})[name] = values
names = json.load(open(sys.argv[1] + "/benchmarks.json"))
class Conf:
    results_dir = sys.argv[1]
    benchmark_dir = "."
assert set(Benchmarks.load(Conf)) == set(names) - {"version"}
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment with the tools."""
    place = tmp_path_factory.mktemp("tools") / "environment"
    install = [uv.find_uv_bin(), "pip", "install", "-q", "--python", str(place / "bin" / "python"), *TOOLS]
    for command in ([uv.find_uv_bin(), "venv", "-q", "--python", sys.executable, str(place)], install):
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            pytest.skip(f"the tools cannot be installed: {done.stderr.strip()[-200:]}")
    return place / "bin"


def run(*command: object, here: Path, tools: Path) -> str:
    """Run one of the tools; return what it prints."""
    # A pytest within a pytest is no worker of it: pytest-benchmark would measure nothing there.
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    variables = {**own, "PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(here)}
    words = list(map(str, command))
    done = subprocess.run(words, cwd=here, env=variables, capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 2), done.stdout + done.stderr
    return done.stdout


def only_run(path: Path) -> Run:
    with TemporaryDirectory() as folder:
        address = f"{folder}/results.db"
        (addition,) = import_results([path], address).additions
        with Archive(Address.of(address)) as archive:
            run = archive.run(addition.key)
            assert [entry.kind for entry in entries(archive)] == ["imported"]
    assert run is not None
    return run


def test_times_of_pytest_benchmark_come_in_as_it_measured_them(tools: Path, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(PYTEST)
    words = ("--benchmark-json=b.json", "--benchmark-max-time=0.05", "-p", "no:cacheprovider")
    run(tools / "python", "-m", "pytest", "-q", *words, here=tmp_path, tools=tools)
    file = json.loads((tmp_path / "b.json").read_text())
    records = only_run(tmp_path / "b.json").records
    assert [dict(record.trial.case.attributes) for record in records] == [{"n": 10}, {"n": 1000}]
    for record, one in zip(records, file["benchmarks"], strict=True):
        assert record.time is not None
        for mine, theirs in (("median", "median"), ("min", "min"), ("samples", "rounds")):
            assert getattr(record.time, mine) == one["stats"][theirs]


def test_repetitions_of_google_benchmark_come_in_as_samples(tools: Path, tmp_path: Path) -> None:
    (tmp_path / "g.py").write_text(GOOGLE)
    words = ("--benchmark_format=json", "--benchmark_repetitions=3", "--benchmark_min_time=0.01s")
    out = run(tools / "python", "g.py", *words, here=tmp_path, tools=tools)
    (tmp_path / "g.json").write_text(out)
    for record in only_run(tmp_path / "g.json").records:
        times = [
            one["real_time"] * 1e-9
            for one in json.loads(out)["benchmarks"]
            if one["run_name"] == f"total/{record.trial.case.attributes['arg1']}" and one["run_type"] == "iteration"
        ]
        assert record.time is not None
        assert [record.time.min, record.time.median, record.time.max] == pytest.approx(sorted(times))
        assert record.time.samples == 3


@pytest.fixture(scope="module")
def measured(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of results that asv wrote."""
    here = tmp_path_factory.mktemp("project")
    (here / "benchmarks").mkdir()
    (here / "benchmarks" / "__init__.py").touch()
    (here / "benchmarks" / "them.py").write_text(ASV)
    configuration = {"version": 1, "project": "demo", "project_url": "", "repo": ".", "branches": ["HEAD"]}
    environment = {"environment_type": "existing", "results_dir": "results"}
    (here / "asv.conf.json").write_text(json.dumps(configuration | environment))
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "one")):
        run(*git, *words, here=here, tools=tools)
    head = run("git", "rev-parse", "HEAD", here=here, tools=tools).strip()
    run("asv", "machine", "--yes", here=here, tools=tools)
    options = ("-E", f"existing:{tools / 'python'}", "--set-commit-hash", head, "-a", "repeat=3")
    run("asv", "run", *options, here=here, tools=tools)
    return here / "results"


def asv_reads(folder: Path, tools: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Return what asv makes of a folder: values by machine, commit and benchmark."""
    values: dict[str, dict[str, dict[str, Any]]] = json.loads(
        run(tools / "python", "-c", READER, folder, here=folder, tools=tools)
    )
    return values


def test_times_of_asv_come_in_as_it_measured_them(tools: Path, measured: Path) -> None:
    ((commits),) = asv_reads(measured, tools).values()
    ((commit, theirs),) = commits.items()
    mine = only_run(measured)
    times = {
        tuple(record.trial.case.attributes.values()): record.time.median
        for record in mine.records
        if record.time is not None
    }
    assert list(times) == [(10, "list"), (10, "tuple"), (1000, "list")]
    assert list(times.values()) == theirs["them.Suite.time_sum"][:3]
    assert [record.trial.case.operator for record in mine.records if record.status == "failed"] == ["them.time_fails"]
    assert {record.facts["version"] for record in mine.records} == {commit[:12]}


def test_asv_reads_what_is_exported_for_it_and_it_comes_back(tools: Path, measured: Path, tmp_path: Path) -> None:
    mine = only_run(measured)
    with Archive(Address.of(str(tmp_path / "results.db"))) as archive:
        archive.add(mine, kind="imported")
        export_results(archive, "asv", tmp_path / "out")
    expected = sorted(record.time.value for record in mine.records if record.time is not None)
    results = tmp_path / "out" / "results"
    ((commits),) = asv_reads(results, tools).values()
    ((_, values),) = commits.items()
    assert sorted(one for row in values.values() for one in row if one is not None) == expected
    again = only_run(results)
    assert again == only_run(tmp_path / "out")
    assert sorted(record.time.value for record in again.records if record.time is not None) == expected
    intervals = [record.time.interval for record in again.records if record.time is not None]
    assert sorted(map(str, intervals)) == sorted(
        str(record.time.interval) for record in mine.records if record.time is not None
    )
    assert (again.started, again.machine["cpu"]) == (mine.started, mine.machine["cpu"])


def test_asv_publishes_a_graph_over_the_builds_that_are_exported(tools: Path, tmp_path: Path) -> None:
    first, taken = opperf.run("null:steady", runs=5).run, [1e-4, 2e-4, 1.5e-4]
    with Archive(Address.of(str(tmp_path / "results.db"))) as archive:
        for number, seconds in enumerate(taken):
            (record,) = first.records
            assert record.time is not None
            metrics = {**record.metrics, "time": replace(record.time, median=seconds)}
            one = replace(record, metrics=metrics, facts={**record.facts, "version": f"1.{number}"})
            started = f"2026-11-0{number + 1}T03:00:00+00:00"
            archive.add(replace(first, id=f"night{number}", started=started, records=(one,)))
        export_results(archive, "asv", tmp_path / "out")
        export_results(archive, "asv", tmp_path / "out")  # a second export is the same project
    told = run("asv", "publish", here=tmp_path / "out", tools=tools)
    assert "Couldn't find" not in told
    graphs = tmp_path / "out" / "html" / "graphs"
    (graph,) = (path for path in graphs.rglob("null.steady.*time_forward.json") if "summary" not in path.parts)
    assert [value for _, value in json.loads(graph.read_text())] == taken
    index = json.loads((tmp_path / "out" / "html" / "index.json").read_text())
    days = [datetime.fromtimestamp(date / 1000, timezone.utc).day for date in index["revision_to_date"].values()]
    assert days == [1, 2, 3]
