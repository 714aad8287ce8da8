"""Indexes that hold what a history shows, tallies that spare counting, noise floors, and machines told by less.

Times of comparisons, memory and compile times leave their documents for columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from alembic import op
from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    text,
)

from opperf.parent.store.database.documents import fingerprint, unpack

revision = "2"
down_revision = "1"

KEY = BigInteger().with_variant(Integer, "sqlite")
#: The number of rows to read at a time.
BATCH = 10_000


def upgrade() -> None:
    """Create them, and fill them from existing rows."""
    op.add_column("records", Column("memory", Float))
    op.add_column("records", Column("compile_time", Float))
    op.add_column("comparisons", Column("base_time", Float))
    op.add_column("comparisons", Column("new_time", Float))
    connection = op.get_bind()
    _fill(connection, "records", _metrics)
    _fill(connection, "comparisons", _times)
    op.drop_index("records_of_series", "records")
    op.drop_index("comparisons_of_series", "comparisons")
    op.create_index(
        "records_by_series",
        "records",
        ["series_id", "started", "environment_id", "run_id", "status", "time", "low", "high", "memory", "compile_time"],
    )
    op.create_index(
        "comparisons_by_series",
        "comparisons",
        [
            *("new_series_id", "started", "base_series_id", "base_environment_id", "new_environment_id", "run_id"),
            *("verdict", "ratio", "low", "high", "error", "base_time", "new_time"),
        ],
    )
    op.create_index("comparisons_by_builds", "comparisons", ["new_environment_id", "base_environment_id", "started"])
    _tables().create_all(connection)
    connection.execute(
        text(
            "INSERT INTO tallies (run_id, environment_id, outcome, count) "
            "SELECT run_id, environment_id, status, count(*) FROM records GROUP BY run_id, environment_id, status"
        )
    )
    connection.execute(
        text(
            "INSERT INTO tallies (run_id, environment_id, base_environment_id, outcome, count) "
            "SELECT run_id, new_environment_id, base_environment_id, verdict, count(*) FROM comparisons "
            "GROUP BY run_id, new_environment_id, base_environment_id, verdict"
        )
    )
    _name_machines(connection)


def _fill(connection: Connection, table: str, columns: Callable[[Mapping[str, Any]], dict[str, float | None]]) -> None:
    last = 0
    while rows := connection.execute(
        text(f"SELECT id, document FROM {table} WHERE id > :last ORDER BY id LIMIT :most"),
        {"last": last, "most": BATCH},
    ).all():
        last = rows[-1].id
        values = [{"row": row.id, **columns(unpack(row.document, f"record {row.id}"))} for row in rows]
        assignments = ", ".join(f"{name} = :{name}" for name in values[0] if name != "row")
        connection.execute(text(f"UPDATE {table} SET {assignments} WHERE id = :row"), values)


def _metrics(document: Mapping[str, Any]) -> dict[str, float | None]:
    metrics = document.get("metrics") or {}
    return {
        name: (metrics.get(metric) or {}).get("value")
        for name, metric in (("memory", "memory_peak"), ("compile_time", "compile_time"))
    }


def _times(document: Mapping[str, Any]) -> dict[str, float | None]:
    return {name: document.get(name) for name in ("base_time", "new_time")}


def _tables() -> MetaData:
    metadata = MetaData()
    for name in ("runs", "environments", "series"):
        Table(name, metadata, Column("id", KEY, primary_key=True))

    def to(name: str, target: str, *, part: bool = False, empty: bool = False) -> Column[int]:
        return Column(name, KEY, ForeignKey(f"{target}.id", ondelete="CASCADE" if part else None), nullable=empty)

    Table(
        "tallies",
        metadata,
        Column("id", KEY, primary_key=True),
        to("run_id", "runs", part=True),
        to("environment_id", "environments", empty=True),
        to("base_environment_id", "environments", empty=True),
        Column("outcome", String(16), nullable=False),
        Column("count", Integer, nullable=False),
        Index("tallies_of_run", "run_id"),
        Index("tallies_by_build", "environment_id", "base_environment_id"),
    )
    Table(
        "floors",
        metadata,
        Column("id", KEY, primary_key=True),
        to("run_id", "runs", part=True),
        to("series_id", "series"),
        Column("spread", Float, nullable=False),
        Column("moved", Float, nullable=False),
        Column("between", Float, nullable=False),
        Column("document", LargeBinary, nullable=False),
        Index("floors_of_run", "run_id"),
        Index("floors_by_series", "series_id"),
    )
    return metadata


def _name_machines(connection: Connection) -> None:
    """Tell machines by the step of their memory, not by its gigabytes; of two that are one now, the first stays it."""
    machines = Table("machines", MetaData(), autoload_with=connection)
    names = set()
    for row in connection.execute(machines.select().order_by(machines.c.id)).all():
        facts = row.facts or {}
        size = facts.get("memory_total")
        step = None if size is None else math.ceil(4 * math.log2(size / 2**30)) if size > 0 else 0
        gpus = [gpu.get("name") if isinstance(gpu, Mapping) else gpu for gpu in facts.get("gpus") or ()]
        hardware = ("architecture", "cpu", "cores_physical", "cores_logical", "caches")
        name = fingerprint(*(facts.get(one) for one in hardware), step, gpus)
        if name not in names:
            names.add(name)
            connection.execute(machines.update().where(machines.c.id == row.id).values(fingerprint=name))
