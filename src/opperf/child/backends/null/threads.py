"""What stands before the import of a framework; there is none."""

from __future__ import annotations

from opperf.domain.plan import Side


def configure(side: Side) -> None:
    """Do nothing."""
