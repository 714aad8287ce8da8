"""What the text of a script shows before it runs: the frameworks it imports and the names it defines.

Nothing is imported or run, so that what a script makes of itself while it runs is not known.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from opperf.domain.errors import InputError, unknown
from opperf.domain.profile.watching import WATCHED
from opperf.domain.registry import FRAMEWORKS, LAYER_LIBRARIES, MODULE_LIBRARIES, LayerLibrary, runs_on

MAIN = "__main__"
#: Functions by which a program may bind names that do not stand in its text.
BINDERS = ("exec", "eval", "globals", "setattr", "vars")


def frameworks_of(words: Sequence[str], watched: Sequence[str] = WATCHED) -> tuple[str, ...]:
    """Return the frameworks that a script or module of the current folder imports directly, in order.

    `words` are what Python is given, and `watched` the frameworks that are looked for.
    """
    return imported_frameworks(_text(words), watched)


def imported_frameworks(tree: ast.AST, names: Sequence[str]) -> tuple[str, ...]:
    """Return those of some frameworks that a text imports, in order; else the one that its library of layers runs on.

    >>> imported_frameworks(ast.parse("import keras, numpy"), ["numpy", "jax"])
    ('numpy',)
    >>> imported_frameworks(ast.parse("os.environ['KERAS_BACKEND'] = 'jax'; import keras"), ["torch", "jax"])
    ('jax',)
    """
    owners = {FRAMEWORKS[name].module.partition(".")[0]: name for name in names}
    imports = [*_imports(tree)]
    frameworks = dict.fromkeys(owners[top] for top in imports if top in owners)
    hosts = (_host(tree, LAYER_LIBRARIES[top]) for top in imports if top in LAYER_LIBRARIES)
    return tuple(frameworks or [host for host in hosts if host in names][:1])


def _host(tree: ast.AST, library: LayerLibrary) -> str:
    """Return the framework that a library of layers runs on: by the text, the environment, or the library itself."""
    choices = [os.environ.get(library.variable)]
    for node in ast.walk(tree):
        match node:
            case ast.Assign([ast.Subscript(slice=ast.Constant(library.variable))], ast.Constant(str(host))):
                choices = [host, *choices]
            case ast.Call(args=[ast.Constant(library.variable), ast.Constant(str(host))]):  # of `setdefault`
                choices.append(host)
    return next((host for host in choices if host in library.hosts), library.hosts[0])


def libraries_of(words: Sequence[str], framework: str) -> tuple[str, ...]:
    """Return the libraries of modules or layers that a script imports directly beside a framework, in order."""
    imports = dict.fromkeys(_imports(_text(words)))
    owners = {top: top if top in LAYER_LIBRARIES else MODULE_LIBRARIES.get(top, (None,))[0] for top in imports}
    return tuple(top for top in imports if runs_on(framework, owners[top]))


def _text(words: Sequence[str]) -> ast.AST:
    return _parse(source(words)) or ast.Module([], [])


def _imports(tree: ast.AST) -> Iterator[str]:
    """Yield the packages that a text imports."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        yield from (name.partition(".")[0] for name in names)


def check_function(words: Sequence[str], function: str) -> None:
    """Raise `InputError` if the text of the script, or of the module next to it, has no such function.

    A module that lies elsewhere is not looked for, and a name within a class or an instance is taken as it is.
    """
    module, _, path = function.partition(":")
    own = source(words)
    file = own if module == MAIN else _module(own.parent if words[0] != "-m" else Path(), module)
    tree = None if file is None else _parse(file)
    if tree is None:
        return
    names = set(_bound(tree))
    name = path.partition(".")[0]
    if names & {name, "*", "__getattr__"}:
        return
    functions = sorted(_functions(tree))
    error = unknown("function", name, functions, hint=f"it has {', '.join(functions[:8]) or 'none'}")
    raise InputError(f"`{file}` has {error.message}, which `--function` names", hint=error.hint, slug=error.slug)


def source(words: Sequence[str]) -> Path:
    """Return the file that Python runs first."""
    if words[0] != "-m":
        return Path(words[0])
    place = Path(*words[1].split("."))
    return place / "__main__.py" if place.is_dir() else place.with_suffix(".py")


def _module(folder: Path, name: str) -> Path | None:
    place = folder.joinpath(*name.split("."))
    files = (place / "__init__.py", place.with_name(f"{place.name}.py"))
    return next((file for file in files if file.is_file()), None)


def _parse(file: Path) -> ast.Module | None:
    """Return the text of a file as Python reads it; None for errors that Python itself will report."""
    try:
        return ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _bound(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a module may bind; `*` where it may bind any."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Name) and node.id in BINDERS:
            yield "*"
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        if isinstance(node, ast.ClassDef):  # what it binds is its own
            continue
        waiting += ast.iter_child_nodes(node)


def _functions(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
