"""A function that a program hands over, as code that a child can load: by file and name, else from its source.

A child never imports the program itself, which would run all of it again. So a function of a script, a notebook or a
Python prompt is written to a file, with what it uses: modules, other functions, and plain values.
"""

from __future__ import annotations

import ast
import builtins
import dis
import hashlib
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from functools import reduce
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from opperf.domain.code import MARK
from opperf.domain.errors import InputError
from opperf.domain.files.destination import ensure_private, write_text

MAIN = "__main__"
#: The name of a file whose function was not written in one.
NOTEBOOK = "notebook"
#: A value of a longer text is no constant of a function.
LONGEST = 10_000


def code_text(function: Callable[..., object], folder: Path) -> str:
    """Return how a function is named as code; one that no file has alone is written below `folder`.

    Raises `InputError` for what cannot be loaded elsewhere: a lambda, a closure, a method, a function built in.
    """
    if not isinstance(function, FunctionType):
        raise InputError(
            f"`{getattr(function, '__qualname__', function)!s}` is not a Python function",
            hint="name a framework's own operator, such as `torch:torch.add`, or wrap it in a function",
            slug="user_code",
        )
    if function.__name__ == "<lambda>":
        raise InputError("a lambda has no name by which to import it", hint="define it with `def`", slug="user_code")
    module = sys.modules.get(function.__module__)
    file = getattr(module, "__file__", None) or ""
    if function.__module__ != MAIN and file.endswith(".py") and _resolves(module, function):
        place = function.__module__ if _is_relative(Path(file)) else str(Path(file).resolve())
        return f"{MARK}{place}:{function.__qualname__}"
    text = _Source(function).text()
    stem = Path(file).stem if file.endswith(".py") else NOTEBOOK
    return f"{MARK}{write_source(text, stem, folder)}:{function.__name__}"


def write_source(text: str, stem: str, folder: Path) -> Path:
    """Return the file of a text of Python, the same one for the same text."""
    path = folder / "functions" / hashlib.sha256(text.encode()).hexdigest()[:16] / f"{stem}.py"
    if not path.exists():
        ensure_private(path.parent)
        write_text(path, text)
    return path


def _resolves(module: object, function: FunctionType) -> bool:
    try:
        return reduce(getattr, function.__qualname__.split("."), module) is function
    except AttributeError:
        return False


def _is_relative(file: Path) -> bool:
    """Whether a file can only be loaded as a module of its package."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(tree))


class _Source:
    """The source of a function, behind that of all it uses."""

    def __init__(self, function: FunctionType) -> None:
        self._function = function
        self._parts: dict[str, str] = {}
        self._add(function)

    def text(self) -> str:
        """Return the file."""
        return "\n".join(["from __future__ import annotations\n", *self._parts.values()])

    def _add(self, function: FunctionType) -> None:
        original = inspect.unwrap(function)
        if function.__name__ in self._parts or not isinstance(original, FunctionType):
            return
        if original.__closure__:
            raise self._wrong(
                function,
                f"uses `{original.__code__.co_freevars[0]}` of the function around it",
                "make it an argument, or define the function at the top of a file",
            )
        source = self._source(original)
        self._parts[function.__name__] = ""  # what it calls may call it in turn
        for name in dict.fromkeys(_names(original.__code__, source)):
            if name != function.__name__ and name in original.__globals__:
                self._need(function, name, original.__globals__[name])
        del self._parts[function.__name__]
        self._parts[function.__name__] = source  # behind what its decorators and defaults use

    def _source(self, function: FunctionType) -> str:
        try:
            return textwrap.dedent(inspect.getsource(function))
        except (OSError, TypeError) as error:
            raise self._wrong(
                function, "has no source", "write it to a file, and name it `file.py:function`"
            ) from error

    def _need(self, function: FunctionType, name: str, value: object) -> None:
        """Add what binds a name that a function uses."""
        if isinstance(value, ModuleType) and value.__name__ != MAIN:
            self._parts[name] = f"import {value.__name__} as {name}\n" if name != value.__name__ else f"import {name}\n"
        elif isinstance(value, FunctionType) and value.__module__ == function.__module__:
            self._add(value)
            if value.__name__ != name:
                self._parts[name] = f"{name} = {value.__name__}\n"
        elif (home := _home(value)) is not None:
            self._parts[name] = f"from {home[0]} import {home[1]} as {name}\n"
        elif _is_plain(value):
            self._parts[name] = f"{name} = {value!r}\n"
        else:
            raise self._wrong(
                function,
                f"uses `{name}`, {type(value).__name__}, which cannot be sent to another process",
                "create it inside the function, or pass it as an input",
            )

    def _wrong(self, function: FunctionType, what: str, hint: str) -> InputError:
        own = self._function.__name__
        via = "" if function is self._function else f", which `{own}` calls,"
        return InputError(f"`{function.__name__}`{via} {what}", hint=hint, slug="user_code")


def _names(code: CodeType, source: str) -> Iterator[str]:
    """Yield the global names that a function reads: when it is called, and when it is defined."""
    definition = ast.parse(source).body[0]
    if isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
        defaults = [*definition.args.defaults, *(one for one in definition.args.kw_defaults if one is not None)]
        for part in (*definition.decorator_list, *defaults):
            yield from (node.id for node in ast.walk(part) if isinstance(node, ast.Name))
    yield from _globals(code)


def _globals(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME") and isinstance(instruction.argval, str):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals(constant)


def _home(value: object) -> tuple[str, str] | None:
    """Return the module and the name that an object can be imported by."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
    if module in (None, MAIN, builtins.__name__) or "." in name or not isinstance(name, str) or not name:
        return None
    return (module, name) if getattr(sys.modules.get(module), name, None) is value else None


def _is_plain(value: object) -> bool:
    """Whether the text of a value is read back as that value."""
    text = repr(value)
    try:
        return len(text) <= LONGEST and bool(ast.literal_eval(text) == value)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
