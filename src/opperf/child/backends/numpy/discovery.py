"""NumPy's functions as operators: every ufunc, the functions of its computing modules, and the samplers.

NumPy keeps no registry, so what its modules offer is one. The samplers of `numpy.random` are those of `Generator`: the
functions beside it draw from a hidden state that they share, and NumPy keeps them for old programs.
"""

from __future__ import annotations

from functools import cache

from opperf.child.backends.numpy.functions import GENERATOR, ROOTS, names, resolve
from opperf.child.backends.numpy.rules import AREAS, LEFT_OUT
from opperf.child.backends.signatures import Functions

#: Where operators are.
PLACES = ("numpy", "numpy.linalg", "numpy.fft", "numpy.lib.stride_tricks", GENERATOR)


@cache
def functions() -> Functions:
    """Return the functions, and the rules of their cases."""
    paths = [path for path in names() if path.rpartition(".")[0] in PLACES]
    return Functions("numpy", paths, resolve, ROOTS, AREAS, LEFT_OUT)
