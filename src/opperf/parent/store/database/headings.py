"""The headings of runs: their suites, machines and builds, without their records."""

from __future__ import annotations

from sqlalchemy import select

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
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


@dataclass(frozen=True)
class Unreadable:
    """A run in the database that cannot be read, since it was stored before what is stored was checked."""

    key: str
    reason: str

    def __str__(self) -> str:
        return f"left out run {self.key}: {self.reason}; `opperf history remove {self.key}` removes it"


def headings(archive: Archive, most: int = 300) -> tuple[list[Heading], list[Unreadable]]:
    """Return the latest runs, latest first; and those of them that cannot be read."""
    runs = schema.runs.c
    query = select(runs.key, runs.kind, runs.document).order_by(runs.started.desc(), runs.id.desc()).limit(most)
    with reading(archive.engine, archive.address) as connection:
        rows = connection.execute(query).all()
    result, unreadable = [], []
    for row in rows:
        try:
            run = Run.from_header(unpack(row.document, "run").get("run"), "run")
        except InputError as error:
            unreadable.append(Unreadable(row.key, error.message))
        else:
            result.append(Heading(row.kind, run))
    return result, unreadable
