"""One test of many things, which lists all that fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from inspect import signature
from itertools import product
from typing import TypeVar

import pytest

T = TypeVar("T")
R = TypeVar("R")


def check_each(things: Iterable[T], check: Callable[[T], R], name: Callable[[T], str] = str) -> list[R]:
    """Check every thing, fail with a line for each that fails, and return what the checks returned.

    What is skipped is left out; where all are, so is the test.
    """
    returned, failures, causes, skips = [], [], [], []
    for thing in things:
        try:
            returned.append(check(thing))
        except pytest.skip.Exception as skip:
            skips.append(skip)
        except (Exception, pytest.fail.Exception) as error:
            kind = "" if isinstance(error, (AssertionError, pytest.fail.Exception)) else f"{type(error).__name__}: "
            failures.append(f"{name(thing)}: {kind}{error}")
            causes.append(error)
    if failures:
        raise AssertionError("\n".join(failures)) from causes[0]
    if skips and not returned:
        raise skips[0]
    return returned


def each(names: str | Sequence[str], rows: Iterable[object]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call a test with every row, as `pytest.mark.parametrize` does, but as one test, which lists the rows that fail.

    Above another `each` it tries every pair of rows. Fixtures are made once for all rows, so none may change.
    """
    words = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else tuple(names)
    kept = [row if isinstance(row, (tuple, list)) and len(words) > 1 else (row,) for row in rows]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        inner = getattr(test, "each", None)
        whole, tables = inner or (test, ())
        tables = ((words, kept), *tables)

        def checked(**fixtures: object) -> None:
            check_each(_arguments(tables), lambda row: whole(**row, **fixtures), _text)

        for attribute in ("__module__", "__name__", "__qualname__", "__doc__", "pytestmark"):
            if hasattr(test, attribute):
                setattr(checked, attribute, getattr(test, attribute))
        own = {word for several, _ in tables for word in several}
        parameters = [one for name, one in signature(whole).parameters.items() if name not in own]
        vars(checked)["__signature__"] = signature(whole).replace(parameters=parameters)
        vars(checked)["each"] = (whole, tables)
        return checked

    return decorate


def _arguments(tables: Sequence[tuple[Sequence[str], Sequence[Sequence[object]]]]) -> Iterator[dict[str, object]]:
    for rows in product(*(rows for _, rows in tables)):
        yield {name: value for (names, _), row in zip(tables, rows) for name, value in zip(names, row, strict=True)}


def _text(row: dict[str, object]) -> str:
    return ", ".join(f"{name}={value!r}"[:100] for name, value in row.items())
