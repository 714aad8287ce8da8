"""Runs in a database: what goes in comes out, once, and whole or not at all."""

from __future__ import annotations

import json
import signal
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, event, func, insert, inspect, select, text

from opperf.domain.case import Case
from opperf.domain.errors import HarnessError, InputError
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Reason, Warning
from opperf.domain.record import Record, Run, Statistics
from opperf.domain.tensor import TensorSpec
from opperf.parent.store.database import schema
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import VARIABLE, Address, choose, connect, reading
from opperf.parent.store.database.documents import pack, unpack
from opperf.parent.store.database.history import entries, histories
from opperf.parent.store.database.operator_history import operator_times
from opperf.parent.store.database.pruning import prune
from opperf.parent.workers.passwords import hide_passwords

MACHINE: dict[str, Any] = {
    "cpu": "EPYC",
    "architecture": "x86_64",
    "cores_physical": 2,
    "cores_logical": 2,
    "caches": [],
    "memory_total": 25276518400,
    "gpus": [{"name": "H100"}],
    "load": [0.5],
    "steal_seconds": 1.0,
}
SAMPLES = {"calls": [3], "wall_ns": [300], "cpu_ns": [299], "overhead_ns": 1.0}


def statistics(median: float, interval: tuple[float, float] | None = None) -> Statistics:
    """Return the summary of times around a median."""
    values: dict[str, Any] = dict.fromkeys(("mean", "median", "p90", "p99", "min", "max"), median)
    counts: dict[str, Any] = {"samples": 1, "calls_per_sample": 3, "discarded": 0, "processes": 1}
    return Statistics(**values, **counts, stdev=0.0, interval=interval, interval_reason=None, precision=None)


def record(operator: str, time: float = 1e-4, *, environment: str = "numpy", **more: Any) -> Record:
    """Return a record of an operator in NumPy."""
    case = Case(operator, {"data": TensorSpec((4, 4))}, {"axis": 1})
    return Record(
        Trial(case, Side("numpy", environment), "forward"),
        "ok",
        metrics={"time": statistics(time, (time * 0.9, time * 1.1))},
        warnings=(Warning("few", "few samples", None),),
        facts={"version": "2.4.6"},
        samples={"time": [SAMPLES]},
        **more,
    )


def run(key: str, *records: Record, day: int = 1, version: str = "2.4.6", **more: Any) -> Run:
    """Return a run of some day."""
    frameworks = [{"framework": "numpy", "environment": "numpy", "version": version, "build": "gcc"}]
    environment = {"machine": MACHINE, "frameworks": frameworks}
    started = f"2026-11-{day:02}T10:00:00+00:00"
    return Run(key, started, ("opperf", "run"), Settings(), environment=environment, records=records, **more)


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """An empty database."""
    return Archive(Address.of(str(tmp_path / "folder" / "results.db")))


def count(archive: Archive, table: Any) -> int:
    with archive.engine.connect() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


FAILED = Record(Trial(Case("abs"), Side("null"), "forward"), "failed", Reason("crash", "ü"))


def test_a_run_comes_out_as_it_went_in(archive: Archive) -> None:
    mine = run("r1", record("sum"), record("mean"), FAILED)
    assert archive.add(mine, samples=True).outcome == "added"
    assert archive.run("r1") == mine
    assert archive.run("r2") is None


def test_samples_go_in_when_they_are_asked_for_and_stay(archive: Archive) -> None:
    mine = run("r1", record("sum"))
    archive.add(mine)
    assert archive.run("r1") == replace(mine, records=(replace(mine.records[0], samples={}),))
    assert archive.add(mine, samples=True).outcome == "replaced"
    assert archive.add(mine).outcome == "there"
    assert archive.run("r1") == mine


def test_a_run_is_added_once_and_replaced_when_it_went_on(archive: Archive) -> None:
    mine = run("r1", record("sum"))
    longer = replace(mine, records=(*mine.records, record("mean")))
    assert [archive.add(one).outcome for one in (mine, mine, longer, longer)] == [
        *("added", "there", "replaced", "there"),
    ]
    assert [(entry.key, entry.rows) for entry in entries(archive)] == [("r1", 2)]
    assert count(archive, schema.records) == 2


