"""What a program hands over, as an operator that a child finds: a framework's own by name, else code.

A child never imports the program itself, which would run all of it again. So a function of a script, a notebook or a
Python prompt is written to a file, with what it uses: modules, other functions, and plain values. Everything else that
can be called (a module with its weights, a closure, a method, what was compiled) is pickled beside such a file, which
only the same Python loads.
"""

from __future__ import annotations

import ast
import builtins
import dis
import hashlib
import inspect
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import reduce
from keyword import iskeyword
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from opperf.domain.code import MARK
from opperf.domain.errors import InputError
from opperf.domain.files.destination import ensure_private, write_parts, write_text
from opperf.domain.registry import FRAMEWORKS

MAIN = "__main__"
#: The name of a file whose function was not written in one.
NOTEBOOK = "notebook"
#: A value of a longer text is no constant of a function.
LONGEST = 10_000
LAMBDA = "<lambda>"
#: What is pickled lies in a file of this name beside the one that loads it: it is code too, so what is loaded has to be
#: what was written, and another Python or another environment would understand it otherwise or not at all.
PICKLE = "object.pickle"
KEPT_SECONDS = 7 * 24 * 3600
LOADER = '''"""An object that a program gave to opperf, for the Python that ran it."""

import hashlib
import inspect
import sys
from pathlib import Path

if (sys.prefix, tuple(sys.version_info[:3])) != ({prefix!r}, {version!r}):
    raise ImportError("this object was given by another Python ({prefix}), which alone can load it")
_data = Path(__file__).with_name("object.pickle").read_bytes()
if hashlib.sha256(_data).hexdigest() != "{digest}":
    raise ImportError("the object that was given has been changed")

import cloudpickle

{name} = cloudpickle.loads(_data)
if hasattr({name}, "forward"):  # a module of PyTorch takes anything, and what it means is in there
    {name}.__signature__ = inspect.signature({name}.forward)
'''


def operator_text(called: Callable[..., object], folder: Path) -> str:
    """Return the name of what a program hands over; what no file has alone is written below `folder`.

    Raises `InputError` for what no other process can be given.
    """
    return framework_text(called) or code_text(called, folder)


def framework_text(called: Callable[..., object]) -> str | None:
    """Return the name of a framework's own function, found by what it is; None for everything else.

    >>> import numpy
    >>> framework_text(numpy.linalg.norm), framework_text(numpy.add), framework_text(print)
    ('numpy:numpy.linalg.norm', 'numpy:numpy.add', None)
    """
    if type(called).__module__ == "torch._ops":  # an operator of PyTorch's dispatcher, `aten.add.Tensor`
        return f"torch:{str(called).replace('.', '::', 1)}"
    name = getattr(called, "__name__", None)
    if not isinstance(name, str):
        return None
    for framework in FRAMEWORKS.values():
        if framework.name == "null" or ":" in framework.name:
            continue
        homes = [home for home in sys.modules if home == framework.module or home.startswith(f"{framework.module}.")]
        for home in sorted(homes, key=lambda home: (home.count("."), home)):
            if "._" not in home and vars(sys.modules[home]).get(name) is called:
                return f"{framework.name}:{home}.{name}"
    return None


def code_text(called: Callable[..., object], folder: Path) -> str:
    """Return how a function, or anything that can be called, is named as code.

    Raises `InputError` for what cannot be loaded elsewhere.
    """
    function = called if isinstance(called, FunctionType) and called.__name__ != LAMBDA else None
    if function is None:
        return _pickled(called, folder)
    module = sys.modules.get(function.__module__)
    file = getattr(module, "__file__", None) or ""
    if function.__module__ != MAIN and file.endswith(".py") and _resolves(module, function):
        place = function.__module__ if _is_relative(Path(file)) else str(Path(file).resolve())
        return f"{MARK}{place}:{function.__qualname__}"
    try:
        text = _Source(function).text()
    except InputError:  # it uses what no text says
        return _pickled(function, folder)
    stem = Path(file).stem if file.endswith(".py") else NOTEBOOK
    return f"{MARK}{write_source(text, stem, folder)}:{function.__name__}"


def _pickled(called: Callable[..., object], folder: Path) -> str:
    """Return how an object that can be called is named, which lies pickled beside the file that loads it."""
    from cloudpickle import dumps  # type: ignore[import-untyped]

    try:
        data: bytes = dumps(called)
    except Exception as error:  # an object may raise anything when it is pickled
        raise InputError(
            f"`{_name(called)}` cannot be sent to another process: {type(error).__name__}: {error}",
            hint="write it to a file, and name it `file.py:function`; `opperf.time` measures in this process",
            slug="user_code",
        ) from error
    name = _name(called)
    place = folder / "functions" / hashlib.sha256(data).hexdigest()[:16]
    text = LOADER.format(
        digest=hashlib.sha256(data).hexdigest(), name=name, prefix=sys.prefix, version=tuple(sys.version_info[:3])
    )
    _drop_old(place.parent)
    ensure_private(place)
    write_parts(place / PICKLE, (data,))
    write_text(place / f"{name}.py", text)
    return f"{MARK}{place / name}.py:{name}"


def _drop_old(folder: Path) -> None:
    """Remove pickled objects of long ago: weights are large, and no two are pickled alike."""
    for pickled in folder.glob(f"*/{PICKLE}"):
        with suppress(OSError):
            if time.time() - pickled.stat().st_mtime > KEPT_SECONDS:
                shutil.rmtree(pickled.parent)


def _name(called: object) -> str:
    """Return a name for an object in tables: its own, or that of its type.

    >>> from functools import partial
    >>> _name(lambda x: x), _name([].append), _name(partial(print)), _name(print)
    ('function', 'append', 'partial', 'print')
    """
    own = getattr(called, "__name__", type(called).__name__)
    name = own.rpartition(".")[2] if isinstance(own, str) and own != LAMBDA else "function"
    return name if name.isidentifier() and not iskeyword(name) else "function"


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
