"""What stands before PyTorch is imported."""

from __future__ import annotations

from opperf.child.backends.threads import set_variables
from opperf.domain.plan import Side


def configure(side: Side) -> None:
    """Set the threads of its numerical libraries; `torch.set_num_threads` follows after the import."""
    set_variables(side.threads)
