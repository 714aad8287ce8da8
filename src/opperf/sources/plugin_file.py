"""A file of the user's own operators: which functions it declares, read without running it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

from opperf.errors import InputError


def declared_names(path: Path) -> list[str]:
    """Return the functions of a Python file that `@opperf.operator(...)` stands above; raises `InputError`.

    Nothing in the file is run: that happens in the children that measure it.
    """
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read `{path}`: {getattr(error, 'strerror', None) or error}", slug="input") from error
    except (SyntaxError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: not Python ({error})", slug="user_code") from error
    functions = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return [function.name for function in functions if any(map(_declares, function.decorator_list))]


def _declares(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else None
    return (isinstance(called, ast.Attribute) and called.attr == "operator") or (
        isinstance(called, ast.Name) and called.id == "operator"
    )


def with_plugins(operators: Sequence[str], plugins: Sequence[Path], *, others: bool) -> tuple[str, ...]:
    """Return operators with those that plugins declare named as code; with no `others` named, all of them.

    Raises `InputError` for a plugin that declares nothing, and for a name that two of them declare.
    """
    known: dict[str, str] = {}
    for path in plugins:
        names = declared_names(path)
        if not names:
            raise InputError(
                f"{path} declares no operator", hint="put `@opperf.operator(...)` above a function", slug="user_code"
            )
        for name in names:
            if name in known:
                raise InputError(f"`{name}` is declared in {known[name].rpartition(':')[0]} and in {path}")
            known[name] = f"{path}:{name}"
    if not operators and not others:
        return tuple(known.values())
    return tuple(known.get(name, name) for name in operators)
