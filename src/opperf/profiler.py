"""Profile a script's operators in any framework; the script only adds `from opperf import profiler`.

    with profiler.profile(memory=True) as p:
        train()
    print(p.table())
    p.save("trace.json")

or, as MXNet's users know it:

    profiler.set_config(profile_all=True)
    profiler.set_state("run")
    ...
    profiler.set_state("stop")
    print(profiler.dumps())

Importing this module imports nothing else: what it has is looked up when it is used, and no framework is imported
before it is asked for. Where MXNet is imported, everything else that MXNet's profiler has is here too.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

__all__ = [
    "ProfilerError",
    "autostart",
    "dump",
    "dumps",
    "get_summary",
    "pause",
    "profile",
    "reset",
    "resume",
    "schedule",
    "set_config",
    "set_state",
]

if TYPE_CHECKING:
    from opperf.child.profiling.autostart import autostart
    from opperf.child.profiling.block import Profiling as profile
    from opperf.child.profiling.block import Schedule as schedule
    from opperf.child.profiling.functions import dump, dumps, get_summary, pause, reset, resume, set_config, set_state
    from opperf.domain.errors import ProfilerError

#: The module that has a name, and how it is called there; the others are functions of `profiling.functions`.
_HOMES = {
    "ProfilerError": ("opperf.domain.errors", "ProfilerError"),
    "autostart": ("opperf.child.profiling.autostart", "autostart"),
    "profile": ("opperf.child.profiling.block", "Profiling"),
    "schedule": ("opperf.child.profiling.block", "Schedule"),
}


def __getattr__(name: str) -> object:
    if name in __all__:
        module, own = _HOMES.get(name, ("opperf.child.profiling.functions", name))
        return getattr(import_module(module), own)
    if "mxnet" in sys.modules and not name.startswith("__"):
        return getattr(sys.modules["mxnet"].profiler, name)
    raise AttributeError(f"module 'opperf.profiler' has no attribute {name!r}")
