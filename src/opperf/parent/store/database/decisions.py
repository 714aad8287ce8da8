"""Decisions on changes: added to the database, and read from it, the earliest first."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import insert, select

from opperf.domain.moment import shown_moment
from opperf.domain.stats.significance import Estimate
from opperf.parent.documents.triage import Decision, Step
from opperf.parent.store.database import schema
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import reading, writing

#: What a row has of the step and of the decision itself.
STEP = ("series", "operator", "framework", "before", "after")
WORDS = ("state", "note", "owner", "link", "author", "change")


def add_decisions(archive: Archive, decisions: Sequence[Decision]) -> None:
    """Add decisions, all of them or none."""
    rows = [
        {
            **{name: getattr(decision.step, name) for name in STEP},
            **{name: getattr(decision, name) for name in WORDS},
            "log_ratio": decision.step.size.log_ratio,
            "error": decision.step.size.error,
            "moment": int(decision.moment.timestamp()),
        }
        for decision in decisions
    ]
    with writing(archive.engine.execution_options(writes=True), archive.address) as connection:
        connection.execute(insert(schema.decisions), rows)


def add_missing(archive: Archive, additions: Sequence[Decision]) -> int:
    """Add those decisions that are not there, as an import does; return how many that were."""
    there = set(decisions(archive))
    missing = [decision for decision in dict.fromkeys(additions) if decision not in there]
    if missing:
        add_decisions(archive, missing)
    return len(missing)


def decisions(archive: Archive) -> list[Decision]:
    """Return every decision, the earliest first."""
    table = schema.decisions
    with reading(archive.engine, archive.address) as connection:
        rows = connection.execute(select(table).order_by(table.c.moment, table.c.id)).mappings().all()
    return [
        Decision(
            Step(**{name: row[name] for name in STEP}, size=Estimate(row["log_ratio"], row["error"])),
            **{name: row[name] for name in WORDS},
            moment=shown_moment(row["moment"]),
        )
        for row in rows
    ]
