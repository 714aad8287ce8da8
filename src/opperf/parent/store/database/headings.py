"""The headings of runs: their suites, machines and builds, without their records."""

from __future__ import annotations

from sqlalchemy import select

from opperf.domain.dataclass import dataclass
from opperf.domain.record import Run
from opperf.parent.store.database import schema
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import reading
from opperf.parent.store.database.documents import unpack


@dataclass(frozen=True)
class Heading:
    """A run in the database without its records."""

    kind: str
    run: Run


def headings(archive: Archive, most: int = 300) -> list[Heading]:
    """Return the latest runs, latest first."""
    runs = schema.runs.c
    query = select(runs.key, runs.kind, runs.document).order_by(runs.started.desc(), runs.id.desc()).limit(most)
    with reading(archive.engine, archive.address) as connection:
        rows = connection.execute(query).all()
    return [Heading(row.kind, Run.from_header(unpack(row.document)["run"], row.key)) for row in rows]
