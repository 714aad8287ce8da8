"""NumPy's functions as operators: every ufunc, the functions of its computing modules, and the samplers.

NumPy keeps no registry, so what its modules offer is one. The samplers of `numpy.random` are those of `Generator`: the
functions beside it draw from a hidden state that they share, and NumPy keeps them for old programs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from opperf.backends import signatures
from opperf.backends.numpy import functions
from opperf.backends.numpy.rules import LEFT_OUT, RULES
from opperf.case import Case

#: Where operators are.
PLACES = ("numpy", "numpy.linalg", "numpy.fft", "numpy.lib.stride_tricks", functions.GENERATOR)


@cache
def _known() -> Mapping[str, Callable[..., Any]]:
    """Return every function that computes, by path; some have several."""
    left_out = {f"numpy.{name}" for names in LEFT_OUT.values() for name in names}
    paths = [path for path in functions.names() if path.rpartition(".")[0] in PLACES and path not in left_out]
    found = {path: functions.resolve(path) for path in paths}
    return {path: function for path, function in found.items() if not isinstance(function, type)}


def paths() -> list[str]:
    """Return one path of each function, by name."""
    return signatures.distinct(_known())


def examples(path: str, size: str) -> list[Case]:
    """Return the case of the function at a path; none for one that is left out, or a size without rules."""
    path = functions.canonical(path)
    if path not in _known():
        return []
    return RULES.case(f"numpy:{path}", path.removeprefix("numpy."), _known()[path], size)
