"""What is known by a name: operators, iterators, generators. A name is taken once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from opperf.errors import InputError, near

Known = TypeVar("Known")


class Registry(Generic[Known]):
    """Names and what they stand for."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._known: dict[str, Known] = {}

    def add(self, name: str, known: Known) -> None:
        """Take a name; raises `ValueError`, as PARAM does, for one that is taken."""
        if name in self._known:
            raise ValueError(f"{self._kind} `{name}` is registered already")
        self._known[name] = known

    def find(self, name: str) -> Known:
        """Return what a name stands for; raises `InputError` with the names near it."""
        if name not in self._known:
            close = near(name, self._known) or self._known
            hint = f"known: {', '.join(close)}; register it first, where it is your own"
            raise InputError(f"no {self._kind} `{name}`", hint=hint, slug="param_config")
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)
