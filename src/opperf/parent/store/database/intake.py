"""Builds going into the database, many at a time: millions of times, each a row that says no more than its columns.

What every such record repeats is left out of its document, and put back where one is read. Rows go in by series, which
is how their index has them: a page of it is then written once for all builds that go in together.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import repeat
from math import prod
from operator import itemgetter
from typing import Any, Optional

from sqlalchemy import Connection, Engine, delete, func, insert, select

from opperf.domain.codec import read_as
from opperf.domain.files.json_text import JsonDict
from opperf.domain.record import SCHEMA_VERSION
from opperf.parent.store.database import schema
from opperf.parent.store.database.connection import Address, reading, writing
from opperf.parent.store.database.documents import pack
from opperf.parent.store.database.rows import Addition, Rows
from opperf.parent.store.imports.absolute_times import LABEL, Spread, Timing, record_document
from opperf.parent.store.imports.builds import Block, Build

#: The times that go in together. What is lost where an import is stopped, and what it holds in memory.
AT_ONCE = 200_000
#: Kilobytes of the database that are held in memory meanwhile.
CACHE = 32_000
#: The key of a document that says nothing but how many samples a time was taken of, and of how many calls each.
COUNTS = "n"
COLUMNS = ("series_id", "started", "run_id", "environment_id", "status", "time", "low", "high", "document")
#: A row of these columns. Its document is one of a few thousand that rows share.
_Values = tuple[int, int, int, int, str, Optional[float], Optional[float], Optional[float], bytes]


class Intake:
    """Adds builds to a database, some hundred thousand times in one transaction; the last with `flush`."""

    def __init__(self, engine: Engine, address: Address) -> None:
        self._engine, self._address = engine, address
        self._pending: list[Build] = []
        self._rows = 0
        #: The series of each combination of parameters of a block, 0 of one that no build had; and by machine and case.
        self._series: dict[tuple[object, ...], list[int]] = {}
        self._ids: dict[tuple[int, str], int] = {}
        self._documents = _Documents()

    def there(self) -> dict[str, Addition]:
        """Return the imported runs that are there, by the digests of their contents."""
        runs, tallies = schema.runs.c, schema.tallies.c
        query = (
            select(runs.content, runs.key, func.coalesce(func.sum(tallies.count), 0))
            .outerjoin(schema.tallies, tallies.run_id == runs.id)
            .where(runs.kind == "imported")
            .group_by(runs.id)
        )
        with reading(self._engine, self._address) as connection:
            return {content: Addition(key, "there", rows) for content, key, rows in connection.execute(query)}

    def add(self, build: Build) -> list[Addition]:
        """Add a build; return what went into the database because of it: nothing yet, or all that waited."""
        self._pending.append(build)
        self._rows += build.rows
        return self.flush() if self._rows >= AT_ONCE else []

    def flush(self) -> list[Addition]:
        """Write what waits, whole or not at all."""
        builds, self._pending, self._rows = self._pending, [], 0
        if not builds:
            return []
        with writing(self._engine, self._address) as connection:
            if connection.dialect.name == "sqlite":
                connection.exec_driver_sql(f"PRAGMA cache_size = -{CACHE}")
            rows: list[_Values] = []
            additions = [self._add(connection, build, rows) for build in builds]
            rows.sort(key=itemgetter(0))
            _insert(connection, rows)
        return additions

    def _add(self, connection: Connection, build: Build, values: list[_Values]) -> Addition:
        """Insert a run, and add the values of its records to others."""
        run = build.run()
        table = schema.runs.c
        old = connection.execute(delete(schema.runs).where(table.key == run.id)).rowcount
        rows = Rows(connection, run)
        head: JsonDict = {"schema_version": SCHEMA_VERSION, "run": run.header()}
        rows.head({"kind": "imported", "content": build.digest, "document": pack(head)})
        environment = rows.environment({"framework": build.tool, "version": build.version})
        machine = rows.machine(build.machine)
        for block in build.blocks:
            failures = block.times.count(None)
            rows.count(environment, "ok", len(block.times) - failures)
            rows.count(environment, "failed", failures)
            values += zip(
                self._series_of(rows, build, block, machine),
                *map(repeat, (rows.started, rows.id, environment)),
                ["failed" if time is None else "ok" for time in block.times] if failures else repeat("ok"),
                block.times,
                block.lows,
                block.highs,
                map(self._documents.__getitem__, zip(block.samples, block.calls)),
            )
        rows.tallies()
        return Addition(run.id, "replaced" if old else "added", build.rows)

    def _series_of(self, rows: Rows, build: Build, block: Block, machine: int) -> list[int]:
        """Return the series of each time of a block, as the builds before had them."""
        key = machine, block.name, block.parameters, block.values
        every = self._series.get(key)
        if every is None:
            every = self._series[key] = [0] * prod(map(len, block.values))
        cases = {place: block.case(place) for place in block.places if not every[place]}
        new = {case.id: case for case in cases.values() if (machine, case.id) not in self._ids}
        if new:
            ids = rows.series_of([case.to_json() for case in new.values()], build.side, "forward")
            self._ids |= {(machine, one): series for one, series in zip(new, ids)}
        for place, case in cases.items():
            every[place] = self._ids[machine, case.id]
        return [every[place] for place in block.places]


class _Documents(dict[tuple[Optional[int], Optional[int]], bytes]):
    """The documents of records by the numbers of samples and calls, each made once."""

    def __missing__(self, counts: tuple[int | None, int | None]) -> bytes:
        self[counts] = document = pack({COUNTS: counts}, level=0)
        return document


def _insert(connection: Connection, rows: list[_Values]) -> None:
    """Insert records; SQLite's driver takes them as they are, which takes a third of the time."""
    if connection.dialect.name == "sqlite" and rows:
        names, marks = ", ".join(COLUMNS), ", ".join("?" * len(COLUMNS))
        connection.exec_driver_sql(f"INSERT INTO records ({names}) VALUES ({marks})", rows)
    elif rows:
        connection.execute(insert(schema.records), [dict(zip(COLUMNS, row)) for row in rows])


def expand(document: JsonDict, row: Any, head: JsonDict, where: str) -> JsonDict:
    """Return the document of a record as files have it; that of a build says only what its columns do not.

    `row` has its time, interval and version, and the case; `head` is the document of its run.
    """
    if COUNTS not in document:
        return document
    samples, calls = read_as(tuple[Optional[int], Optional[int]], document[COUNTS], where)
    tool = read_as(Mapping[str, str], head["run"].get("labels") or {}, where).get(LABEL, "")
    interval = None if row.low is None or row.high is None else (row.low, row.high)
    spread = None if row.time is None else Spread(row.time, interval=interval, samples=samples, calls=calls)
    version = row.version or ""
    whole = record_document(tool, version, Timing(row.operator, spread))
    return {
        **{name: whole[name] for name in whole if name not in ("case", "side", "direction", "samples")},
        "environment": version,
    }
