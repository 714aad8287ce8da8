"""opperf measures any operator of any deep-learning framework, and says how far the number can be trusted.

    import opperf
    print(opperf.run("add", framework="numpy", inputs=[{"lhs": (1024, 1024), "rhs": (1024, 1024)}]))

Importing this package imports no framework and nothing heavy: names are looked up when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Case", "InputError", "Results", "Settings", "TensorSpec", "__version__", "operator", "run"]

if TYPE_CHECKING:
    from opperf.case import Case
    from opperf.custom import operator
    from opperf.errors import InputError
    from opperf.plan import Settings
    from opperf.results import Results, run
    from opperf.tensor import TensorSpec

_HOMES = {
    "Case": "opperf.case",
    "InputError": "opperf.errors",
    "Results": "opperf.results",
    "Settings": "opperf.plan",
    "TensorSpec": "opperf.tensor",
    "operator": "opperf.custom",
    "run": "opperf.results",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'opperf' has no attribute {name!r}")
