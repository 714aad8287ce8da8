"""A database of ten million records: how long its pages wait, how large it is, and whether writers lose anything.

The first night is added as `opperf history add` does it; the other nights are its rows again with other builds, times
and ratios, copied within the database, documents and all. Each night measures every series and compares two of each
operator's with the anchor and with the build before. Then the questions of pages are asked again and again, each time
of another operator or build. Beside it 8 processes add 2,000 runs each to an empty database, and 200 more are killed in
the midst of adding. SQLite and PostgreSQL, as it comes, do the same.

    python benchmarks/history.py [RECORDS]
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from postgres import server
from report import publish
from sqlalchemy import Connection, Float, Index, func, insert, literal, literal_column, select, text

from opperf.domain.case import Case
from opperf.domain.measurement import Quantity
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.reason import Warning
from opperf.domain.record import Record, Run, Statistics, Value
from opperf.domain.tensor import TensorSpec
from opperf.parent.commands.history import Scope, searches
from opperf.parent.documents.comparison import Comparison, ComparisonRun, Verdict
from opperf.parent.store.database import schema
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import Address, writing
from opperf.parent.store.database.documents import fingerprint
from opperf.parent.store.database.history import entries
from opperf.parent.store.database.listing import machines, operators, search
from opperf.parent.store.database.operator_history import operator_ratios, operator_times
from opperf.parent.store.database.overview import overview
from opperf.parent.store.database.series import Filters

WRITER = Path(__file__).resolve().parents[1] / "tests" / "processes" / "database_writer.py"
RECORDS, OPERATORS, SERIES, COMPARED = 10_000_000, 1_400, 10, 2
WRITERS, COMMITS, KILLS = 8, 2_000, 200
#: How often each question is asked, and the comparisons that a page of changes reads.
ASKED, COMPARISONS = 20, 30_000
FIRST, DAY = 1_700_000_000, 86_400
MACHINE = {"cpu": "AMD EPYC", "architecture": "x86_64", "cores_logical": 2, "memory_total": 2**34}


def record(case: Case, direction: str, generator: random.Random) -> Record:
    """Return a record as large as those of `opperf run`: three sampled metrics, each with all its digits."""
    metrics: dict[str, Value] = {}
    for name in ("time", "latency", "cpu_time"):
        middle = generator.lognormvariate(-9, 1)
        spread = sorted(middle * generator.uniform(0.99, 1.2) for _ in range(4))
        metrics[name] = Statistics(
            mean=spread[1],
            median=middle,
            p90=spread[2],
            p99=spread[3],
            min=middle * 0.98,
            max=spread[3],
            stdev=middle * generator.uniform(0.001, 0.1),
            interval=None,
            interval_reason="1 of the 3 processes that an interval needs",
            precision=generator.uniform(0.001, 0.02),
            samples=generator.randrange(20, 30),
            calls_per_sample=generator.randrange(1, 90),
            discarded=generator.randrange(10),
            processes=1,
            sync="block",
            cache="hot",
        )
    metrics |= {"memory_peak": Quantity(generator.randrange(10**6), "tracemalloc"), "compile_time": Quantity(0.5, "x")}
    for name in ("flops", "bytes", "flop_rate", "byte_rate"):
        metrics[name] = Quantity(generator.lognormvariate(12, 3), "formula over median time")
    few = Warning("p99_of_few", "p99 is taken from fewer than 100 samples", "`--runs 100`")
    facts = {"implementation": f"numpy:numpy.{case.operator}", "version": "1.0", "warmup_calls": 7, "sync": "block"}
    return Record(Trial(case, Side("numpy"), direction), "ok", metrics=metrics, warnings=(few,), facts=facts)


def compare(record: Record, base: str, generator: random.Random) -> Comparison:
    """Return a comparison of a record's trial with another build, as large as those of `opperf compare`."""
    pairs = tuple(generator.gauss(0, 0.01) for _ in range(5))
    ratio = generator.uniform(0.95, 1.05)
    word = "slower" if ratio > 1.03 else "faster" if ratio < 0.97 else "same"
    verdict = Verdict(word, ratio, (ratio * 0.99, ratio * 1.01), "the interval lies within 2 %", 5)
    side = record.trial.side
    return Comparison(
        record.trial.case, record.trial.direction, side, side, verdict, 1e-4, ratio * 1e-4,
        tails={"median": ratio, "p90": ratio}, log_ratios=(pairs, ()), base_version=base, new_version="1.0",
        memory={"peak": (38044.0, 38076.0), "allocated": (None, None), "same": False, "source": "tracemalloc"},
    )  # fmt: skip


