"""A database that several processes write into, and that some of them are killed in the midst of: nothing is lost."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from sqlalchemy import Table, func, select
from tests.nights import archive, serving

from opperf.domain.case import Case
from opperf.domain.measurement import Quantity
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.record import Record, Run, Statistics, Value
from opperf.domain.tensor import TensorSpec
from opperf.parent.commands.exchange import import_results
from opperf.parent.commands.history import imported_changes
from opperf.parent.commands.load import read_value
from opperf.parent.documents.comparison import Comparison, ComparisonRun, Verdict
from opperf.parent.store.database import schema
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import Address
from opperf.parent.store.database.headings import costs
from opperf.parent.store.database.history import entries
from opperf.parent.store.database.listing import machines, operators, search
from opperf.parent.store.database.operator_history import operator_ratios, operator_times
from opperf.parent.store.database.overview import overview
from opperf.parent.store.database.series import Filters

WRITER = Path(__file__).with_name("database_writer.py")
#: Names a server that tests may make a database on, as `.ci/run` starts one; left out, SQLite alone is tested.
SERVER = os.environ.get("OPPERF_TEST_POSTGRES", "")


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty database."""
    if request.param == "sqlite":
        yield str(tmp_path / "results.db")
        return
    if not SERVER:
        pytest.skip("no server in OPPERF_TEST_POSTGRES")
    import psycopg

    name = f"opperf_{os.getpid()}_{random.randrange(1 << 30)}"
    with psycopg.connect(SERVER, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield f"{SERVER.rpartition('/')[0]}/{name}"
    with psycopg.connect(SERVER, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


CASE = Case("sum", {"data": TensorSpec((4, 4))})


def night(number: int, version: str, ratio: float) -> ComparisonRun:
    """Return the comparison of a night."""
    verdict = Verdict("slower", ratio, (ratio * 0.99, ratio * 1.01), "", 5)
    base, new = (Side("numpy", f"numpy=={one}") for one in ("1.0", version))
    one = Comparison(CASE, "forward", base, new, verdict, 1e-4, 2e-4, base_version="1.0", new_version=version)
    environment = {"machine": {"cpu": "EPYC", "memory_total": int(15.49 * 2**30)}}
    started = f"2026-11-{number:02}T03:00:00+00:00"
    return ComparisonRun(Run(f"night{number}", started, ("opperf",), Settings(), environment=environment), (one,))


def measure(version: str) -> Run:
    """Return a run with one record."""
    values: dict[str, Any] = dict.fromkeys(("mean", "median", "p90", "p99", "min", "max"), 1e-4)
    counts: dict[str, Any] = {"samples": 1, "calls_per_sample": 1, "discarded": 0, "processes": 1}
    time = Statistics(**values, **counts, stdev=0.0, interval=None, interval_reason=None, precision=None)
    metrics: dict[str, Value] = {"time": time, "memory_peak": Quantity(4096), "compile_time": Quantity(0.5)}
    record = Record(Trial(CASE, Side("numpy"), "forward"), "ok", metrics=metrics, facts={"version": version})
    environment = {"machine": {"cpu": "EPYC", "memory_total": int(15.62 * 2**30)}}
    started = "2026-11-20T03:00:00+00:00"
    return Run(f"run-{version}", started, ("opperf",), Settings(), environment=environment, records=(record,))


def test_pages_ask_either_system_alike(address: str) -> None:
    with Archive(Address.of(address)) as archive:
        stamps = [archive.stamp()]
        for i, version in enumerate(("1.1", "1.2"), 1):
            archive.add(night(i, version, 1 + i / 10))
            stamps.append(archive.stamp())
        archive.add(measure("1.2"))
        stamps.append(archive.stamp())
        assert len({*stamps}) == 4  # so that pages are made anew
        assert costs(archive, "run-1.2") == {"numpy": {"sum": 1e-4}}
        view = overview(archive, filters=Filters(category="reduction", operator="sum"))
        assert view is not None
        assert (view.build, view.anchor, [one.difference.ratio for one in view.movers]) == ("1.2", "1.0", [1.2])
        assert overview(archive, evidence="times") is None
        assert [one.operator for one in operators(archive)] == ["sum"]
        assert [one.name for one in machines(archive)] == ["EPYC"]
        assert operator_ratios(archive, "sum")[0].builds == ("1.1", "1.2")
        assert operator_times(archive, "sum")[0].of("memory_peak") == (4096,)
        assert [hit.key for hit in search(archive, "NIGHT")] == ["night2", "night1"]
        assert read_value(archive.document_json("night2"), "night2") == night(2, "1.2", 1.2)


def test_builds_of_another_tool_are_imported_into_either_system_alike(address: str, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    (folder / "vm").mkdir(parents=True)
    names = [f"time_{name}" for name in ("sum", "sort", "nothing")]
    benchmarks = {name: {"name": name, "type": "time", "param_names": ["n"]} for name in names}
    (folder / "benchmarks.json").write_text(json.dumps(benchmarks))
    (folder / "vm" / "machine.json").write_text(json.dumps({"machine": "vm"}))
    for i in range(12):
        level = 1e-3 if i < 6 else 2e-3  # each moves by a little, and by as much as it takes in the middle
        times = [[level * (1 + place / 1000 * (i % 3)) for place in range(2)], [["10", "20"]]]
        results = {**dict.fromkeys(names, times), "time_nothing": [[0.0, 0.0], times[1]]}
        build = {"commit_hash": f"{i:x}" * 40, "date": 1_600_000_000_000 + i, "results": results}
        (folder / "vm" / f"{i}-py.json").write_text(json.dumps(build))
    added = [import_results([folder], address).additions for _ in range(2)]
    assert [{addition.outcome for addition in additions} for additions in added] == [{"added"}, {"there"}]
    with Archive(Address.of(address)) as archive:
        found = imported_changes(archive)
        assert (found.series, {change.change.after[0] for change in found.changes}) == (4, {"6"})
        assert count(archive, schema.records) == 72


def start(address: str, name: str, count: int, wide: int) -> subprocess.Popen[str]:
    """Start a process that adds so many runs of so many records."""
    command = [sys.executable, str(WRITER), address, name, str(count), str(wide)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def count(archive: Archive, table: Table) -> int:
    with archive.engine.connect() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def in_database(address: str, wide: int) -> set[str]:
    """Return the runs that are there; each is whole."""
    with Archive(Address.of(address)) as archive:
        there = entries(archive)
        assert {entry.rows for entry in there} <= {wide}
        assert count(archive, schema.records) == wide * len(there)
    return {entry.key for entry in there}


def test_processes_that_write_at_once_lose_nothing_and_make_shared_rows_once(address: str) -> None:
    writers = [start(address, f"w{i}", 25, 3) for i in range(4)]
    said = {line.strip() for writer in writers for line in writer.communicate(timeout=300)[0].splitlines()}
    assert [writer.returncode for writer in writers] == [0] * 4
    assert in_database(address, 3) == said
    assert len(said) == 100
    with Archive(Address.of(address)) as archive:
        assert count(archive, schema.series) == 3


def test_a_writer_that_is_killed_leaves_whole_runs_only(address: str) -> None:
    generator = random.Random(18)
    said: set[str] = set()
    for i in range(8):
        writer = start(address, f"k{i}", 100_000, 40)
        assert writer.stdout is not None
        said.add(writer.stdout.readline().strip())
        time.sleep(generator.uniform(0, 0.15))
        writer.send_signal(signal.SIGKILL)
        said |= {line.strip() for line in writer.communicate(timeout=300)[0].splitlines()}
        writer.wait(timeout=300)
    there = in_database(address, 40)
    # A run may be in that its writer was killed before it could say so.
    assert said <= there
    assert len(there - said) <= 8


#: Pages that ask the database in every way that there is.
PAGES = (
    *("/", "/?framework=torch&build=2.12.dev20&since=2026-10-10", "/changes", "/changes?category=matmul", "/operators"),
    *("/operators/matmul", "/operators/matmul?metric=memory_peak", "/runs", "/runs?kind=run&since=2026-10-10"),
    *("/runs/run-25", "/runs/night-29", "/runs/floors", "/beside?base=run-00&new=run-25", "/suites"),
    *("/suites/small%20net", "/machines", "/machines/1", "/search?q=MAT", "/search?q=numpy+2"),
)


def answer(addresses: tuple[str, str], page: str) -> list[bytes]:
    """Return what the pages at each address say as CSV; they are asked for as HTML, too."""
    form = f"{page}{'&' if '?' in page else '?'}format=csv"
    return [urlopen(f"{address}{one}", timeout=300).read() for one in (page, form) for address in addresses][2:]


def test_pages_say_the_same_of_either_database_to_several_visitors_at_once(address: str, tmp_path: Path) -> None:
    with (
        serving(archive(tmp_path / "nights.db")) as expected,
        serving(archive(address)) as own,
        ThreadPoolExecutor(8) as visitors,
    ):
        for one, other in visitors.map(partial(answer, (expected, own)), PAGES * 2):
            assert one == other


def test_machines_that_add_while_visitors_read_lose_nothing(address: str) -> None:
    tokens = {f"machine{number}": f"a-token-of-machine-{number}" for number in range(8)}
    document = measure("1.2").to_json()

    def send(name: str) -> set[int]:
        headers = {"Authorization": f"Bearer {tokens[name]}"}
        statuses = set()
        for number in range(5):
            body = json.dumps({**document, "run": {**measure("1.2").header(), "id": f"{name}-{number}"}}).encode()
            for _ in range(2):
                statuses.add(urlopen(Request(f"{place}/api/runs", body, headers), timeout=300).status)
        return statuses

    with (
        archive(address, nights=3) as store,
        serving(store, machines=tokens) as place,
        ThreadPoolExecutor(16) as visitors,
    ):
        pages = [visitors.submit(urlopen, f"{place}{page}", timeout=300) for page in ("/", "/runs", "/changes") * 8]
        assert [*visitors.map(send, tokens)] == [{200, 201}] * 8
        assert {page.result().status for page in pages} == {200}
        there = [entry for entry in entries(store) if entry.key.startswith("machine")]
        assert ({entry.rows for entry in there}, len(there)) == ({1}, 40)
