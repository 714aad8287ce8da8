"""A command that takes a class of options as one parameter; typer, which knows no such thing, sees its fields."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with an option for each field of the classes that it takes."""
    own = inspect.signature(command, eval_str=True).parameters
    groups: dict[str, Any] = {name: one.annotation for name, one in own.items() if is_dataclass(one.annotation)}

    @wraps(command)
    def flat(**given: object) -> None:
        made = {
            name: group(**{one.name: given.pop(one.name) for one in fields(group)}) for name, group in groups.items()
        }
        command(**made, **given)

    # `inspect.signature` reads it, by which typer knows a command.
    vars(flat)["__signature__"] = inspect.Signature([option for one in own.values() for option in _options(one)])
    return flat


def _options(parameter: inspect.Parameter) -> Iterator[inspect.Parameter]:
    """Yield a parameter as it is, or one for each field of its class."""
    group = parameter.annotation
    if not is_dataclass(group):
        yield parameter
        return
    types = get_type_hints(group, include_extras=True)
    for one in fields(group):
        yield inspect.Parameter(one.name, parameter.kind, default=one.default, annotation=types[one.name])
