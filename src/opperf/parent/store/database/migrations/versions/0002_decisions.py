"""What people say about changes."""

from __future__ import annotations

from alembic import op

from opperf.parent.store.database.schema import decisions

revision = "0.3"
down_revision = "0.2"


def upgrade() -> None:
    """Create the table."""
    decisions.create(op.get_bind())


def downgrade() -> None:
    """Drop it, with what people said."""
    decisions.drop(op.get_bind())
