"""Looking up a function by the dotted path that users write, inside one framework and nowhere else.

Names on the command line and in files are data: a path may walk through the framework's own modules and classes only,
so `torch:os.system` finds nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any


def function_at(path: str, roots: Mapping[str, Any], package: str) -> Callable[..., Any]:
    """Return the callable at `path`, whose first word is one of `roots`; raises `LookupError`.

    Words that begin with an underscore are refused, but for the framework's registered internal operators.
    """
    first, *rest = path.split(".")
    if first not in roots:
        raise LookupError(path)
    found = roots[first]
    for word in rest:
        if word.startswith("__") or not hasattr(found, word):
            raise LookupError(path)
        found = getattr(found, word)
        if isinstance(found, ModuleType) and not _inside(found.__name__, package):
            raise LookupError(path)
    if not callable(found) or inspect.ismodule(found) or not _owned(found, package):
        raise LookupError(path)
    function: Callable[..., Any] = found
    return function


def _inside(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _owned(found: Any, package: str) -> bool:
    """Whether a callable belongs to the framework; C functions often do not say where they are from."""
    module = getattr(found, "__module__", None)
    if module is None:  # a method of a class that the framework shows may be somebody else's
        module = getattr(getattr(found, "__objclass__", None), "__module__", None)
    return module is None or module.split(".")[0].lstrip("_") in (package, "jaxlib") or module.startswith("opperf.")


def canonical(path: str, roots: Mapping[str, ModuleType]) -> str:
    """Return a path as the bindings write it: with the own name of the module that it begins with.

    >>> canonical("i.signature", {"i": inspect})
    'inspect.signature'
    """
    first, dot, rest = path.partition(".")
    return f"{roots[first].__name__}{dot}{rest}" if first in roots else path


def listing(roots: Mapping[str, Any]) -> list[str]:
    """Return the public callables right below each root, as paths."""
    return sorted(
        f"{root}.{name}"
        for root, module in roots.items()
        for name in dir(module)
        if not name.startswith("_") and callable(getattr(module, name, None))
    )