def first_night() -> tuple[Run, ComparisonRun]:
    """Return what the first night measured and compared; the build before the anchor is another one."""
    generator = random.Random(18)
    records = [
        record(Case(f"operator{i:04}", {"data": TensorSpec((j, 32))}), direction, generator)
        for i in range(OPERATORS)
        for j in range(1, SERIES // 2 + 1)
        for direction in ("forward", "backward")
    ]
    compared = [one for i, one in enumerate(records) if i % SERIES < COMPARED]
    comparisons = tuple(compare(one, base, generator) for base in ("anchor", "0.9") for one in compared)
    environment = {"machine": MACHINE, "frameworks": [{"framework": "numpy", "environment": "current"}]}
    run = Run("run0", "2023-11-14T00:00:00+00:00", ("opperf", "run"), Settings(), {"night": "0"}, environment)
    made = Run(**{**vars(run), "records": tuple(records)})
    return made, ComparisonRun(Run(**{**vars(run), "id": "night0"}), comparisons)


def fill(archive: Archive, nights: int) -> None:
    """Add the first night, and copy it for all others; making the indexes at the end is quicker than row by row."""
    for document in first_night():
        archive.add(document)
    indexes: list[Index] = [one for table in (schema.records, schema.comparisons) for one in table.indexes]
    writer = archive.engine.execution_options(writes=True)
    with writing(writer, archive.address) as connection:
        names = {row.version: row.id for row in connection.execute(select(schema.environments))}
        for index in indexes:
            index.drop(connection)
    postgres = archive.address.file is None
    chance = "random()" if postgres else "(random() / 18446744073709551616.0 + 0.5)"
    factor = 0.97 + 0.06 * literal_column(chance, Float)
    anchor, before = names["anchor"], names["1.0"]
    for night in range(1, nights):
        with writing(writer, archive.address) as connection:
            before = copy_night(connection, night, anchor, before, factor)
    with writing(writer, archive.address) as connection:
        for index in indexes:
            index.create(connection)
    if postgres:
        # Its own vacuum would do it within a minute.
        with archive.engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
            connection.execute(text("VACUUM ANALYZE"))


def copy_night(connection: Connection, night: int, anchor: int, before: int, factor: Any) -> int:
    """Copy the first night as one of a new build; return the build."""
    started = FIRST + night * DAY
    build = {"framework": "numpy", "version": f"1.{night}", "fingerprint": fingerprint("numpy", night)}
    new = connection.execute(insert(schema.environments).returning(schema.environments.c.id), build).scalar_one()
    for key in ("run", "night"):
        old = connection.execute(select(schema.runs).where(schema.runs.c.key == f"{key}0")).mappings().one()
        values = {**old, "key": f"{key}{night}", "started": started}
        del values["id"]
        run = connection.execute(insert(schema.runs).returning(schema.runs.c.id), values).scalar_one()
        connection.execute(insert(schema.labels), {"run_id": run, "name": "night", "value": str(night)})
        if key == "run":
            changed = {"environment_id": literal(new), "time": schema.records.c.time * factor}
            copy(connection, schema.records, old["id"], run, started, changed)
        else:
            base = func.coalesce(func.nullif(schema.comparisons.c.base_environment_id, anchor) * 0 + before, anchor)
            changed = {
                "base_environment_id": base,
                "new_environment_id": literal(new),
                "ratio": schema.comparisons.c.ratio * factor,
            }
            copy(connection, schema.comparisons, old["id"], run, started, changed)
        tallies = schema.tallies.c
        swapped = func.coalesce(func.nullif(tallies.base_environment_id, anchor) * 0 + before, anchor)
        columns = (literal(run), literal(new), tallies.outcome, tallies.count)
        bases = literal(None) if key == "run" else swapped
        connection.execute(
            insert(schema.tallies).from_select(
                ["run_id", "environment_id", "outcome", "count", "base_environment_id"],
                select(*columns, bases).where(tallies.run_id == old["id"]),
            )
        )
    return int(new)


def copy(connection: Connection, table: Any, old: int, run: int, started: int, changed: dict[str, Any]) -> None:
    """Copy the rows of a run into another, with some columns changed."""
    values = {"run_id": literal(run), "started": literal(started), **changed}
    names = [column.name for column in table.columns if column.name != "id"]
    # The rows of the first night come first in their tables, which have no index by run meanwhile.
    first = table.c.id <= OPERATORS * SERIES, table.c.run_id == old
    source = select(*(values.get(name, table.c[name]) for name in names)).where(*first)
    connection.execute(insert(table).from_select(names, source.order_by(table.c.id)))


def size(archive: Archive) -> int:
    """Return how many bytes a database takes."""
    with archive.engine.connect() as connection:
        if archive.address.file is None:
            return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one())
    with archive.engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
    return archive.address.file.stat().st_size


