"""The tables of the database: what queries need is in columns, everything else in a compressed document.

A series is a case in a direction on a side, on a machine; the framework's version and build are each record's own, so
that a series goes on from one build to the next. Migrations make these tables; a test holds the two together.
Metrics are no columns: one that is new needs no migration.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

metadata = MetaData()
#: SQLite numbers rows automatically only if the key is an INTEGER.
KEY = BigInteger().with_variant(Integer, "sqlite")


class Figures(TypeDecorator[Mapping[str, float]]):
    """Numbers by name, as text that an index can hold; none are no text."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Mapping[str, float] | None, dialect: Dialect) -> str | None:
        """Write the numbers."""
        return json.dumps(value, separators=(",", ":")) if value else None

    def process_result_value(self, value: str | None, dialect: Dialect) -> Mapping[str, float]:
        """Read the numbers."""
        figures: dict[str, float] = {} if value is None else json.loads(value)
        return figures


def _means(text: str) -> dict[str, str]:
    """Return the documentation of a column or a table."""
    return {"meaning": text}


def _key() -> Column[int]:
    return Column("id", KEY, primary_key=True)


def _reference(name: str, target: Table, *, part: bool = False, empty: bool = False) -> Column[int]:
    """Return a column that points to a row of another table; a `part` goes when that row goes."""
    reference = ForeignKey(target.c.id, ondelete="CASCADE" if part else None)
    return Column(name, KEY, reference, nullable=empty)


def _distinct() -> Column[str]:
    """Return the column that identifies an existing row: a hash of its identity."""
    return Column(
        "fingerprint", String(32), nullable=False, unique=True, info=_means("hash of what identifies the row")
    )


machines = Table(
    "machines",
    metadata,
    _key(),
    _distinct(),
    Column("name", Text),
    Column("facts", JSON, info=_means("as the first run had them")),
    info=_means("A machine, identified by its hardware: processor, cores, caches, GPUs and about how much memory."),
)

