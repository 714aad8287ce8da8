"""Looking up a function by the path that users of MXNet write: `nd.FullyConnected`, `nd.contrib.isnan`, `np.add`.

What a path may reach is what MXNet itself defines. MXNet makes its operators at import and says that they are from a
module `ndarray`, which does not exist. Names with a leading underscore are for its registered internal operators
(`nd._internal._copyto`). What reads or writes files is no operator and is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import mxnet as mx

from opperf.backend import Unsupported

ROOTS = {"nd": mx.nd, "np": mx.np, "npx": mx.npx}
#: Where `listing` looks, below the roots.
LISTED = ("nd", "nd.contrib", "nd.linalg", "nd.random", "nd.image", "np", "np.random", "np.linalg", "npx")
#: The operators below this module have names that begin with an underscore.
INTERNAL = "nd._internal"
#: Modules that operators say they are from; `ndarray` are the generated ones.
OWN_MODULES = ("mxnet", "ndarray")
FILE_FUNCTIONS = frozenset({"load", "load_frombuffer", "save", "savez", "genfromtxt", "imread", "_cvimread"})


class NoSuchFunction(Unsupported, LookupError):
    """MXNet has nothing at a path, in this version; a trial that needs it is skipped."""

    def __init__(self, path: str) -> None:
        super().__init__(f"MXNet {mx.__version__} has no function `{path}`", slug="no_such_function")


def function_at(path: str) -> Callable[..., Any]:
    """Return the function at `path`; raises `NoSuchFunction`, a `LookupError`, where MXNet has none."""
    first, *rest = path.split(".")
    if first not in ROOTS or not rest:
        raise NoSuchFunction(path)
    found = ROOTS[first]
    parent = first
    for word in rest:
        hidden = word.startswith("__") or (word.startswith("_") and parent != INTERNAL)
        parent = f"{parent}.{word}"
        if (hidden and parent != INTERNAL) or word in FILE_FUNCTIONS or not hasattr(found, word):
            raise NoSuchFunction(path)
        found = getattr(found, word)
        if not _own(found):
            raise NoSuchFunction(path)
    if isinstance(found, (ModuleType, type)) or not callable(found):
        raise NoSuchFunction(path)
    function: Callable[..., Any] = found
    return function


def listing() -> list[str]:
    """Return the paths of the functions right below the modules that users know."""
    found = []
    for parent in LISTED:
        module: Any = mx
        for word in parent.split("."):
            module = getattr(module, word, None)
        found += [f"{parent}.{name}" for name in dir(module) if not name.startswith("_")]
    return sorted(path for path in found if _is_function(path))


def _is_function(path: str) -> bool:
    try:
        function_at(path)
    except LookupError:
        return False
    return True


def _own(found: Any) -> bool:
    """Whether a module, class or function is MXNet's."""
    name = found.__name__ if isinstance(found, ModuleType) else getattr(found, "__module__", None)
    return isinstance(name, str) and name.split(".")[0] in OWN_MODULES
