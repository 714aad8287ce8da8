"""A file of the user's own operators: which functions it declares, read without running it.

Packages that are installed beside opperf may name such a file as an entry point of the group `opperf.plugins`; those
are looked at when an operator is asked for that nothing else has.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from opperf.errors import InputError
from opperf.operators import is_known
from opperf.sources.installed_plugins import installed_plugins


@dataclass(frozen=True)
class Declared:
    """A function that a file declares as an operator: how it is named as code, and what can be read of it."""

    code: str
    arguments: tuple[str, ...]
    summary: str


def declared_operators(path: Path) -> dict[str, Declared]:
    """Return the functions of a Python file that `@opperf.operator(...)` stands above, by name; raises `InputError`.

    Nothing in the file is run: that happens in the children that measure it.
    """
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read `{path}`: {getattr(error, 'strerror', None) or error}", slug="input") from error
    except (SyntaxError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: not Python ({error})", slug="user_code") from error
    functions = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return {
        function.name: Declared(
            code=f"{path}:{function.name}",
            arguments=tuple(argument.arg for argument in (*function.args.posonlyargs, *function.args.args)),
            summary=(ast.get_docstring(function) or "").partition("\n")[0],
        )
        for function in functions
        if any(map(_declares, function.decorator_list))
    }


def _declares(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else None
    return (isinstance(called, ast.Attribute) and called.attr == "operator") or (
        isinstance(called, ast.Name) and called.id == "operator"
    )


def with_plugins(
    operators: Sequence[str],
    plugins: Sequence[Path],
    *,
    others: bool,
    note: Callable[[str], None] = warnings.warn,
) -> tuple[str, ...]:
    """Return operators with those that plugins declare named as code; with no `others` named, all of them.

    A name that neither the catalog nor a plugin has is looked for in the plugins that are installed; `note` takes a
    line on each of them that cannot be used. Raises `InputError` for a plugin that declares nothing, and for a name
    that two of them declare.
    """
    known: dict[str, Declared] = {}
    for path in plugins:
        for name, declared in _some(path).items():
            if name in known:
                raise InputError(f"`{name}` is declared in {known[name].code.rpartition(':')[0]} and in {path}")
            known[name] = declared
    if not operators and not others:
        return tuple(declared.code for declared in known.values())
    if any(name.isidentifier() and name not in known and not is_known(name) for name in operators):
        known = {**installed_operators(note), **known}
    return tuple(known[name].code if name in known else name for name in operators)


def installed_operators(note: Callable[[str], None]) -> Mapping[str, Declared]:
    """Return the operators that installed plugins declare, by name.

    `note` takes a line on each plugin that cannot be used, and on each operator whose name is taken.
    """
    found: dict[str, Declared] = {}
    for plugin, path in installed_plugins(note).items():
        try:
            operators = _some(path)
        except InputError as error:
            note(f"plugin `{plugin}` is left out: {error.message}")
            continue
        for name, declared in operators.items():
            if name in found or is_known(name):
                note(f"plugin `{plugin}`: there is another operator `{name}`; name this one as `{declared.code}`")
            else:
                found[name] = declared
    return found


def _some(path: Path) -> dict[str, Declared]:
    """Return what a file declares; raises `InputError` when that is nothing."""
    found = declared_operators(path)
    if not found:
        raise InputError(
            f"{path} declares no operator", hint="put `@opperf.operator(...)` above a function", slug="user_code"
        )
    return found