def test_what_runs_share_has_one_row(archive: Archive) -> None:
    other = {**MACHINE, "load": [9.0], "steal_seconds": 7.0, "memory_total": MACHINE["memory_total"] + 4096}
    archive.add(run("r1", record("sum")))
    again = run("r2", record("sum", environment="numpy"), day=2)
    archive.add(replace(again, environment={**again.environment, "machine": other}))
    for table in (schema.machines, schema.environments, schema.cases, schema.series):
        assert count(archive, table) == 1
    larger = replace(again, id="r3", environment={**again.environment, "machine": {**MACHINE, "cores_logical": 64}})
    archive.add(larger)
    assert (count(archive, schema.machines), count(archive, schema.series), count(archive, schema.cases)) == (2, 2, 1)


def test_a_series_goes_on_from_build_to_build(archive: Archive) -> None:
    for day, version in ((2, "2.4.6"), (1, "2.4.5")):
        named = record("sum", day * 1e-4, environment="numpy")
        archive.add(run(f"r{day}", named, day=day, version=version, labels={"night": str(day)}))
    (history,) = histories(archive, "sum", framework="numpy")
    assert (history.case, history.direction) == (record("sum").trial.case, "forward")
    assert [(one.version, one.time, one.run) for one in history.observations] == [
        ("2.4.5", 1e-4, "r1"),
        ("2.4.6", 2e-4, "r2"),
    ]
    assert history.observations[0].interval == pytest.approx((0.9e-4, 1.1e-4))
    assert [(entry.key, entry.labels) for entry in entries(archive, most=1)] == [("r2", {"night": "2"})]
    since = datetime(2026, 11, 2, tzinfo=timezone.utc)
    assert [len(one.observations) for one in histories(archive, "sum", since=since)] == [1]
    assert [entry.key for entry in entries(archive, since=since)] == ["r2"]
    assert histories(archive, "sum", framework="torch") == histories(archive, "mean") == []


def test_more_runs_than_a_query_names_are_listed(archive: Archive) -> None:
    """A query of SQLite names 32,766 values at most, here fewer, so that every build of it is like that."""
    archive.add(run("r1", record("sum"), labels={"night": "1"}))

    def limit(connection: sqlite3.Connection, _: object) -> None:
        if sys.version_info >= (3, 11):
            connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 32_766)

    event.listen(archive.engine, "connect", limit)
    archive.engine.dispose()
    with archive.engine.begin() as connection:
        first = connection.execute(select(schema.runs)).mappings().one()
        more = [{**first, "id": i, "key": f"r{i}", "started": first["started"] + i} for i in range(2, 40_001)]
        connection.execute(insert(schema.runs), more)
        connection.execute(insert(schema.labels), {"run_id": 40_000, "name": "night", "value": "last"})
    every = entries(archive)
    assert (len(every), every[0].labels, every[-1].labels) == (40_000, {"night": "last"}, {"night": "1"})
    with archive.engine.begin() as connection:
        one = connection.execute(select(schema.records)).mappings().one()
        rows = [{**one, "id": i, "run_id": i, "started": one["started"] + i} for i in range(2, 40_001)]
        connection.execute(insert(schema.records), rows)
    (times,) = operator_times(archive, "sum")
    assert (len(times.runs), times.runs[-1]) == (40_000, "r40000")


def test_a_run_that_is_removed_takes_its_records_and_samples_with_it(archive: Archive) -> None:
    archive.add(run("r1", record("sum"), labels={"a": "b"}), samples=True)
    archive.add(run("r2", record("sum"), day=2))
    assert archive.remove(["r1", "r9"]) == ["r1"]
    assert [count(archive, table) for table in (schema.runs, schema.records, schema.samples, schema.labels)] == [
        *(1, 1, 0, 0),
    ]


@pytest.fixture
def three(archive: Archive) -> Archive:
    """Three runs with samples, a day apart."""
    for i in (1, 2, 3):
        archive.add(run(f"r{i}", record("sum"), record("mean"), day=i), samples=True)
    return archive


