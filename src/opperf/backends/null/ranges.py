"""Ranges around calls, for a tool that watches from outside: the null framework's tool reads what is printed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


def start(name: str) -> str:
    """Begin a range, and return what ends it."""
    print(f"range start {name}", flush=True)
    return name


def end(begun: str) -> None:
    """End a range."""
    print(f"range end {begun}", flush=True)


@contextmanager
def emitting(kind: str) -> Iterator[None]:
    """Name operators by ranges meanwhile; here it is one range, called by their kind."""
    begun = start(kind)
    try:
        yield
    finally:
        end(begun)
