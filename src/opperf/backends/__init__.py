"""One package for each framework, imported only inside a child, with the same files in each.

`configure` runs before the framework is imported, `Backend` imports it.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from opperf.backend import Unsupported

if TYPE_CHECKING:
    from opperf.backend import Backend
    from opperf.plan import Side

__all__ = ["native_clock", "ranges", "start"]


def start(side: Side) -> Backend:
    """Set what must stand before the framework is imported, import it, and return its backend.

    Variables of the side itself (`env.OMP_NUM_THREADS`) come last: whoever names one wants that one.
    """
    import_module(f"opperf.backends.{side.framework}.threads").configure(side)
    os.environ.update(side.variables)
    runtime = "reference.runtime" if side.is_reference else "runtime"
    backend: Backend = import_module(f"opperf.backends.{side.framework}.{runtime}").start(side)
    return backend


def native_clock(framework: str) -> Any:
    """Return the module that measures by a framework's own profiler; raises `Unsupported` where there is none."""
    name = f"opperf.backends.{framework}.native"
    if find_spec(name) is None:
        message = f"opperf reads no time of an operator from the profiler of {framework}"
        raise Unsupported(message, slug="no_native_clock", hint="leave `--clock native` out")
    return import_module(name)


def ranges(framework: str) -> Any:
    """Return the module that marks ranges for a tool that watches; raises `Unsupported` where there is none."""
    name = f"opperf.backends.{framework}.ranges"
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        message = f"opperf marks no ranges in {framework}, so no tool could tell whose a kernel is"
        raise Unsupported(message, slug="no_ranges") from error