def test_pruning_takes_old_runs_and_says_which(three: Archive) -> None:
    third = datetime(2026, 11, 3, tzinfo=timezone.utc)
    removals = prune(three, before=third, dry=True)
    assert [(one.key, one.kind, one.started.day, one.rows) for one in removals] == [
        ("r1", "run", 1, 2),
        ("r2", "run", 2, 2),
    ]
    assert len(entries(three)) == 3
    assert prune(three, before=third) == removals
    assert [entry.key for entry in entries(three)] == ["r3"]
    assert (count(three, schema.records), count(three, schema.samples), count(three, schema.tallies)) == (2, 2, 1)


def test_pruning_leaves_the_latest_runs(three: Archive) -> None:
    assert [one.key for one in prune(three, keep=2)] == ["r1"]
    assert prune(three, before=datetime(2026, 12, 1, tzinfo=timezone.utc), keep=2) == []
    assert [entry.key for entry in entries(three)] == ["r3", "r2"]


def test_samples_go_and_records_stay(three: Archive) -> None:
    assert [(one.key, one.rows) for one in prune(three, keep=1, samples=True)] == [("r1", 2), ("r2", 2)]
    assert (count(three, schema.records), count(three, schema.samples)) == (6, 2)
    assert prune(three, keep=1, samples=True) == []


def test_what_is_pruned_makes_the_file_smaller(archive: Archive) -> None:
    many = [record(f"operator{i}") for i in range(2000)]
    archive.add(run("r1", *many), samples=True)
    assert archive.address.file is not None

    def size() -> int:
        with archive.engine.connect() as connection:
            return int(connection.exec_driver_sql("PRAGMA page_count").scalar_one())

    before = size()
    prune(archive, keep=0, samples=True)
    assert size() < before * 0.95


def test_a_run_that_cannot_be_stored_leaves_nothing_behind(archive: Archive) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        archive.add(run("r1", record("sum"), replace(record("mean"), facts={"far": float("inf")})))
    assert [count(archive, table) for table in (schema.runs, schema.records, schema.series)] == [0, 0, 0]


def test_migrations_make_the_tables_of_this_opperf(tmp_path: Path) -> None:
    def shape(engine: Any) -> dict[str, Any]:
        told = inspect(engine)
        return {
            table: (
                [(column["name"], str(column["type"]), column["nullable"]) for column in told.get_columns(table)],
                sorted(str(index["name"]) for index in told.get_indexes(table)),
                told.get_foreign_keys(table),
                sorted(each["column_names"] for each in told.get_unique_constraints(table)),
            )
            for table in told.get_table_names()
            if table != "alembic_version"
        }

    direct = create_engine(f"sqlite:///{tmp_path / 'direct.db'}")
    schema.metadata.create_all(direct)
    assert shape(connect(Address.of(str(tmp_path / "migrated.db")))) == shape(direct)


@pytest.mark.parametrize("version", ["1", "2"])
def test_a_database_that_no_release_wrote_is_one_message(tmp_path: Path, version: str) -> None:
    address = Address.of(str(tmp_path / "old.db"))
    with connect(address).begin() as connection:
        connection.execute(text(f"UPDATE alembic_version SET version_num = '{version}'"))
    with pytest.raises(InputError, match=r"an opperf before version 0\.2 wrote this database") as refused:
        connect(address)
    assert "opperf history add FILE" in (refused.value.hint or "")


def test_a_database_of_something_else_or_of_a_newer_opperf_is_refused(tmp_path: Path) -> None:
    other = create_engine(f"sqlite:///{tmp_path / 'other.db'}")
    with other.begin() as connection:
        connection.execute(text("CREATE TABLE songs (id INTEGER)"))
    with pytest.raises(InputError, match="another program: it has a table `songs`"):
        connect(Address.of(str(tmp_path / "other.db")))
    with connect(Address.of(str(tmp_path / "newer.db"))).begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = 'tomorrow'"))
    with pytest.raises(InputError, match="a newer version of opperf wrote this database"):
        connect(Address.of(str(tmp_path / "newer.db")))


