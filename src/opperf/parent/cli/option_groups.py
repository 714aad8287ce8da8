"""Options in groups: a verb takes classes of options, and the command line one option for each of their fields."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import get_type_hints

from opperf.domain.files.json_text import JsonDict


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with an option for each field of the classes that it takes."""
    own = inspect.signature(command, eval_str=True).parameters
    groups: JsonDict = {name: one.annotation for name, one in own.items() if is_dataclass(one.annotation)}

    @wraps(command)
    def flat(**options: object) -> None:
        values = {
            name: group(**{one.name: options.pop(one.name) for one in fields(group)}) for name, group in groups.items()
        }
        command(**values, **options)

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
