"""Runs going into the database, and coming out of it again as they were.

What many runs share (machines, environments, cases, series) has one row, told by what is in it; a run goes in within
one transaction. A run that is there already is not added again; one that went on since, as a resumed run does, takes
the place of what was there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Literal

from sqlalchemy import Connection, Table, delete, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from opperf.domain.comparison import Comparison, ComparisonRun
from opperf.domain.plan import Side
from opperf.domain.record import SCHEMA_VERSION, Record, Run, Statistics
from opperf.domain.stats.estimate import Estimate
from opperf.parent.store.database import schema
from opperf.parent.store.database.connection import Address, connect, hide_passwords, reading, writing
from opperf.parent.store.database.documents import fingerprint, pack, unpack

#: What tells one machine from another: its hardware, never what a clock or a load said.
HARDWARE = ("architecture", "cpu", "cores_physical", "cores_logical", "caches")
#: What tells one build of a framework from another.
BUILD = ("framework", "version", "build", "commit", "blas_configuration")


@dataclass(frozen=True)
class Addition:
    """What became of a run: `added`, `there` already, or `replaced` by what it went on to hold."""

    key: str
    outcome: Literal["added", "there", "replaced"]
    rows: int


class Archive(AbstractContextManager["Archive"]):
    """A database of runs. Raises `InputError` for one that cannot be meant, `HarnessError` for one out of reach."""

    def __init__(self, address: Address, *, create: bool = True) -> None:
        self.address = address
        self.engine = connect(address, create=create)
        self._writer = self.engine.execution_options(writes=True)

    def __exit__(self, *_: object) -> None:
        self.engine.dispose()

    def add(self, document: Run | ComparisonRun, *, samples: bool = False) -> Addition:
        """Add a run, or comparisons with theirs; samples, which take the most room, when they are asked for.

        None that are there are lost.
        """
        run, compared = (document.run, document.comparisons) if isinstance(document, ComparisonRun) else (document, ())
        head = {"schema_version": SCHEMA_VERSION, "run": header(run)}
        records = [record.to_json() for record in run.records]
        comparisons = [one.to_json() for one in compared]
        count = len(records) + len(comparisons)
        content = fingerprint(head, [{**one, "samples": None} for one in records], comparisons)
        with writing(self._writer, self.address) as connection:
            old = connection.execute(
                select(schema.runs.c.id, schema.runs.c.content).where(schema.runs.c.key == run.id)
            ).one_or_none()
            if old is not None:
                whole = not samples or _has_samples(connection, old.id)
                if whole and old.content == content:
                    return Addition(run.id, "there", count)
                connection.execute(delete(schema.runs).where(schema.runs.c.id == old.id))
            rows = _Rows(connection)
            machine = rows.machine(run.environment.get("machine") or {})
            at = seconds(run.started)
            run_id = rows.insert(
                schema.runs,
                {
                    "key": run.id,
                    "kind": "comparison" if compared else "run",
                    "started": at,
                    "machine_id": machine,
                    "content": content,
                    "document": pack(head),
                },
            )
            rows.labels(run_id, run.labels)
            frameworks = run.environment.get("frameworks") or ()
            rows.records(run_id, machine, at, zip(run.records, records, strict=True), frameworks, samples=samples)
            rows.comparisons(run_id, machine, at, zip(compared, comparisons, strict=True))
        return Addition(run.id, "added" if old is None else "replaced", count)

    def remove(self, keys: Sequence[str]) -> list[str]:
        """Remove runs with all that belongs to them; return the ids of those that were there."""
        with writing(self._writer, self.address) as connection:
            there = list(connection.scalars(select(schema.runs.c.key).where(schema.runs.c.key.in_(keys))))
            connection.execute(delete(schema.runs).where(schema.runs.c.key.in_(there)))
        return there

    def run(self, key: str) -> Run | None:
        """Return a run as it was added, None where there is none; samples are empty where they were left out."""
        tables = schema.records.join(schema.series).join(schema.cases)
        with reading(self.engine, self.address) as connection:
            packed = connection.execute(
                select(schema.runs.c.id, schema.runs.c.document).where(schema.runs.c.key == key)
            ).one_or_none()
            if packed is None:
                return None
            rows = connection.execute(
                select(
                    schema.records.c.document,
                    schema.samples.c.document.label("samples"),
                    schema.series.c.side,
                    schema.series.c.direction,
                    schema.cases.c.document.label("case"),
                )
                .select_from(tables.outerjoin(schema.samples))
                .where(schema.records.c.run_id == packed.id)
                .order_by(schema.records.c.id)
            ).all()
        records = []
        for row in rows:
            document = unpack(row.document)
            side = {**row.side, "environment": document.pop("environment")}
            samples = {} if row.samples is None else unpack(row.samples)
            records.append({**document, "case": row.case, "side": side, "direction": row.direction, "samples": samples})
        return Run.from_json({**unpack(packed.document), "records": records}, f"run {key}")


def header(run: Run) -> dict[str, Any]:
    """Return everything of a run but its records, without a password that its command may have."""
    return {**run.header(), "command": [hide_passwords(word) for word in run.command]}


def seconds(started: str) -> int:
    """Return when a run began, in seconds since 1970.

    >>> seconds("2026-11-23T10:00:00+00:00")
    1795428000
    """
    moment = datetime.fromisoformat(started)
    return int((moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp())


class _Rows:
    """Rows of one transaction; what is there already is looked up once."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._ids: dict[tuple[str, str], int] = {}

    def insert(self, table: Table, values: Mapping[str, Any]) -> int:
        """Insert a row; return its id."""
        return int(self._connection.execute(insert(table).returning(table.c.id), values).scalar_one())

    def share(self, table: Table, distinction: Sequence[object], values: Mapping[str, Any]) -> int:
        """Return the id of the row with this distinction, which is made where it is missing."""
        print_ = fingerprint(*distinction)
        if (table.name, print_) not in self._ids:
            dialect = postgresql if self._connection.dialect.name == "postgresql" else sqlite
            self._connection.execute(
                dialect.insert(table).on_conflict_do_nothing(index_elements=["fingerprint"]),
                {**values, "fingerprint": print_},
            )
            ids = select(table.c.id).where(table.c.fingerprint == print_)
            self._ids[table.name, print_] = self._connection.execute(ids).scalar_one()
        return self._ids[table.name, print_]

    def machine(self, facts: Mapping[str, Any]) -> int:
        """Return the machine with this hardware."""
        memory = facts.get("memory_total")
        gpus = [gpu.get("name") if isinstance(gpu, Mapping) else gpu for gpu in facts.get("gpus") or ()]
        hardware = [facts.get(name) for name in HARDWARE]
        # What the system keeps for itself differs from kernel to kernel.
        distinction = [*hardware, None if memory is None else round(memory / 2**30), gpus]
        name = f"{facts.get('cpu') or facts.get('architecture') or 'unknown'}, {facts.get('cores_logical')} cores"
        return self.share(schema.machines, distinction, {"name": ", ".join([name, *map(str, gpus)]), "facts": facts})

    def environment(self, facts: Mapping[str, Any]) -> int:
        """Return the build of a framework that facts are of."""
        distinction = [facts.get(name) for name in BUILD]
        values = {"framework": facts["framework"], "version": facts.get("version") or "", "build": facts.get("build")}
        return self.share(schema.environments, distinction, {**values, "facts": facts})

    def series(self, case: Mapping[str, Any], side: Side, direction: str, machine: int) -> int:
        """Return the series of a case on a side in a direction on a machine."""
        values = {"operator": case["operator"], "document": case}
        case_id = self.share(schema.cases, [case["id"]], values)
        own = {name: value for name, value in side.to_json().items() if name != "environment"}
        return self.share(
            schema.series,
            [case_id, own, direction, machine],
            {
                "case_id": case_id,
                "machine_id": machine,
                "framework": side.framework,
                "direction": direction,
                "side": own,
            },
        )

    def labels(self, run: int, labels: Mapping[str, str]) -> None:
        """Insert the labels of a run."""
        if labels:
            rows = [{"run_id": run, "name": name, "value": value} for name, value in labels.items()]
            self._connection.execute(insert(schema.labels), rows)

    def records(
        self,
        run: int,
        machine: int,
        at: int,
        records: Iterable[tuple[Record, dict[str, Any]]],
        frameworks: Sequence[Mapping[str, Any]],
        *,
        samples: bool,
    ) -> None:
        """Insert the records of a run, each with its document."""
        builds = {(facts.get("framework"), facts.get("environment")): facts for facts in frameworks}
        rows, columns = [], []
        for record, document in records:
            trial, time = record.trial, record.time
            side = document.pop("side")
            case, direction = document.pop("case"), document.pop("direction")
            columns.append(document.pop("samples"))
            facts = builds.get((side["framework"], side["environment"]))
            if facts is None and record.facts.get("version"):
                facts = {"framework": side["framework"], "version": record.facts["version"]}
            rows.append(
                {
                    "run_id": run,
                    "series_id": self.series(case, trial.side, direction, machine),
                    "environment_id": None if facts is None else self.environment(facts),
                    "started": at,
                    "status": record.status,
                    "time": None if time is None else time.median,
                    **_bounds(time),
                    "document": pack({**document, "environment": side["environment"]}),
                }
            )
        if not rows:
            return
        ids = self._connection.scalars(
            insert(schema.records).returning(schema.records.c.id, sort_by_parameter_order=True), rows
        ).all()
        if samples:
            packed = [{"record_id": i, "document": pack(own)} for i, own in zip(ids, columns, strict=True) if own]
            if packed:
                self._connection.execute(insert(schema.samples), packed)

    def comparisons(
        self, run: int, machine: int, at: int, comparisons: Iterable[tuple[Comparison, dict[str, Any]]]
    ) -> None:
        """Insert the comparisons of a run, each with its document."""
        rows = []
        for one, document in comparisons:
            case, direction = document.pop("case"), document.pop("direction")
            places: dict[str, int | None] = {}
            for place, side, version in (("base", one.base, one.base_version), ("new", one.new, one.new_version)):
                places[f"{place}_series_id"] = self.series(case, side, direction, machine)
                facts = {"framework": side.framework, "version": version}
                places[f"{place}_environment_id"] = None if version is None else self.environment(facts)
                document[place] = {"environment": side.environment}
            rows.append(
                {
                    "run_id": run,
                    "started": at,
                    "verdict": one.verdict.verdict,
                    "pairs": one.verdict.pairs,
                    **places,
                    **_estimate(one),
                    "document": pack(document),
                }
            )
        if rows:
            self._connection.execute(insert(schema.comparisons), rows)


def _estimate(comparison: Comparison) -> dict[str, float | None]:
    """Return the ratio, its interval, and the standard error of its logarithm."""
    verdict = comparison.verdict
    if verdict.ratio is None or verdict.interval is None:
        return {"ratio": verdict.ratio, "low": None, "high": None, "error": None}
    error = Estimate.of(verdict.ratio, verdict.interval, verdict.confidence).error
    return {"ratio": verdict.ratio, "low": verdict.interval[0], "high": verdict.interval[1], "error": error}


def _has_samples(connection: Connection, run: int) -> bool:
    inside = select(schema.samples.c.id).join(schema.records).where(schema.records.c.run_id == run).limit(1)
    return connection.execute(inside).first() is not None


def _bounds(time: Statistics | None) -> dict[str, float | None]:
    low, high = (None, None) if time is None or time.interval is None else time.interval
    return {"low": low, "high": high}
