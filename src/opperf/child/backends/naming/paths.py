"""Looking up a function by the dotted path that users write, inside one framework and nowhere else.

Names on the command line and in files are data: a path may walk through the framework's own modules and classes only,
so `torch:os.system` finds nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any


class Refusal(LookupError):
    """There is something at a path, and no name leads to it: `why` says what keeps it back."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(path)
        self.why = why


def function_at(path: str, roots: Mapping[str, Any], package: str) -> Callable[..., Any]:
    """Return the callable at `path`, whose first word is one of `roots`; raises `LookupError`, or `Refusal`.

    Words that begin with an underscore are refused, but for the framework's registered internal operators.
    """
    first, *rest = path.split(".")
    if first not in roots:
        raise LookupError(path)
    value = roots[first]
    for word in rest:
        if not hasattr(value, word):
            raise LookupError(path)
        if word.startswith("__"):
            raise Refusal(path, f"`{word}` is Python's own")
        value = getattr(value, word)
        if isinstance(value, ModuleType) and not _inside(value.__name__, package):
            raise Refusal(path, f"the module {value.__name__} is not {package}'s")
    if not callable(value) or inspect.ismodule(value):
        raise LookupError(path)
    if not _is_owned(value, package):
        raise Refusal(path, f"it is not {package}'s")
    function: Callable[..., Any] = value
    return function


def _inside(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _is_owned(value: Any, package: str) -> bool:
    """Whether a callable belongs to the framework; C functions often do not say where they are from."""
    module = getattr(value, "__module__", None)
    if module is None:  # a class of the framework may have methods from elsewhere
        module = getattr(getattr(value, "__objclass__", None), "__module__", None)
    return module is None or module.split(".")[0].lstrip("_") in (package, "jaxlib") or module.startswith("opperf.")


def canonical(path: str, roots: Mapping[str, ModuleType]) -> str:
    """Return a path as the bindings write it: with the own name of the module that it begins with.

    >>> canonical("i.signature", {"i": inspect})
    'inspect.signature'
    """
    first, dot, rest = path.partition(".")
    return f"{roots[first].__name__}{dot}{rest}" if first in roots else path


def resolvable(roots: Mapping[str, Any], resolve: Callable[[str], object]) -> list[str]:
    """Return those of a `listing` that can be named: others belong to Python, or to another library."""

    def is_named(path: str) -> bool:
        try:
            resolve(path)
        except LookupError:
            return False
        return True

    return list(filter(is_named, listing(roots)))


def listing(roots: Mapping[str, Any]) -> list[str]:
    """Return the public callables right below each root, as paths."""
    return sorted(
        f"{root}.{name}"
        for root, module in roots.items()
        for name in dir(module)
        if not name.startswith("_") and callable(getattr(module, name, None))
    )
