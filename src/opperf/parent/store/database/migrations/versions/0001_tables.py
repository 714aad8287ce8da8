"""The tables of the first release, as they still are in `schema.py`; whoever changes one freezes here what it was."""

from __future__ import annotations

from alembic import op

from opperf.parent.store.database.schema import metadata

revision = "0.2"
down_revision = None

#: The tables that came later have migrations of their own.
TABLES = (
    *("machines", "environments", "cases", "series", "runs", "labels"),
    *("records", "comparisons", "tallies", "floors", "samples"),
)


def upgrade() -> None:
    """Create them."""
    metadata.create_all(op.get_bind(), tables=[metadata.tables[name] for name in TABLES])


def downgrade() -> None:
    """Drop them."""
    metadata.drop_all(op.get_bind(), tables=[metadata.tables[name] for name in TABLES])
