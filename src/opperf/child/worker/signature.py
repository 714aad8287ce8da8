"""What a function says of its arguments: their names, which go by place, and what they are where nobody gives them.

Python tells of most functions. Functions of C, and those that only say `*operands`, tell people in the first line of
their documentation, which is read here as Python would write it. Nothing in it is evaluated.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress

from opperf.domain.registry import SPREAD

#: The types of values that say what they mean; a marker of a framework's own says nothing.
_PLAIN = (bool, int, float, str, tuple, list, type(None))


def parameters_of(function: Callable[..., object]) -> dict[str, bool] | None:
    """Return the arguments of a function in their order, and whether each may be given by its place.

    The one that takes all further arguments begins with a star. None where nothing tells all of them, and for a class.
    """
    try:
        parameters = [] if isinstance(function, type) else list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    by_name = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
    accepted = {
        (SPREAD if one.kind is one.VAR_POSITIONAL else "") + one.name: one.kind not in by_name
        for one in parameters
        if one.kind is not one.VAR_KEYWORD
    }
    return _documented(function) if next(iter(accepted), SPREAD).startswith(SPREAD) else accepted


def names_of(function: Callable[..., object]) -> tuple[str, ...] | None:
    """Return the names of all arguments of a function; None where Python does not tell all of them."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    names = tuple((SPREAD if one.kind is one.VAR_POSITIONAL else "") + one.name for one in parameters)
    return None if any(one.kind is one.VAR_KEYWORD for one in parameters) else names


def has_defaults(function: Callable[..., object]) -> bool:
    """Whether a function can be called without arguments, as each has a default."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return all(one.default is not one.empty for one in parameters)


def _documented(function: Callable[..., object]) -> dict[str, bool] | None:
    """Return the parameters in the first line of a function's documentation, `einsum(subscripts, *operands)`."""
    text = " ".join((getattr(function, "__doc__", None) or "")[:1000].split())
    name, bracket, rest = text.partition("(")
    if not bracket or name.rpartition(".")[2] != getattr(function, "__name__", None):
        return None
    with suppress(SyntaxError, ValueError):
        (definition,) = ast.parse(f"def f({rest[: rest.index(')')]}): ...").body
        if isinstance(definition, ast.FunctionDef) and definition.args.vararg is not None:
            own = definition.args
            by_place = [*(one.arg for one in (*own.posonlyargs, *own.args)), SPREAD + definition.args.vararg.arg]
            return {**dict.fromkeys(by_place, True), **{one.arg: False for one in own.kwonlyargs}}
    return None


def defaults_of(function: Callable[..., object]) -> dict[str, object]:
    """Return the defaults of a function's arguments, as far as Python tells."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {one.name: one.default for one in parameters if one.default is not one.empty}


def unlike(usual: Mapping[str, object], defaults: Mapping[str, object]) -> tuple[str, ...]:
    """Return the names of those usual values that a function's own defaults differ from.

    >>> unlike({"axis": 1, "stride": (2, 2), "keepdims": False}, {"axis": None, "stride": 2})
    ('axis',)
    """
    return tuple(name for name, value in usual.items() if name in defaults and not _alike(defaults[name], value))


def _alike(declared: object, usual: object) -> bool:
    if not isinstance(declared, _PLAIN) or not isinstance(usual, _PLAIN):
        return True
    mine, theirs = _items(declared), _items(usual)
    length = max(len(mine), len(theirs))
    return (mine * length if len(mine) == 1 else mine) == (theirs * length if len(theirs) == 1 else theirs)


def _items(value: object) -> list[object]:
    return list(value) if isinstance(value, (tuple, list)) else [value]
