"""The headings of runs, without their records; and what all calls of a suite took in one."""

from __future__ import annotations

from functools import lru_cache

from sqlalchemy import select

from opperf.domain.codec import read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.record import Run
from opperf.parent.store.database import schema
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import reading
from opperf.parent.store.database.documents import unpack

#: The latest runs whose headings are read, and the headings that are kept: what is in one does not change.
LATEST, MOST = 300, 1000


@dataclass(frozen=True)
class Heading:
    """A run in the database without its records; `content` is the hash of all that is in it but samples."""

    kind: str
    run: Run
    content: str = ""


@dataclass(frozen=True)
class Unreadable:
    """A run in the database that cannot be read, since it was stored before what is stored was checked."""

    key: str
    reason: str

    def __str__(self) -> str:
        return f"left out run {self.key}: {self.reason}; `opperf history remove {self.key}` removes it"


def headings(archive: Archive) -> tuple[list[Heading], list[Unreadable]]:
    """Return the latest runs, latest first; and those of them that cannot be read."""
    runs = schema.runs.c
    columns = select(runs.key, runs.kind, runs.content, runs.document)
    query = columns.order_by(runs.started.desc(), runs.id.desc()).limit(LATEST)
    with reading(archive.engine, archive.address) as connection:
        every = [_heading(*row) for row in connection.execute(query)]
    unreadable = [entry for entry in every if isinstance(entry, Unreadable)]
    return [entry for entry in every if isinstance(entry, Heading)], unreadable


@lru_cache(MOST)
def _heading(key: str, kind: str, content: str, document: bytes) -> Heading | Unreadable:
    try:
        return Heading(kind, Run.from_header(unpack(document, "run").get("run"), "run"), content)
    except InputError as error:
        return Unreadable(key, error.message)


def costs(archive: Archive, key: str) -> dict[str, dict[str, float]]:
    """Return the time of all calls of each operator on each framework in a run, in seconds.

    A time is in a column; only how often a case is called is in its record's document.
    """
    records, runs, cases = schema.records.c, schema.runs.c, schema.cases.c
    query = (
        select(schema.series.c.framework, cases.operator, records.time, records.document)
        .select_from(schema.records.join(schema.runs).join(schema.series).join(schema.cases))
        .where(runs.key == key, records.time.is_not(None))
        .order_by(records.id)
    )
    result: dict[str, dict[str, float]] = {}
    with reading(archive.engine, archive.address) as connection:
        for framework, operator, time, document in connection.execute(query):
            count = read_as(int, unpack(document, f"run {key}").get("count", 1), f"run {key}: count")
            parts = result.setdefault(framework, {})
            parts[operator] = parts.get(operator, 0.0) + count * time
    return result
