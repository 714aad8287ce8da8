"""What measures and checks, remembered before the user's code is loaded: code that replaces a part of it is told so.

This sees what is done by mistake or without much effort. Whatever shares a process with the code that measures it can
be deceived in the end; `opperf judge` keeps both apart.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any


class Patched(Exception):
    """The user's code has replaced a part of what measures it."""


class Seal:
    """The functions of opperf, of the clocks, and those that others look up by name, as they are when this is made."""

    def __init__(self, others: Mapping[str, Callable[[], object]]) -> None:
        functions = {name: look() for name, look in others.items()}
        # Some are made at each look.
        self._others = [(name, look, functions[name]) for name, look in others.items() if look() is functions[name]]
        opperf = [module for name, module in sys.modules.items() if name.partition(".")[0] == "opperf"]
        self._parts = [part for owner in [time, *opperf] for part in _parts(owner)]
        self._code = [getattr(value, "__code__", None) for _, _, value in self._parts]

    def check(self) -> None:
        """Raise `Patched` where something else is in the place of any."""
        for (owner, name, value), code in zip(self._parts, self._code):
            if vars(owner).get(name) is not value or getattr(value, "__code__", None) is not code:
                raise Patched(f"replaces `{owner.__name__}.{name}`, which measures it")
        for name, look, function in self._others:
            if look() is not function:
                raise Patched(f"replaces `{name}` of its framework")


def _parts(owner: ModuleType | type[Any]) -> Iterator[tuple[ModuleType | type[Any], str, object]]:
    """Yield what can be called in a module and in its own classes."""
    for name, value in tuple(vars(owner).items()):
        if isinstance(value, type) and isinstance(owner, ModuleType) and value.__module__ == owner.__name__:
            yield from _parts(value)
        # Dataclasses get their methods when they are first used.
        if not name.startswith("__") and (callable(value) or isinstance(value, (staticmethod, classmethod))):
            yield owner, name, value
