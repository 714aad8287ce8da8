"""opperf measures any operator of any deep-learning framework, and says how far the number can be trusted.

    import opperf
    print(opperf.run("add", framework="numpy", inputs=[{"lhs": (1024, 1024), "rhs": (1024, 1024)}]))

Importing this package imports no framework and nothing heavy: names are looked up when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "Case",
    "EnvironmentFailure",
    "HarnessError",
    "InputError",
    "Results",
    "Settings",
    "TensorSpec",
    "__version__",
    "operator",
    "run",
    "strategies",
]

if TYPE_CHECKING:
    from opperf.domain.case import Case
    from opperf.domain.custom import operator
    from opperf.domain.errors import EnvironmentFailure, HarnessError, InputError
    from opperf.domain.plan import Settings
    from opperf.domain.tensor import TensorSpec
    from opperf.parent import strategies
    from opperf.parent.results import Results, run

_HOMES = {
    "Case": "opperf.domain.case",
    "EnvironmentFailure": "opperf.domain.errors",
    "HarnessError": "opperf.domain.errors",
    "InputError": "opperf.domain.errors",
    "Results": "opperf.parent.results",
    "Settings": "opperf.domain.plan",
    "TensorSpec": "opperf.domain.tensor",
    "operator": "opperf.domain.custom",
    "run": "opperf.parent.results",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "strategies":
        return import_module("opperf.parent.strategies")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'opperf' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
