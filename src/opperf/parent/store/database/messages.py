"""The queue of messages: each change is told to each place once, whoever asks for it and however often.

Whoever sends a message claims it first. One that was claimed and is neither sent nor given back met a crash: it may
have arrived, so it is not sent again, unless arriving twice is nothing to it. So it is with runs, which other servers
get by the same queue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from hashlib import sha256

from sqlalchemy import insert, select, update

from opperf.domain.dataclass import dataclass
from opperf.domain.files.json_text import JsonObject
from opperf.parent.store.database import schema
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import reading, writing

WAITING, SENDING, SENT, REFUSED = "waiting", "sending", "sent", "refused"


@dataclass(frozen=True)
class QueuedMessage:
    """A message in the queue: which change it is about, its content, and how often it was tried."""

    id: int
    change: str
    content: JsonObject
    attempts: int


def queue(archive: Archive, channel: str, target: str, contents: Mapping[str, JsonObject]) -> None:
    """Add messages by the names of their changes, but for those that were added before."""
    table, now = schema.messages, int(datetime.now(timezone.utc).timestamp())
    head = {"target": target, "channel": channel, "state": WAITING, "attempts": 0, "queued": now, "trouble": ""}
    with writing(archive.engine.execution_options(writes=True), archive.address) as connection:
        there = set(connection.scalars(select(table.c.change).where(table.c.target == target)))
        rows = [{**head, "change": change, "content": content} for change, content in contents.items()]
        additions = [row for row in rows if row["change"] not in there]
        if additions:
            connection.execute(insert(table), additions)


def queue_runs(archive: Archive, channel: str, target: str) -> None:
    """Add a message for every run that was not queued for a place before, the earliest first."""
    table = schema.runs
    with reading(archive.engine, archive.address) as connection:
        keys = connection.scalars(select(table.c.key).order_by(table.c.started, table.c.id)).all()
    # As many characters of a hash as the column has.
    queue(archive, channel, target, {sha256(key.encode()).hexdigest()[:16]: {"run": key} for key in keys})


def claim(archive: Archive, target: str, states: Sequence[str] = (WAITING,)) -> list[QueuedMessage]:
    """Return the messages that wait for a place, which nobody else gets from now on, the earliest first.

    Those of another of `states` are claimed as well: of `SENDING`, those of a crash.
    """
    table = schema.messages
    with writing(archive.engine.execution_options(writes=True), archive.address) as connection:
        query = select(table).where(table.c.target == target, table.c.state.in_(states)).order_by(table.c.id)
        rows = connection.execute(query).all()
        for row in rows:
            claimed = {"state": SENDING, "attempts": row.attempts + 1}
            connection.execute(update(table).where(table.c.id == row.id).values(claimed))
    return [QueuedMessage(row.id, row.change, row.content, row.attempts + 1) for row in rows]


def settle(archive: Archive, ids: Sequence[int], state: str, trouble: str = "") -> None:
    """Say that claimed messages were sent, or wait again and why."""
    table = schema.messages
    with writing(archive.engine.execution_options(writes=True), archive.address) as connection:
        connection.execute(update(table).where(table.c.id.in_(ids)).values(state=state, trouble=trouble))


def sent_contents(archive: Archive, target: str, most: int) -> list[JsonObject]:
    """Return the contents of the latest messages that went to a place, the earliest first."""
    table = schema.messages
    query = select(table.c.content).where(table.c.target == target, table.c.state == SENT).order_by(table.c.id.desc())
    with reading(archive.engine, archive.address) as connection:
        return list(connection.scalars(query.limit(most)))[::-1]
