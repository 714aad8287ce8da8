"""One test of many things, which lists all that fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def check_each(things: Iterable[T], check: Callable[[T], R], name: Callable[[T], str] = str) -> list[R]:
    """Check every thing, fail with a line for each that fails, and return what the checks returned."""
    returned, failures = [], []
    for thing in things:
        try:
            returned.append(check(thing))
        except AssertionError as error:
            failures.append(f"{name(thing)}: {error}")
    assert not failures, "\n".join(failures)
    return returned
