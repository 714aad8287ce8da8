"""The tables of the first release: those of `schema.py`. Whoever changes them freezes here what they were before."""

from __future__ import annotations

from alembic import op

from opperf.parent.store.database.schema import metadata

revision = "0.2"
down_revision = None


def upgrade() -> None:
    """Create them."""
    metadata.create_all(op.get_bind())


def downgrade() -> None:
    """Drop them."""
    metadata.drop_all(op.get_bind())
