"""Ranges around calls, for a tool that watches from outside: the null framework's tool reads what is printed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def start(name: str) -> str:
    """Begin a range, and return what ends it."""
    print(f"range start {name}", flush=True)
    return name


def end(mark: str) -> None:
    """End a range."""
    print(f"range end {mark}", flush=True)


class Observer:
    """Writes down the labels of what it observes."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._labels: list[str] = []

    @contextmanager
    def observe(self, name: str) -> Iterator[None]:
        """Remember a label."""
        self._labels.append(name)
        yield

    def close(self) -> None:
        """Write the file."""
        self._path.write_text(json.dumps(self._labels), encoding="utf-8")


@contextmanager
def emitting(kind: str) -> Iterator[None]:
    """Name operators by ranges inside the block; here it is one range, named by their kind."""
    mark = start(kind)
    try:
        yield
    finally:
        end(mark)
