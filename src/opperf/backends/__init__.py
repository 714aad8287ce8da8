"""One package for each framework, imported only inside a child, with the same files in each.

`configure` runs before the framework is imported, `Backend` imports it.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opperf.backend import Backend
    from opperf.plan import Side

__all__ = ["start"]


def start(side: Side) -> Backend:
    """Set what must stand before the framework is imported, import it, and return its backend.

    Variables of the side itself (`env.OMP_NUM_THREADS`) come last: whoever names one wants that one.
    """
    import_module(f"opperf.backends.{side.framework}.threads").configure(side)
    os.environ.update(side.variables)
    runtime = "reference.runtime" if side.is_reference else "runtime"
    backend: Backend = import_module(f"opperf.backends.{side.framework}.{runtime}").start(side)
    return backend