@pytest.mark.parametrize("mode", ["DELETE", "TRUNCATE", "WAL"])
@pytest.mark.parametrize("versions", [(), ("4f2a",), ("1", "2")])
def test_the_database_of_another_program_stays_as_it_is(tmp_path: Path, mode: str, versions: tuple[str, ...]) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"PRAGMA journal_mode={mode}")
        other.execute("CREATE TABLE songs (id INTEGER)")
        if versions:
            other.execute("CREATE TABLE alembic_version (version_num TEXT)")
            other.executemany("INSERT INTO alembic_version VALUES (?)", [(version,) for version in versions])
        other.commit()
    before = path.read_bytes(), sorted(tmp_path.iterdir())
    with pytest.raises(InputError, match=r"other\.db: it (belongs to another program|has no table|its table)|versions"):
        connect(Address.of(str(path)))
    assert (path.read_bytes(), sorted(tmp_path.iterdir())) == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("INSERT INTO alembic_version VALUES ('1')", r"its table `alembic_version` has 2 versions, expected one"),
        ("DROP TABLE tallies", r"it has no table `tallies`"),
        ("DROP TABLE labels; CREATE VIEW labels AS SELECT 1", r"it is not opperf's: `labels` is a view"),
        ("DROP TABLE alembic_version; CREATE VIEW alembic_version AS SELECT 1", "`alembic_version` is a view"),
    ],
)
def test_a_database_whose_tables_are_not_those_of_opperf_is_refused(tmp_path: Path, change: str, message: str) -> None:
    path = tmp_path / "t.db"
    connect(Address.of(str(path))).dispose()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(change)
    with pytest.raises(InputError, match=message):
        connect(Address.of(str(path)))


def test_ctrl_c_ends_a_query_that_never_ends(archive: Archive) -> None:
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    def begin(*_: object) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.1)

    former = signal.signal(signal.SIGALRM, interrupt)
    event.listen(archive.engine, "before_cursor_execute", begin)
    try:
        with pytest.raises(KeyboardInterrupt), reading(archive.engine, archive.address) as connection:
            connection.exec_driver_sql(endless)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


def test_what_is_no_database_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no database at all, but long enough to be read as the head of one " * 20)
    with pytest.raises(InputError, match=r"notes\.txt` is no database, but another file"):
        connect(Address.of(str(tmp_path / "notes.txt")))
    with pytest.raises(InputError, match=r"there is no database `.*missing\.db`"):
        connect(Address.of(str(tmp_path / "missing.db")), create=False)
    assert not (tmp_path / "missing.db").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("mysql://h/d", "no database of the kind `mysql`"),
        ("sqlite://", "an SQLite database in memory would be lost"),
        (" ", "the database address is empty"),
        ("postgresql://u:secret@h:port/d", "cannot read the address `postgresql://u:\\*\\*\\*@h:port/d`"),
        ("postgresql://u:1@secret@h/d", "cannot read the address `postgresql://u:\\*\\*\\*@h/d`"),
    ],
)
def test_an_address_that_cannot_be_meant_is_refused_without_its_password(words: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        Address.of(words)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("password", ["secret", "s:e@cret", "%40secret", "s/ecret", "s ecret", "s?ecret", "s#e/c@ret"])
def test_a_password_is_never_shown_or_stored(password: str, archive: Archive) -> None:
    url = f"postgresql://ann:{password}@127.0.0.1:1/perf"
    address = Address.of(url) if "@" not in password else None
    for shown in (str(address), repr(address), hide_passwords(url), hide_passwords(f"--database={url}")):
        assert password not in shown
        assert "cret" not in shown
    if address is not None:
        with pytest.raises(HarnessError) as caught:
            connect(address)
        assert password not in f"{caught.value} {caught.value.hint}"
        assert "127.0.0.1" in str(caught.value)
    archive.add(replace(run("r1"), command=("opperf", "run", "--database", url)))
    told = archive.run("r1")
    assert told is not None
    assert password not in json.dumps(told.to_json())


def test_the_option_comes_before_the_variable_and_both_before_the_users_own() -> None:
    assert str(choose("/a.db", {VARIABLE: "/b.db"})) == "/a.db"
    assert str(choose(None, {VARIABLE: "postgresql://db/perf"})) == "postgresql://db/perf"
    assert str(choose(None, {})).endswith("opperf/results.db")


def test_documents_are_small_and_come_back() -> None:
    document = record("sum").to_json() | {"samples": {}}
    assert unpack(pack(document), "") == json.loads(json.dumps(document))
    assert len(pack(document)) < len(json.dumps(document)) / 2
