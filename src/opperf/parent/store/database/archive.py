"""Runs going into the database, and coming out of it again as they were.

What many runs share (machines, environments, cases, series) has one row, told by what is in it; a run goes in within
one transaction. A run that is there already is not added again; a run that was resumed since takes
the place of what was there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, closing, suppress
from typing import Any, Literal, TypeAlias, Union

from sqlalchemy import Connection, delete, select

from opperf.domain.errors import InputError
from opperf.domain.record import SCHEMA_VERSION, Run
from opperf.parent.documents.candidates import JudgedRun
from opperf.parent.documents.comparison import ComparisonRun
from opperf.parent.documents.floor import NoiseRun
from opperf.parent.store.database import schema
from opperf.parent.store.database.connection import Address, Watch, connect, reading, version, writing
from opperf.parent.store.database.documents import fingerprint, pack, unpack
from opperf.parent.store.database.intake import Intake, expand
from opperf.parent.store.database.rows import Addition, Rows
from opperf.parent.store.database.series import pieces
from opperf.parent.workers.passwords import hide_passwords

#: What a database keeps.
Stored: TypeAlias = Union[Run, ComparisonRun, NoiseRun, JudgedRun]
Kind: TypeAlias = Literal["run", "comparison", "noise", "judge", "nightly", "imported"]
KINDS: Mapping[type[Stored], Kind] = {
    Run: "run",
    ComparisonRun: "comparison",
    NoiseRun: "noise",
    JudgedRun: "judge",
}


class Archive(AbstractContextManager["Archive"]):
    """A database of runs. Raises `InputError` for a bad address, `HarnessError` if it cannot be reached."""

    def __init__(self, address: Address, *, create: bool = True) -> None:
        self.address = address
        self.engine = connect(address, create=create)
        self._writer = self.engine.execution_options(writes=True)
        self._watch = Watch(self.engine, address)

    def __exit__(self, *_: object) -> None:
        self._watch.close()
        self.engine.dispose()

    def version(self) -> str:
        """Return the version of the tables; raises `HarnessError` if the database cannot be reached."""
        return version(self.engine, self.address)

    def stamp(self) -> str:
        """Return a stamp, the same until anybody writes into the database; raises `HarnessError`."""
        return self._watch.stamp()

    def content(self, key: str) -> tuple[int, str, bool] | None:
        """Return a stamp of a run alone, the same as long as it is what it is; None where there is no such run."""
        runs = schema.runs.c
        with reading(self.engine, self.address) as connection:
            row = connection.execute(select(runs.id, runs.content).where(runs.key == key)).one_or_none()
            return None if row is None else (row.id, row.content, _has_samples(connection, row.id))

    def add(
        self, document: Stored, *, samples: bool = False, kind: Kind | None = None, replace: bool = True
    ) -> Addition:
        """Add a run, or comparisons, floors or judgements with theirs; samples only when they are asked for.

        Samples take the most room; none that are there are lost. The kind is that of the document, or `nightly` or
        `imported` as the caller says. Raises `InputError` where another run has the id and is not to be replaced.
        """
        run = document if isinstance(document, Run) else document.run
        pairs = document.comparisons if isinstance(document, ComparisonRun) else ()
        floors = document.floors if isinstance(document, NoiseRun) else ()
        head: dict[str, object] = {"schema_version": SCHEMA_VERSION, "run": header(run)}
        if isinstance(document, NoiseRun):
            head |= {key: value for key, value in document.to_json().items() if key in ("unknown", "false_alarms")}
        judgements = document.judgements if isinstance(document, JudgedRun) else ()
        if isinstance(document, JudgedRun):  # they belong to no series, and stand in the run's own document
            head["judgements"] = [one.to_json() for one in judgements]
        samples = samples and any(record.samples for record in run.records)
        records = [record.to_json() for record in run.records]
        comparisons, levels = ([one.to_json() for one in documents] for documents in (pairs, floors))
        count = len(records) + len(comparisons) + len(levels) + len(judgements)
        bare = [{**one, "samples": None} for one in records]
        content = fingerprint(head, bare, comparisons, *([levels] if levels else []))
        with writing(self._writer, self.address) as connection:
            old = connection.execute(
                select(schema.runs.c.id, schema.runs.c.content).where(schema.runs.c.key == run.id)
            ).one_or_none()
            if old is not None:
                whole = not samples or _has_samples(connection, old.id)
                if whole and old.content == content:
                    return Addition(run.id, "there", count)
                if old.content != content and not replace:
                    message = f"the database has a run `{run.id}` with other content"
                    raise InputError(message, hint="a run is sent once it is finished", slug="conflict")
                connection.execute(delete(schema.runs).where(schema.runs.c.id == old.id))
            rows = Rows(connection, run)
            rows.head(
                {
                    "kind": kind or KINDS[type(document)],
                    "content": content,
                    "document": pack(head),
                }
            )
            rows.records(zip(run.records, records, strict=True), samples=samples)
            rows.comparisons(zip(pairs, comparisons, strict=True))
            rows.floors(zip(floors, levels, strict=True))
            rows.judgements(judgements)
            rows.tallies()
        return Addition(run.id, "added" if old is None else "replaced", count)

    def intake(self) -> Intake:
        """Return the writer of builds that another tool measured, many at a time."""
        return Intake(self._writer, self.address)

    def remove(self, keys: Sequence[str]) -> list[str]:
        """Remove runs with all that belongs to them; return the ids of those that were there."""
        with writing(self._writer, self.address) as connection:
            run_key = schema.runs.c.key
            there = [
                key
                for several in pieces(keys)
                for key in connection.scalars(select(run_key).where(run_key.in_(several)))
            ]
            for several in pieces(there):
                connection.execute(delete(schema.runs).where(run_key.in_(several)))
        return there

    def shrink(self) -> None:
        """Return freed space to the disk; PostgreSQL reuses it without help."""
        if self.address.file is not None:
            with closing(self.engine.raw_connection()) as connection, suppress(sqlite3.OperationalError):
                # If another process is using the file, SQLite reuses the space as well.
                connection.cursor().execute("VACUUM")

    def run(self, key: str) -> Run | None:
        """Return a run as it was added, None without one; samples are empty if they were not stored."""
        document = self._document(key)
        return None if document is None else Run.from_json(document, f"run {key}")

    def document_json(self, key: str) -> dict[str, object] | None:
        """Return the document with this id, in the form of a file, and its `kind`; None if there is none.

        Raises `InputError` for one that was stored before what is stored was checked, and that no reader would take.
        """
        document = self._document(key)
        if document is None:
            return None
        comparisons, floors = self._comparisons(key), self._floors(key)
        if comparisons or floors or "judgements" in document:
            del document["records"]
        return {
            **document,
            **({"comparisons": comparisons} if comparisons else {}),
            **({"floors": floors} if floors else {}),
        }

    def _document(self, key: str) -> dict[str, object] | None:
        tables = schema.records.join(schema.series).join(schema.cases).outerjoin(schema.environments)
        with reading(self.engine, self.address) as connection:
            run = connection.execute(
                select(schema.runs.c.id, schema.runs.c.kind, schema.runs.c.document).where(schema.runs.c.key == key)
            ).one_or_none()
            if run is None:
                return None
            rows = connection.execute(
                select(
                    *(schema.records.c[name] for name in ("document", "time", "low", "high")),
                    schema.environments.c.version,
                    schema.cases.c.operator,
                    schema.samples.c.document.label("samples"),
                    schema.series.c.side,
                    schema.series.c.direction,
                    schema.cases.c.document.label("case"),
                )
                .select_from(tables.outerjoin(schema.samples))
                .where(schema.records.c.run_id == run.id)
                .order_by(schema.records.c.id)
            ).all()
        where = f"run {key}"
        head = unpack(run.document, where)
        Run.from_header(head.get("run"), where)  # what was stored before it was checked is nothing to hand on
        records = []
        for row in rows:
            document = expand(unpack(row.document, where), row, head, where)
            side = {**row.side, "environment": document.pop("environment", "")}
            columns = {} if row.samples is None else unpack(row.samples, where)
            records.append({**document, "case": row.case, "side": side, "direction": row.direction, "samples": columns})
        return {**head, "kind": run.kind, "records": records}

    def _comparisons(self, key: str) -> list[dict[str, object]]:
        table, base, new = schema.comparisons, schema.series.alias("base"), schema.series.alias("new")
        query = (
            select(
                table.c.document, base.c.side.label("base"), new.c.side.label("new"), new.c.direction,
                schema.cases.c.document.label("case"),
            )
            .join(schema.runs, schema.runs.c.id == table.c.run_id)
            .join(base, base.c.id == table.c.base_series_id)
            .join(new, new.c.id == table.c.new_series_id)
            .join(schema.cases, schema.cases.c.id == new.c.case_id)
            .where(schema.runs.c.key == key)
            .order_by(table.c.id)
        )  # fmt: skip
        with reading(self.engine, self.address) as connection:
            rows = connection.execute(query).all()
        return [comparison_document(row, f"run {key}") for row in rows]

    def _floors(self, key: str) -> list[dict[str, object]]:
        table = schema.floors
        query = select(table.c.document).join(schema.runs).where(schema.runs.c.key == key).order_by(table.c.id)
        with reading(self.engine, self.address) as connection:
            return [unpack(document, f"run {key}") for document in connection.scalars(query)]


def comparison_document(row: Any, where: str) -> dict[str, object]:
    """Return the document of a comparison as files have it, of a row with the sides and the case of its series."""
    document = unpack(row.document, where)
    sides = {place: {**getattr(row, place), **document[place]} for place in ("base", "new")}
    return {**document, **sides, "case": row.case, "direction": row.direction}


def header(run: Run) -> dict[str, object]:
    """Return everything of a run but its records, without a password that its command may have."""
    return {**run.header(), "command": [hide_passwords(word) for word in run.command]}


def _has_samples(connection: Connection, run: int) -> bool:
    inside = select(schema.samples.c.id).join(schema.records).where(schema.records.c.run_id == run).limit(1)
    return connection.execute(inside).first() is not None
