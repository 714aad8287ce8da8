"""What stands before NumPy is imported."""

from __future__ import annotations

from opperf.child.backends.threads import set_variables
from opperf.domain.plan import Side


def configure(side: Side) -> None:
    """Set the threads of its BLAS, which reads them once, when it is loaded; NumPy itself starts none."""
    set_variables(side.threads)
