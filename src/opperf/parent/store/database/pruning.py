"""Making a database smaller: old runs are removed, or only their samples."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, delete, func, select

from opperf.domain.dataclass import dataclass
from opperf.domain.moment import shown_moment
from opperf.parent.store.database import schema
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import writing


@dataclass(frozen=True)
class Removal:
    """What pruning removes from a run: its number of records, comparisons and floors, or of records with samples."""

    key: str
    kind: str
    started: datetime
    rows: int


def prune(
    archive: Archive, *, before: datetime | None = None, keep: int = 0, samples: bool = False, dry: bool = False
) -> list[Removal]:
    """Remove runs that began before a moment, or their samples alone; the latest `keep` runs stay as they are.

    Return what is removed, oldest first; a `dry` one removes nothing.
    """
    runs = schema.runs.c
    latest = select(runs.id).order_by(runs.started.desc(), runs.id.desc()).limit(keep)
    query = select(runs.id, runs.key, runs.kind, runs.started).order_by(runs.started, runs.id)
    query = query.where(runs.id.not_in(latest)) if keep else query
    query = query if before is None else query.where(runs.started < before.timestamp())
    with writing(archive.engine.execution_options(writes=True), archive.address) as connection:
        removals = []
        for row in connection.execute(query).all():
            rows = _samples(connection, row.id) if samples else _rows(connection, row.id)
            if samples and not rows:
                continue
            removals.append(Removal(row.key, row.kind, shown_moment(row.started), rows))
            if not dry:
                _remove(connection, row.id, samples=samples)
    if removals and not dry:
        archive.shrink()
    return removals


def _rows(connection: Connection, run: int) -> int:
    count = select(func.coalesce(func.sum(schema.tallies.c.count), 0)).where(schema.tallies.c.run_id == run)
    return int(connection.execute(count).scalar_one())


def _samples(connection: Connection, run: int) -> int:
    tables = schema.samples.join(schema.records)
    count = select(func.count()).select_from(tables).where(schema.records.c.run_id == run)
    return int(connection.execute(count).scalar_one())


def _remove(connection: Connection, run: int, *, samples: bool) -> None:
    if samples:
        own = select(schema.records.c.id).where(schema.records.c.run_id == run)
        connection.execute(delete(schema.samples).where(schema.samples.c.record_id.in_(own)))
    else:
        connection.execute(delete(schema.runs).where(schema.runs.c.id == run))
