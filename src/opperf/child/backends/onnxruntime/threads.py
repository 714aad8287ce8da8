"""What stands before ONNX Runtime is imported."""

from __future__ import annotations

from opperf.child.backends.threads import set_variables
from opperf.domain.plan import Side


def configure(side: Side) -> None:
    """Set the threads of the libraries that make inputs; those of a session are among its options."""
    set_variables(side.threads)
