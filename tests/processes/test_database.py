"""A database that several processes write into, and that some of them are killed in the midst of: nothing is lost."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Table, func, select

from opperf.parent.store.database import schema
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import Address
from opperf.parent.store.database.history import entries

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
    said = {line.strip() for writer in writers for line in writer.communicate(timeout=120)[0].splitlines()}
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
        said |= {line.strip() for line in writer.communicate(timeout=60)[0].splitlines()}
        writer.wait(timeout=60)
    there = in_database(address, 40)
    # A run may be in that its writer was killed before it could say so.
    assert said <= there
    assert len(there - said) <= 8
