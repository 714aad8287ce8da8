"""The data that a function works on beside its arguments, as far as it can be told: they are watched for changes."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any


def surroundings(function: Any) -> dict[str, object]:
    """Return the data that a function works on beside its arguments: of its object, its closure and its module."""
    owner = getattr(function, "__self__", None)
    data: dict[str, object] = {"self": owner, **{f"self.{name}": value for name, value in _attributes(owner)}}
    inner = inspect.unwrap(getattr(function, "__func__", function))
    code, names = getattr(inner, "__code__", None), getattr(inner, "__globals__", {})
    if code is not None:
        cells = zip(code.co_freevars, inner.__closure__ or ())
        data |= {name: names[name] for name in code.co_names if name in names}
        data |= {name: cell.cell_contents for name, cell in cells if _is_filled(cell)}
    return {name: value for name, value in data.items() if is_data(value)}


def _attributes(owner: object) -> Iterator[tuple[str, object]]:
    if owner is not None and not isinstance(owner, (ModuleType, type)):
        yield from getattr(owner, "__dict__", {}).items()


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:  # what the function has not assigned yet
        return False


def is_data(value: object) -> bool:
    """Whether a value may be changed by a call: it is no function, module or text."""
    kinds = (ModuleType, property, classmethod, staticmethod, str, type(None))
    return not (callable(value) or isinstance(value, kinds))
