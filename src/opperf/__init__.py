"""opperf measures any operator of any deep-learning framework, and says how far the number can be trusted.

    import opperf
    print(opperf.run("add", framework="numpy", inputs=[{"lhs": (1024, 1024), "rhs": (1024, 1024)}]))

Importing this package imports no framework and nothing heavy: names are looked up when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.2.0"
__all__ = [
    "Bisection",
    "Case",
    "Comparisons",
    "Contrast",
    "EnvironmentFailure",
    "Exploration",
    "Gate",
    "HarnessError",
    "InputError",
    "Judgements",
    "Noise",
    "OperatorFailure",
    "Operators",
    "OpperfError",
    "Profile",
    "ProfileDiff",
    "ProfilerError",
    "Replay",
    "Report",
    "Results",
    "Settings",
    "Suite",
    "SuiteChange",
    "TensorSpec",
    "WhatIf",
    "WorkerFailure",
    "__version__",
    "bisect",
    "capture",
    "compare",
    "contrast",
    "explore",
    "gate",
    "judge",
    "load",
    "noise",
    "operator",
    "operators",
    "profile",
    "profiler",
    "replay",
    "run",
    "strategies",
    "time",
]

if TYPE_CHECKING:
    from opperf import profiler
    from opperf.domain.case import Case
    from opperf.domain.custom import operator
    from opperf.domain.errors import (
        EnvironmentFailure,
        HarnessError,
        InputError,
        OperatorFailure,
        OpperfError,
        ProfilerError,
        WorkerFailure,
    )
    from opperf.domain.plan import Settings
    from opperf.domain.tensor import TensorSpec
    from opperf.own_process import time
    from opperf.parent.library import strategies
    from opperf.parent.library.judging import judge
    from opperf.parent.library.lookup import load, operators
    from opperf.parent.library.measurements import compare, gate, noise, run
    from opperf.parent.library.programs import capture, profile, replay
    from opperf.parent.library.report import Report
    from opperf.parent.library.results import (
        Bisection,
        Comparisons,
        Contrast,
        Exploration,
        Gate,
        Judgements,
        Noise,
        Operators,
        Profile,
        ProfileDiff,
        Replay,
        Results,
        Suite,
        SuiteChange,
        WhatIf,
    )
    from opperf.parent.library.searches import bisect, contrast, explore

#: The public names, by the module that they live in.
_NAMES = {
    "domain.case": ("Case",),
    "domain.custom": ("operator",),
    "domain.errors": (
        "EnvironmentFailure",
        "HarnessError",
        "InputError",
        "OperatorFailure",
        "OpperfError",
        "ProfilerError",
        "WorkerFailure",
    ),
    "domain.plan": ("Settings",),
    "domain.tensor": ("TensorSpec",),
    "own_process": ("time",),
    "parent.library.judging": ("judge",),
    "parent.library.lookup": ("load", "operators"),
    "parent.library.measurements": ("compare", "gate", "noise", "run"),
    "parent.library.programs": ("capture", "profile", "replay"),
    "parent.library.searches": ("bisect", "contrast", "explore"),
    "parent.library.results": (
        "Bisection",
        "Comparisons",
        "Contrast",
        "Exploration",
        "Gate",
        "Judgements",
        "Noise",
        "Operators",
        "Profile",
        "ProfileDiff",
        "Replay",
        "Report",
        "Results",
        "Suite",
        "SuiteChange",
        "WhatIf",
    ),
}
_HOMES = {name: f"opperf.{home}" for home, names in _NAMES.items() for name in names}
_MODULES = {"profiler": "opperf.profiler", "strategies": "opperf.parent.library.strategies"}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _MODULES:
        return import_module(_MODULES[name])
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'opperf' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
