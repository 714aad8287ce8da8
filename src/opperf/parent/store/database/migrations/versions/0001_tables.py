"""The tables of the first version, as they were then."""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

revision = "1"
down_revision = None

metadata = MetaData()
KEY = BigInteger().with_variant(Integer, "sqlite")


def _key() -> Column[int]:
    return Column("id", KEY, primary_key=True)


def _reference(name: str, target: Table, *, part: bool = False, empty: bool = False) -> Column[int]:
    reference = ForeignKey(target.c.id, ondelete="CASCADE" if part else None)
    return Column(name, KEY, reference, nullable=empty)


def _distinct() -> Column[str]:
    return Column("fingerprint", String(32), nullable=False, unique=True)


machines = Table("machines", metadata, _key(), _distinct(), Column("name", Text), Column("facts", JSON))

environments = Table(
    "environments",
    metadata,
    _key(),
    _distinct(),
    Column("framework", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("build", Text),
    Column("facts", JSON),
)

cases = Table(
    "cases",
    metadata,
    _key(),
    _distinct(),
    Column("operator", Text, nullable=False, index=True),
    Column("document", JSON),
)

series = Table(
    "series",
    metadata,
    _key(),
    _distinct(),
    _reference("case_id", cases),
    _reference("machine_id", machines),
    Column("framework", Text, nullable=False),
    Column("direction", Text, nullable=False),
    Column("side", JSON),
    Index("series_of_case", "case_id", "framework"),
)

runs = Table(
    "runs",
    metadata,
    _key(),
    Column("key", String(64), nullable=False, unique=True),
    Column("kind", String(16), nullable=False),
    Column("started", BigInteger, nullable=False, index=True),
    _reference("machine_id", machines),
    Column("content", String(32), nullable=False),
    Column("document", LargeBinary, nullable=False),
)

labels = Table(
    "labels",
    metadata,
    _key(),
    _reference("run_id", runs, part=True),
    Column("name", Text, nullable=False),
    Column("value", Text, nullable=False),
    Index("labels_of_run", "run_id"),
    Index("labels_by_name", "name", "value"),
)

records = Table(
    "records",
    metadata,
    _key(),
    _reference("run_id", runs, part=True),
    _reference("series_id", series),
    _reference("environment_id", environments, empty=True),
    Column("started", BigInteger, nullable=False),
    Column("status", String(8), nullable=False),
    Column("time", Float),
    Column("low", Float),
    Column("high", Float),
    Column("document", LargeBinary, nullable=False),
    Index("records_of_run", "run_id"),
    Index("records_of_series", "series_id", "started"),
)

comparisons = Table(
    "comparisons",
    metadata,
    _key(),
    _reference("run_id", runs, part=True),
    _reference("base_series_id", series),
    _reference("new_series_id", series),
    _reference("base_environment_id", environments, empty=True),
    _reference("new_environment_id", environments, empty=True),
    Column("started", BigInteger, nullable=False),
    Column("verdict", String(16), nullable=False),
    Column("ratio", Float),
    Column("low", Float),
    Column("high", Float),
    Column("error", Float),
    Column("pairs", Integer, nullable=False),
    Column("document", LargeBinary, nullable=False),
    Index("comparisons_of_run", "run_id"),
    Index("comparisons_of_series", "new_series_id", "started"),
)

samples = Table(
    "samples",
    metadata,
    _key(),
    _reference("record_id", records, part=True),
    Column("document", LargeBinary, nullable=False),
    Index("samples_of_record", "record_id"),
)


def upgrade() -> None:
    """Make them."""
    metadata.create_all(op.get_bind())


def downgrade() -> None:
    """Take them away."""
    metadata.drop_all(op.get_bind())