def ask(archive: Archive, nights: int) -> Iterator[tuple[str, list[float]]]:
    """Yield the name of each question and how long it took each time, in milliseconds."""
    generator = random.Random(19)

    def name() -> str:
        return f"operator{generator.randrange(OPERATORS):04}"

    def build() -> str:
        return f"1.{generator.randrange(nights // 2, nights)}"

    questions: dict[str, Callable[[], object]] = {
        "overview of the latest build": lambda: overview(archive),
        "overview of any build": lambda: overview(archive, build=build()),
        "overview of one operator": lambda: overview(archive, filters=Filters(operator=name())),
        "overview by times": lambda: overview(archive, build=build(), anchor="1.1", evidence="times"),
        f"changes in {COMPARISONS:,} comparisons": lambda: searches(archive, Scope(most=COMPARISONS))[0].series,
        "times of an operator": lambda: operator_times(archive, name()),
        "ratios of an operator": lambda: operator_ratios(archive, name()),
        "runs": lambda: entries(archive, most=100),
        "operators": lambda: operators(archive),
        "machines": lambda: machines(archive),
        "search": lambda: search(archive, name()[4:]),
    }
    for question, answer in questions.items():
        times = []
        for _ in range(ASKED):
            begin = time.perf_counter()
            if not answer():
                raise SystemExit(f"{question}: no answer")
            times.append((time.perf_counter() - begin) * 1e3)
        yield question, times


