"""Which module of flax a primitive is called by: linen's name their scopes by themselves, nnx's are made to."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import jax

FLAX = "flax.nnx"


class _Here(threading.local):
    """Where one thread is: the paths of all modules below the first one, and of those that are being called."""

    def __init__(self) -> None:
        self.paths: dict[int, tuple[str, ...]] = {}
        self.inside: list[tuple[str, ...]] = []


class NnxScopes:
    """Has modules of nnx name their scopes, until it is closed."""

    def __init__(self) -> None:
        self._here = _Here()
        self._calls: dict[Any, Callable[..., Any]] = {}

    def open(self) -> None:
        """Wrap the calls of all kinds of modules that there are by now."""
        nnx = sys.modules.get(FLAX)
        if nnx is None or not hasattr(nnx, "iter_modules"):
            return
        for kind in _subclasses(nnx.Module):
            call = vars(kind).get("__call__")
            if kind not in self._calls and callable(call):
                self._calls[kind] = call
                kind.__call__ = self._scope(call, nnx.iter_modules)

    def close(self) -> None:
        """Put the calls back."""
        for kind, call in self._calls.items():
            kind.__call__ = call
        self._calls.clear()

    def _scope(self, call: Callable[..., Any], iter_modules: Callable[[Any], Any]) -> Callable[..., Any]:
        here = self._here

        @wraps(call)
        def call_in_scope(module: Any, *arguments: Any, **keywords: Any) -> Any:
            outer = here.inside[-1] if here.inside else ()
            if not outer:
                top = type(module).__name__
                here.paths = {id(one): (top, *map(str, path)) for path, one in iter_modules(module)}
            path = here.paths.get(id(module), (*outer, type(module).__name__))
            if path == outer:  # a kind of module that calls the one that it is made from
                return call(module, *arguments, **keywords)
            inner = path[len(outer) :] if path[: len(outer)] == outer else path
            here.inside.append(path)
            try:
                with jax.named_scope(".".join(inner)):
                    return call(module, *arguments, **keywords)
            finally:
                here.inside.pop()

        return call_in_scope


def _subclasses(kind: Any) -> Iterator[Any]:
    for one in kind.__subclasses__():
        yield one
        yield from _subclasses(one)
