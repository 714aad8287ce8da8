"""Options of a verb: typer's own, those that are declared once for all, and one for each field of a class of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any, Optional, get_origin

import typer

from opperf.parent.cli import completion
from opperf.parent.sources.option import Declaration, Overrides, declaration, declarations


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with an option for each field of the classes that it takes, whose values it gets read."""
    parameters = inspect.signature(command, eval_str=True).parameters
    groups = {name: group for name, one in parameters.items() if (group := _group(one.annotation)) is not None}
    single = {
        name: option for name, one in parameters.items() if (option := declaration(name, one.annotation, one.default))
    }

    @wraps(command)
    def flat(**options: object) -> None:
        values: dict[str, object] = {}
        for name, group in groups.items():
            those = {one.name: _value(one, options.pop(one.name)) for one in declarations(parameters[name].annotation)}
            values[name] = group(**those)
        values |= {name: _value(option, options.pop(name)) for name, option in single.items()}
        command(**values, **options)

    # `inspect.signature` reads it, by which typer knows a command.
    vars(flat)["__signature__"] = inspect.Signature([option for one in parameters.values() for option in _options(one)])
    return flat


def _group(annotation: Any) -> Callable[..., object] | None:
    """Return the class of options that a parameter is, None for another one."""
    group = annotation.__origin__ if get_origin(annotation) is Annotated else annotation
    if get_origin(group) is Overrides:
        return lambda **values: Overrides({name: one for name, one in values.items() if one not in (None, ())})
    return group if is_dataclass(group) and isinstance(group, type) else None


def _value(option: Declaration, value: Any) -> object:
    """Return typer's part of an option as the command takes it."""
    if option.option.words is not None:
        return option.option.words(value or ())
    return tuple(value or ()) if option.is_list else value


def _options(parameter: inspect.Parameter) -> Iterator[inspect.Parameter]:
    """Yield a parameter as it is, or one for each option that it stands for."""
    if _group(parameter.annotation) is not None:
        yield from (_parameter(one, inspect.Parameter.KEYWORD_ONLY) for one in declarations(parameter.annotation))
        return
    option = declaration(parameter.name, parameter.annotation, parameter.default)
    yield parameter if option is None else _parameter(option, parameter.kind)


def _parameter(entry: Declaration, kind: Any) -> inspect.Parameter:
    """Return an option as a parameter that typer understands."""
    about, flag, item, default = entry.option, entry.flag, entry.item, entry.default
    attributes: dict[str, Any] = {"metavar": about.metavar or None, "help": about.help}
    if about.complete:
        attributes["autocompletion"] = getattr(completion, about.complete)
    if entry.is_list:
        item, default = list[Path] if item is Path else list[str], None
    elif about.kind is not None:
        # Typer shows the default as it is typed, and has it read like any other value.
        item, default = str, None if default is None else about.kind.show(default)
        attributes["parser"] = partial(about.kind.read, name=f"`{flag}`")
    elif item is bool and default is not False:
        flag, attributes["show_default"] = f"{flag}/--no-{flag[2:]}", default is not None
    hint: Any = item if entry.is_required else Optional[item]
    annotation: Any = Annotated[hint, typer.Option(flag, **attributes)]
    return inspect.Parameter(
        entry.name, kind, default=inspect.Parameter.empty if entry.is_required else default, annotation=annotation
    )