environments = Table(
    "environments",
    metadata,
    _key(),
    _distinct(),
    Column("framework", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("build", Text),
    Column("facts", JSON, info=_means("as the first run had them")),
    info=_means("A build of a framework: its version, build string, commit and BLAS."),
)

cases = Table(
    "cases",
    metadata,
    _key(),
    _distinct(),
    Column("operator", Text, nullable=False, index=True),
    Column("document", JSON, info=_means("the case as files have it")),
    info=_means("What is computed: an operator with inputs and attributes."),
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
    Column("side", JSON, info=_means("the side without its environment")),
    Column("metric", Text, nullable=False, info=_means("what decides its comparisons; of records `time`")),
    Index("series_of_case", "case_id", "framework"),
    info=_means("A case in a direction on a side, on a machine, by a metric; builds follow each other in it."),
)

runs = Table(
    "runs",
    metadata,
    _key(),
    Column("key", String(64), nullable=False, unique=True, info=_means("the id of the run")),
    Column(
        "kind",
        String(16),
        nullable=False,
        info=_means("`run`, `comparison`, `noise`, `judge`, `nightly` or `imported`"),
    ),
    Column("started", BigInteger, nullable=False, index=True, info=_means("seconds since 1970, UTC")),
    _reference("machine_id", machines),
    Column(
        "content",
        String(32),
        nullable=False,
        info=_means("hash of all but the samples; of asv's builds, that of the file"),
    ),
    Column("document", LargeBinary, nullable=False, info=_means("the rest, as packed JSON")),
    info=_means("What one command measured, compared or imported."),
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
    info=_means("The labels of a run."),
)

records = Table(
    "records",
    metadata,
    _key(),
    _reference("run_id", runs, part=True),
    _reference("series_id", series),
    _reference("environment_id", environments, empty=True),
    Column("started", BigInteger, nullable=False, info=_means("that of the run")),
    Column("status", String(8), nullable=False),
    Column("time", Float, info=_means("median of one call, in seconds; the mean where another tool states it alone")),
    Column("low", Float),
    Column("high", Float),
    Column(
        "document",
        LargeBinary,
        nullable=False,
        info=_means("the rest, as packed JSON; of asv's times, samples and calls alone"),
    ),
    Column("metrics", Figures, info=_means("the values of other metrics by name, as JSON")),
    Index("records_of_run", "run_id"),
    # It holds all that a history shows, so that one is read without the rows themselves, which lie a night apart.
    Index(
        "records_by_series",
        *("series_id", "started", "environment_id", "run_id", "status"),
        *("time", "low", "high", "metrics"),
    ),
    info=_means("A trial of a run, and how long a call took."),
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
    Column("started", BigInteger, nullable=False, info=_means("that of the run")),
    Column("verdict", String(16), nullable=False),
    Column("ratio", Float),
    Column("low", Float),
    Column("high", Float),
    Column("error", Float, info=_means("standard error of the logarithm of the ratio")),
    Column("pairs", Integer, nullable=False),
    Column("document", LargeBinary, nullable=False, info=_means("the rest, as packed JSON")),
    Column("base_time", Float),
    Column("new_time", Float),
    Index("comparisons_of_run", "run_id"),
    Index(
        "comparisons_by_series",
        *("new_series_id", "started", "base_series_id", "base_environment_id", "new_environment_id", "run_id"),
        *("verdict", "ratio", "low", "high", "error", "base_time", "new_time"),
    ),
    Index("comparisons_by_builds", "new_environment_id", "base_environment_id", "started"),
    info=_means("Two sides of a case, and the verdict on them."),
)

tallies = Table(
    "tallies",
    metadata,
    _key(),
    _reference("run_id", runs, part=True),
    _reference("environment_id", environments, empty=True),
    _reference("base_environment_id", environments, empty=True),
    Column("outcome", String(16), nullable=False, info=_means("status, verdict or `floor`")),
    Column("count", Integer, nullable=False),
    Index("tallies_of_run", "run_id"),
    Index("tallies_by_build", "environment_id", "base_environment_id"),
    info=_means("The number of records or comparisons of a run by outcome, so that lists need not count rows."),
)

floors = Table(
    "floors",
    metadata,
    _key(),
    _reference("run_id", runs, part=True),
    _reference("series_id", series),
    Column("spread", Float, nullable=False),
    Column("moved", Float, nullable=False),
    Column("between", Float, nullable=False),
    Column("document", LargeBinary, nullable=False, info=_means("the rest, as packed JSON")),
    Index("floors_of_run", "run_id"),
    Index("floors_by_series", "series_id"),
    info=_means("How much identical code varies, as `opperf noise` measured it."),
)

samples = Table(
    "samples",
    metadata,
    _key(),
    _reference("record_id", records, part=True),
    Column("document", LargeBinary, nullable=False, info=_means("the rest, as packed JSON")),
    Index("samples_of_record", "record_id"),
    info=_means("The samples of a record, if you stored them."),
)

decisions = Table(
    "decisions",
    metadata,
    _key(),
    Column("change", String(16), nullable=False, info=_means("the name of the change, the same from night to night")),
    Column("series", String(32), nullable=False, info=_means("hash of case, direction, side and metric")),
    Column("operator", Text, nullable=False),
    Column("framework", Text, nullable=False),
    Column("before", Text, nullable=False, info=_means("the version before the change")),
    Column("after", Text, nullable=False, info=_means("the version after it")),
    Column("log_ratio", Float, nullable=False, info=_means("the size of the change as it was known then")),
    Column("error", Float, nullable=False, info=_means("standard error of that")),
    Column("state", String(16), nullable=False, info=_means("`new`, `seen`, `expected`, `fixed` or `not a change`")),
    Column("note", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("link", Text, nullable=False, info=_means("the issue or commit that it is about")),
    Column("author", Text, nullable=False, info=_means("who said so")),
    Column("moment", BigInteger, nullable=False, info=_means("seconds since 1970, UTC")),
    Index("decisions_of_change", "change"),
    info=_means("What somebody said about a change. Rows are added and never changed: the latest holds."),
)

messages = Table(
    "messages",
    metadata,
    _key(),
    Column("change", String(16), nullable=False, info=_means("the name of the change that it is about; a run's hash")),
    Column("target", String(32), nullable=False, info=_means("hash of where it goes: addresses are secrets")),
    Column("channel", String(16), nullable=False, info=_means("`webhook`, `email`, `github` or `push`")),
    Column("content", JSON, nullable=False, info=_means("the evidence, and the commands; of a run, its id")),
    Column("state", String(16), nullable=False, info=_means("`waiting`, `sending`, `sent` or `refused`")),
    Column("attempts", Integer, nullable=False),
    Column("queued", BigInteger, nullable=False, info=_means("seconds since 1970, UTC")),
    Column("trouble", Text, nullable=False, info=_means("why the last attempt failed")),
    UniqueConstraint("change", "target", name="message_once"),
    info=_means("Messages on new regressions, and runs for other servers: each goes to each place once."),
)
