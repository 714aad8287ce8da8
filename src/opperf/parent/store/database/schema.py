"""The tables of the database: what is asked for stands in columns, everything else in a compressed document.

A series is a case in a direction on a side, on a machine; the framework's version and build are each record's own, so
that a series goes on from one build to the next. Migrations make these tables; a test holds the two together.
"""

from __future__ import annotations

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

metadata = MetaData()
#: SQLite numbers rows by itself only where the key is an INTEGER.
KEY = BigInteger().with_variant(Integer, "sqlite")


def _key() -> Column[int]:
    return Column("id", KEY, primary_key=True)


def _to(name: str, target: Table, *, part: bool = False, empty: bool = False) -> Column[int]:
    """Return a column that points to a row of another table; a `part` goes when that row goes."""
    reference = ForeignKey(target.c.id, ondelete="CASCADE" if part else None)
    return Column(name, KEY, reference, nullable=empty)


def _distinct() -> Column[str]:
    """Return the column by which a row is known to be there already: a hash of what makes it what it is."""
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
    _to("case_id", cases),
    _to("machine_id", machines),
    Column("framework", Text, nullable=False),
    Column("direction", Text, nullable=False),
    Column("side", JSON),
    Index("series_of_case", "case_id", "framework"),
)

#: `kind` is `run`, `comparison`, `noise`, `nightly` or `imported`; `key` is the run's own id. Seconds count from
#: 1970, in UTC.
runs = Table(
    "runs",
    metadata,
    _key(),
    Column("key", String(64), nullable=False, unique=True),
    Column("kind", String(16), nullable=False),
    Column("started", BigInteger, nullable=False, index=True),
    _to("machine_id", machines),
    Column("content", String(32), nullable=False),
    Column("document", LargeBinary, nullable=False),
)

labels = Table(
    "labels",
    metadata,
    _key(),
    _to("run_id", runs, part=True),
    Column("name", Text, nullable=False),
    Column("value", Text, nullable=False),
    Index("labels_of_run", "run_id"),
    Index("labels_by_name", "name", "value"),
)

records = Table(
    "records",
    metadata,
    _key(),
    _to("run_id", runs, part=True),
    _to("series_id", series),
    _to("environment_id", environments, empty=True),
    Column("started", BigInteger, nullable=False),
    Column("status", String(8), nullable=False),
    Column("time", Float),
    Column("low", Float),
    Column("high", Float),
    Column("document", LargeBinary, nullable=False),
    Column("memory", Float),
    Column("compile_time", Float),
    Index("records_of_run", "run_id"),
    # It holds all that a history shows, so that one is read without the rows themselves, which lie a night apart.
    Index(
        "records_by_series",
        *("series_id", "started", "environment_id", "run_id", "status"),
        *("time", "low", "high", "memory", "compile_time"),
    ),
)

#: `error` is the standard error of the ratio's logarithm.
comparisons = Table(
    "comparisons",
    metadata,
    _key(),
    _to("run_id", runs, part=True),
    _to("base_series_id", series),
    _to("new_series_id", series),
    _to("base_environment_id", environments, empty=True),
    _to("new_environment_id", environments, empty=True),
    Column("started", BigInteger, nullable=False),
    Column("verdict", String(16), nullable=False),
    Column("ratio", Float),
    Column("low", Float),
    Column("high", Float),
    Column("error", Float),
    Column("pairs", Integer, nullable=False),
    Column("document", LargeBinary, nullable=False),
    Column("base_time", Float),
    Column("new_time", Float),
    Index("comparisons_of_run", "run_id"),
    Index(
        "comparisons_by_series",
        *("new_series_id", "started", "base_series_id", "base_environment_id", "new_environment_id", "run_id"),
        *("verdict", "ratio", "low", "high", "error", "base_time", "new_time"),
    ),
    Index("comparisons_by_builds", "new_environment_id", "base_environment_id", "started"),
)

#: How many records or comparisons of a run came out how, so that lists of runs and builds count no rows.
#: `outcome` is the status of records, the verdict of comparisons, which alone have a base, or `floor`.
tallies = Table(
    "tallies",
    metadata,
    _key(),
    _to("run_id", runs, part=True),
    _to("environment_id", environments, empty=True),
    _to("base_environment_id", environments, empty=True),
    Column("outcome", String(16), nullable=False),
    Column("count", Integer, nullable=False),
    Index("tallies_of_run", "run_id"),
    Index("tallies_by_build", "environment_id", "base_environment_id"),
)

#: Noise floors as `opperf noise` measured them; the numbers that a machine is known by, the rest in the document.
floors = Table(
    "floors",
    metadata,
    _key(),
    _to("run_id", runs, part=True),
    _to("series_id", series),
    Column("spread", Float, nullable=False),
    Column("moved", Float, nullable=False),
    Column("between", Float, nullable=False),
    Column("document", LargeBinary, nullable=False),
    Index("floors_of_run", "run_id"),
    Index("floors_by_series", "series_id"),
)

samples = Table(
    "samples",
    metadata,
    _key(),
    _to("record_id", records, part=True),
    Column("document", LargeBinary, nullable=False),
    Index("samples_of_record", "record_id"),
)
