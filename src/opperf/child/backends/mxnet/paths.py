"""Looking up a function by the path that users of MXNet write: `nd.FullyConnected`, `nd.contrib.isnan`, `np.add`.

A path may come from a file, so it reaches what MXNet itself defines, in the modules that hold its operators: these
import MXNet as a whole, with functions that download files, load models and set variables of the environment. MXNet
makes its operators at import and says that they are from a module `ndarray`, which does not exist. Names with a leading
underscore are for its registered internal operators (`nd._internal._copyto`). What reads or writes files is no operator
and is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import mxnet as mx

from opperf.child.backends.mxnet import registry
from opperf.domain.backend import Unsupported

ROOTS = {"nd": mx.nd, "np": mx.np, "npx": mx.npx}
#: Where `listing` looks, below the roots.
NAMESPACES = ("nd", "nd.contrib", "nd.linalg", "nd.random", "nd.image", "np", "np.random", "np.linalg", "npx")
#: The operators below this module have names that begin with an underscore.
INTERNAL = "nd._internal"
#: What a path may lead through.
HOMES = (*NAMESPACES, INTERNAL, "nd.sparse", "nd.NDArray", "np.ndarray", "npx.random", "npx.image")
#: Modules that operators say they are from; `ndarray` are the generated ones.
OWN_MODULES = ("mxnet", "ndarray")
FILE_FUNCTIONS = ("load", "load_frombuffer", "save", "savez", "genfromtxt", "imread", "_cvimread", "_npi_cvimread")
#: A wrong address ends the process, or worse.
WITH_ADDRESSES = ("_NDArray", "_Native", "_backward__NDArray", "_backward__Native")
#: Registered with one array fewer than they read: what lies behind it decides whether the process survives.
OVERREADING = ("_backward_npi_copysign_scalar", "_backward_npi_rcopysign_scalar")
#: What no path reaches, and why.
REFUSALS = {
    **dict.fromkeys(FILE_FUNCTIONS, "it reads or writes files"),
    **dict.fromkeys(WITH_ADDRESSES, "it takes the address of a Python function as a number"),
    **dict.fromkeys(OVERREADING, "it reads past the end of its arrays"),
}


class NoSuchFunction(Unsupported, LookupError):
    """MXNet has nothing at a path, in this version, or nothing that may be called; its trial is skipped."""

    def __init__(self, path: str, why: str | None = None) -> None:
        nothing = f"MXNet {mx.__version__} has no function `{path}`"
        if why is None:
            super().__init__(nothing, slug="no_such_function")
        else:
            super().__init__(f"`{path}` is not called: {why}", slug="refused_function")


def function_at(path: str) -> Callable[..., Any]:
    """Return the function at `path`; raises `NoSuchFunction`, a `LookupError`, where MXNet has none."""
    first, *rest = path.split(".")
    if first not in ROOTS or not rest:
        raise NoSuchFunction(path)
    value = ROOTS[first]
    parent = first
    for word in rest:
        if parent not in HOMES:
            raise NoSuchFunction(path)
        hidden = word.startswith("_") and parent != INTERNAL and f"{parent}.{word}" != INTERNAL
        if hidden or word.startswith("__") or word in REFUSALS:
            raise NoSuchFunction(path, REFUSALS.get(word))
        value = _member(parent, value, word)
        if value is None:
            raise NoSuchFunction(path)
        parent = f"{parent}.{word}"
    if isinstance(value, (ModuleType, type)) or not callable(value):
        raise NoSuchFunction(path)
    function: Callable[..., Any] = value
    return function


def _member(parent: str, module: Any, word: str) -> Any:
    """Return MXNet's own thing of a name, None where there is none.

    The functions that MXNet makes of its operators take no arrays where the registry does not name them, as it does
    not for most gradients, nor the states of a few; some operators get no function; and some need to be told where to
    write. All those are called by way of the registry.
    """
    value = getattr(module, word, None)
    if parent in ("nd", INTERNAL) and word in registry.names():
        is_operator = value is not None and registry.signature(word).arrays
        if registry.places(word) is not None or word in registry.WITH_STATE or (parent == INTERNAL and not is_operator):
            return registry.find(word)
    return value if _is_own(value) else None


def listing() -> list[str]:
    """Return the paths of the functions right below the modules that users know."""
    names = []
    for parent in NAMESPACES:
        module: Any = mx
        for word in parent.split("."):
            module = getattr(module, word, None)
        names += [f"{parent}.{name}" for name in dir(module) if not name.startswith("_")]
    return sorted(path for path in names if _is_function(path))


def _is_function(path: str) -> bool:
    try:
        function_at(path)
    except LookupError:
        return False
    return True


def _is_own(value: Any) -> bool:
    """Whether a module, class or function is MXNet's."""
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return isinstance(name, str) and name.split(".")[0] in OWN_MODULES