def start(address: str, name: str, count: int, wide: int) -> subprocess.Popen[str]:
    """Start a process that adds so many runs of so many records."""
    command = [sys.executable, str(WRITER), address, name, str(count), str(wide)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def check(address: str, said: set[str], wide: int) -> dict[str, float]:
    """Return how many runs are lost and how many there are in part."""
    with Archive(Address.of(address)) as archive, archive.engine.connect() as connection:
        rows = select(schema.records.c.run_id, func.count().label("rows")).group_by(schema.records.c.run_id)
        parts = sum(row.rows != wide for row in connection.execute(rows))
        keys = [entry.key for entry in entries(archive)]
    return {"lost": len(said - set(keys)), "twice": len(keys) - len(set(keys)), "half": parts}


def write_at_once(address: str) -> dict[str, float]:
    """Let processes add runs at the same time."""
    begin = time.perf_counter()
    writers = [start(address, f"w{i}", COMMITS, 3) for i in range(WRITERS)]
    for writer in writers:
        writer.communicate()
    seconds = time.perf_counter() - begin
    every = {f"w{i}-{j}" for i in range(WRITERS) for j in range(COMMITS)}
    return {**check(address, every, 3), "seconds": seconds}


def kill(address: str) -> dict[str, float]:
    """Kill processes in the midst of adding, four at a time."""
    generator, begin, said = random.Random(18), time.perf_counter(), set()
    for i in range(0, KILLS, 4):
        writers = [start(address, f"k{i + j}", 10**9, 40) for j in range(4)]
        for writer in writers:
            assert writer.stdout is not None
            said.add(writer.stdout.readline().strip())
            time.sleep(generator.uniform(0, 0.1))
            writer.send_signal(signal.SIGKILL)
        for writer in writers:
            said |= set(writer.communicate()[0].split())
    return {**check(address, said, 40), "seconds": time.perf_counter() - begin}


def main() -> None:
    """Fill both databases, ask them, and write into them."""
    records = int(sys.argv[1]) if len(sys.argv) > 1 else RECORDS
    nights = -(-records // (OPERATORS * SERIES))
    questions: list[dict[str, Any]] = []
    sizes: list[dict[str, Any]] = []
    writers: list[dict[str, Any]] = []
    figures: dict[str, tuple[float, float, str]] = {}
    with tempfile.TemporaryDirectory() as folder, server() as postgres:
        systems: dict[str, Callable[[str], str]] = {"SQLite": lambda name: f"{folder}/{name}.db"}
        if postgres is None:
            print("PostgreSQL is not installed: SQLite alone", file=sys.stderr)
        else:
            systems["PostgreSQL"] = partial(database, postgres)
        for system, place in systems.items():
            with Archive(Address.of(place("large"))) as archive:
                begin = time.perf_counter()
                fill(archive, nights)
                seconds = time.perf_counter() - begin
                rows = nights * OPERATORS * (SERIES + 2 * COMPARED)
                sizes.append(
                    {"system": system, "records": nights * OPERATORS * SERIES, "rows": rows, "filled in s": seconds,
                     "GB": size(archive) / 1e9, "bytes a row": size(archive) / rows}
                )  # fmt: skip
                for question, times in ask(archive, nights):
                    row = {"system": system, "question": question, "median ms": median(times), "worst ms": max(times)}
                    questions.append(row)
                if archive.address.file is not None:
                    archive.address.file.unlink()
            for what, outcome in (
                (f"{WRITERS} processes x {COMMITS} runs", write_at_once(place("writers"))),
                (f"{KILLS} processes killed", kill(place("kills"))),
            ):
                writers.append({"system": system, "what": what, **outcome})
                figures[f"{system}, {what}: lost, twice or half"] = (
                    outcome["lost"] + outcome["twice"] + outcome["half"], 0, "runs",
                )  # fmt: skip
            figures[f"{system}: a row without samples"] = (sizes[-1]["bytes a row"], 1000, "bytes")
            waits = {row["question"]: row["median ms"] for row in questions if row["system"] == system}
            changes = f"changes in {COMPARISONS:,} comparisons"
            for question, most in (("overview of any build", 300), ("overview by times", 300), (changes, 500)):
                figures[f"{system}: {question}"] = (waits[question], most, "ms")
            for question in ("times of an operator", "ratios of an operator"):
                figures[f"{system}: {question}"] = (waits[question], 50, "ms")
    title = f"{nights} nights of {OPERATORS} operators: each question {ASKED} times"
    publish("history", title, questions, figures, {"databases": sizes, "writers": writers})


def database(server: str, name: str) -> str:
    """Make a database on the server; return its address."""
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return f"{server.rpartition('/')[0]}/{name}"


if __name__ == "__main__":
    main()
