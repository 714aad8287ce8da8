"""The queue of messages on new regressions."""

from __future__ import annotations

from alembic import op

from opperf.parent.store.database.schema import messages

revision = "0.4"
down_revision = "0.3"


def upgrade() -> None:
    """Create the table."""
    messages.create(op.get_bind())


def downgrade() -> None:
    """Drop it, with what waits."""
    messages.drop(op.get_bind())
