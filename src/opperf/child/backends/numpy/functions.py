"""NumPy's functions by the path that users write, `numpy.add` or `np.add`.

A path is data, so it leads to computation only: modules that compute, and in them nothing that reads or writes files,
unpickles or runs tests. A method of `numpy.random.Generator` comes bound to a generator of its own, seeded, and made
when the path is looked up: once for each call that is bound.

NumPy's functions as operators: every ufunc, the functions of its computing modules, and the samplers.
NumPy keeps no registry, so what its modules offer is one. The samplers of `numpy.random` are those of `Generator`: the
functions beside it draw from a hidden state that they share, and NumPy keeps them for old programs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from opperf.child.backends.numpy.rules import AREAS, LEFT_OUT
from opperf.child.backends.paths import Refused, canonical, function_at, listing
from opperf.child.backends.signatures import Functions

ROOTS = {"numpy": np, "np": np}
GENERATOR = "numpy.random.Generator"
SEED = 0
#: Modules whose functions can be named, as users write them.
MODULES = ("numpy", "numpy.linalg", "numpy.fft", "numpy.random", "numpy.ma", "numpy.lib.stride_tricks")
#: Names that touch files, unpickle, run tests or change how NumPy works.
REFUSED = frozenset(
    {
        "load", "save", "savez", "savez_compressed", "loadtxt", "savetxt", "genfromtxt", "fromfile", "fromregex",
        "memmap", "DataSource", "tofile", "dump", "dumps", "test", "source", "lookfor", "info", "show_config",
        "show_runtime", "set_string_function", "set_printoptions", "setbufsize", "seterr", "seterrcall", "setflags",
        "recfromcsv", "recfromtxt", "add_docstring", "add_newdoc", "add_newdoc_ufunc", "deprecate", "disp", "safe_eval",
        "seterrobj", "who",
    }
)  # fmt: skip


def generator() -> np.random.Generator:
    """Return a new generator, the same one each time."""
    return np.random.default_rng(SEED)


def resolve(path: str) -> Callable[..., Any]:
    """Return the function at a path, or raise `LookupError`, or `Refused` for one that does not compute."""
    path = canonical(path, ROOTS)
    if REFUSED.intersection(path.split(".")):
        raise Refused(path, "it touches files, runs tests or changes NumPy's behaviour")
    function = function_at(path, ROOTS, "numpy")
    if not _computes(path):
        raise Refused(path, "its module does more than compute")
    if path.startswith(f"{GENERATOR}."):
        function = getattr(generator(), path.removeprefix(f"{GENERATOR}."))
    return function


def names() -> list[str]:
    """Return the paths that can be named, for near matches."""
    roots: dict[str, Any] = {name: _module(name) for name in MODULES}
    return [path for path in listing({**roots, GENERATOR: np.random.Generator}) if _computes(path)]


def _computes(path: str) -> bool:
    words = path.split(".")
    if REFUSED.intersection(words):
        return False
    deepest = max((i for i in range(1, len(words) + 1) if _module(".".join(words[:i])) is not None), default=0)
    return ".".join(words[:deepest]) in MODULES


def _module(path: str) -> ModuleType | None:
    first, *rest = path.split(".")
    module = ROOTS.get(first)
    for word in rest:
        module = getattr(module, word, None)
    return module if isinstance(module, ModuleType) else None


#: Where operators are.
PLACES = ("numpy", "numpy.linalg", "numpy.fft", "numpy.lib.stride_tricks", GENERATOR)


@cache
def functions() -> Functions:
    """Return the functions, and the rules of their cases."""
    paths = [path for path in names() if path.rpartition(".")[0] in PLACES]
    return Functions("numpy", paths, resolve, ROOTS, AREAS, LEFT_OUT)
