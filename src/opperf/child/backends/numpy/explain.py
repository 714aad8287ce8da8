"""What runs in a call in NumPy: the vectorized loop that a ufunc has on this CPU. NumPy has no profiler.

`numpy.lib.introspect` tells the loops since 2.0. Of everything else there is the build: its BLAS, and the instruction
sets that it may use here.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from opperf.child.backends.numpy import build
from opperf.domain.backend import Work
from opperf.domain.explanation import Event, Explanation


def of_call(work: Work) -> Explanation:
    """Return what runs in a call."""
    facts = build.facts()
    notes = [f"{title} {facts[name]}" for name, title in (("blas", "BLAS"), ("isa", "instruction sets")) if facts[name]]
    loop = _loop(work)
    return Explanation(() if loop is None else (Event(loop[0], "kernel", 1, None, loop[1]),), tuple(notes))


def _loop(work: Work) -> tuple[str, str] | None:
    """Return the name of a ufunc with its signature, and the instruction set of the loop that runs."""
    function: Any = work.function
    if not isinstance(function, np.ufunc) or not hasattr(function, "resolve_dtypes"):
        return None
    try:
        introspect: Any = import_module("numpy.lib.introspect")
        given = [np.asarray(tensor).dtype for tensor in work.arguments[: function.nin]]
        types = "".join(dtype.char for dtype in function.resolve_dtypes((*given, *[None] * function.nout)))
        loops = introspect.opt_func_info(func_name=f"^{function.__name__}$")
        current = loops[function.__name__][types]["current"]
    except (ImportError, TypeError, KeyError):  # a ufunc without versions by instruction set, or an older NumPy
        return None
    return f"{function.__name__} {types[: function.nin]}->{types[function.nin :]}", current
