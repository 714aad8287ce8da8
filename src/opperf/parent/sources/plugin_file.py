"""A plugin: a file of the user's own operators, iterators and data generators, read without running it.

Packages installed next to opperf may name such a file as an entry point of the group `opperf.plugins`; those
are searched for an operator that nothing else has.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from opperf.catalog import is_known
from opperf.domain.code import Code
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.text_file import read_text
from opperf.domain.profile.watching import WATCHER
from opperf.domain.registry import (
    ARRAY_API,
    FRAMEWORK,
    FRAMEWORKS,
    PRESETS,
    REAL_FRAMEWORKS,
    Framework,
    array_library,
    register,
)
from opperf.param.config import Workloads
from opperf.param.grammar import GENERATORS, ITERATORS
from opperf.param.names import Meaning
from opperf.parent.sources.installed_plugins import installed_plugins, module_file
from opperf.parent.sources.script_text import imported_frameworks

#: The functions that register something for PARAM's configs.
ITERATOR, GENERATOR = "register_config_iterator", "register_data_generator"


@dataclass(frozen=True)
class DeclaredOperator:
    """A function that a file declares as an operator: how it is named as code, and what can be read of it."""

    code: Code
    arguments: tuple[str, ...]
    summary: str


def plugin_file(path: Path) -> Path:
    """Return the file of a plugin, which may be named as a module here or where Python looks; raises `InputError`.

    >>> plugin_file(Path("mine.py")).name
    'mine.py'
    """
    name = str(path)
    if path.suffix == ".py" or not all(word.isidentifier() for word in name.split(".")):
        return path
    return module_file(name, [str(Path.cwd()), *sys.path])


def declared_operators(path: Path) -> dict[str, DeclaredOperator]:
    """Return the functions of a Python file that `@opperf.operator(...)` stands above, by name; raises `InputError`.

    Nothing in the file is run: that happens in the children that measure it.
    """
    functions = [node for node in _tree(path).body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return {
        function.name: DeclaredOperator(
            code=Code(f"{path}:{function.name}"),
            arguments=tuple(argument.arg for argument in (*function.args.posonlyargs, *function.args.args)),
            summary=(ast.get_docstring(function) or "").partition("\n")[0],
        )
        for function in functions
        if any(map(_declares, function.decorator_list))
    }


def _tree(path: Path) -> ast.Module:
    """Parse a file of Python; raises `InputError`."""
    text = read_text(path)
    try:
        return ast.parse(text, str(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # too many brackets take "memory"
        raise InputError(f"{path}: not Python ({str(error) or type(error).__name__})", slug="user_code") from error


def framework_of(code: Code) -> str | None:
    """Return the framework that a function is declared for, else the one that its file imports; None for neither.

    One that imports NumPy and another framework belongs to the other, one that imports Keras alone to what it runs on.
    Raises `InputError` for a file that is not there.
    """
    place, _, name = code.name.rpartition(":")
    tree = _tree(plugin_file(Path(place)))
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.name == name.rpartition(".")[2]:
            calls = [one for one in function.decorator_list if isinstance(one, ast.Call) and _declares(one)]
            words = [word.value for call in calls for word in call.keywords if word.arg == "framework"]
            if words and isinstance(words[0], ast.Constant) and words[0].value in FRAMEWORKS:
                return str(words[0].value)
    others = [name for name in REAL_FRAMEWORKS if name != "numpy"]
    return next(iter((*imported_frameworks(tree, others), *imported_frameworks(tree, ["numpy"]))), None)


def register_frameworks(
    plugins: Sequence[Path], names: Iterable[str], note: Callable[[str], None] = warnings.warn
) -> list[Path]:
    """Make the frameworks known that plugins bring; return the plugins, with installed ones that bring further `names`.

    A name such as `array_api:mylib` is an array library of the user's own.

    A framework is declared in the file as `FRAMEWORK = Framework(...)`, with constants only: nothing is run. Raises
    `InputError` for an unreadable declaration, and for a name that is taken.
    """
    for path in plugins:
        framework = declared_framework(path)
        if framework is not None:
            register(framework)
    result = list(plugins)
    missing = {name for name in names if name not in FRAMEWORKS}
    for name in missing:
        kind, _, module = name.partition(":")
        if kind == ARRAY_API and all(word.isidentifier() for word in module.split(".")):
            register(array_library(module))
    for path in installed_plugins(note).values() if missing else ():
        framework = declared_framework(path)
        if framework is not None and framework.name in missing:
            register(framework)
            result.append(path)
    return result


def declared_framework(path: Path) -> Framework | None:
    """Return the framework that a plugin says it brings, None for none; raises `InputError`."""
    for node in _tree(path).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [FRAMEWORK]:
            try:
                if not isinstance(node.value, ast.Call):
                    raise ValueError("not a call")
                words = {word.arg or "": ast.literal_eval(word.value) for word in node.value.keywords}
                return Framework(*map(ast.literal_eval, node.value.args), **words)
            except (TypeError, ValueError) as error:
                raise InputError(
                    f"{path}: line {node.lineno}: cannot read what `{FRAMEWORK}` is ({error})",
                    hint='write `FRAMEWORK = Framework("mlx", ...)` with constants only',
                    slug="user_code",
                ) from error
    return None


def watched_frameworks(plugins: Sequence[Path]) -> tuple[str, ...]:
    """Return the frameworks that plugins bring with a profiler; raises `InputError` for a plugin without one."""
    result = []
    for path in plugins:
        framework = declared_framework(path)
        if framework is None or not any(
            isinstance(node, ast.ClassDef) and node.name == WATCHER for node in _tree(path).body
        ):
            raise InputError(
                f"{path} defines no framework whose operators can be profiled",
                hint=f"write `{FRAMEWORK} = Framework(...)` and a class `{WATCHER}` in it",
                slug="no_profiler",
            )
        result.append(framework.name)
    return tuple(result)


def _declares(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and _call(decorator) == "operator"


def _call(call: ast.Call) -> str:
    """Return the name of the called function, without its module."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def workloads(
    plugins: Sequence[Path], *, installed: bool = False, note: Callable[[str], None] = warnings.warn
) -> Workloads:
    """Return the iterators and data generators that plugins register, by the names that their calls give.

    With them, the functions that plugins declare as operators. `installed` says that installed plugins count too;
    `note` takes a line on each of these that cannot be used. Raises `InputError` for a name that is taken.
    """
    result = Workloads()
    for path in plugins:
        result = _more(result, path)
        result = result if path in result.plugins else replace(result, plugins=(*result.plugins, path))
    for plugin, path in installed_plugins(note).items() if installed else ():
        try:
            result = _more(result, path)
        except InputError as error:
            note(f"plugin `{plugin}` is left out: {error.message}")
    return result


def _more(workloads: Workloads, path: Path) -> Workloads:
    """Add what another plugin registers and declares; of two declarations of a name the first stays."""
    if path in workloads.plugins:
        return workloads
    declarations = declared_operators(path).items()
    operators = {
        name: Meaning(None, one.code.name, one.arguments, one.code) for name, one in declarations if not is_known(name)
    }
    workloads = replace(workloads, operators={**operators, **workloads.operators})
    names = _registered(path)
    for name in (*names[ITERATOR], *names[GENERATOR]):
        if name in (*ITERATORS, *GENERATORS, *workloads.iterators, *workloads.generators):
            raise InputError(
                f"{path} registers `{name}`, which is already registered",
                hint="register it under another name",
                slug="user_code",
            )
    if not any(names.values()):
        return workloads
    return replace(
        workloads,
        iterators=(*workloads.iterators, *names[ITERATOR]),
        generators=(*workloads.generators, *names[GENERATOR]),
        plugins=(*workloads.plugins, path),
    )


def _registered(path: Path) -> dict[str, list[str]]:
    """Return the names that a file registers, by the function that it calls."""
    calls = [node for node in ast.walk(_tree(path)) if isinstance(node, ast.Call) and node.args]
    names: dict[str, list[str]] = {ITERATOR: [], GENERATOR: []}
    for call in calls:
        name = call.args[0].value if isinstance(call.args[0], ast.Constant) else None
        if _call(call) in names and isinstance(name, str):
            names[_call(call)].append(name)
    return names


def declared_code(plugins: Sequence[Path]) -> tuple[Code, ...]:
    """Return the functions that plugins declare; files may have their names, and only then."""
    return tuple(operator.code for path in plugins for operator in declared_operators(path).values())


def named_side(text: str, plugins: Sequence[Path]) -> str:
    """Return a side with the function that one of the user's plugins declares under its name; other sides as they are.

    Raises `InputError` for a file that is no plugin.
    """
    name, semicolon, settings = text.partition(";")
    if name.strip() in PRESETS or not name.strip().isidentifier():
        return text
    own = (declared_operators(path).get(name.strip()) for path in plugins)
    code = next((one.code.name for one in own if one is not None), name)
    return code + semicolon + settings


def with_plugins(
    operators: Sequence[str | Code],
    plugins: Sequence[Path],
    *,
    others: bool,
    note: Callable[[str], None] = warnings.warn,
) -> tuple[str | Code, ...]:
    """Return operators with those that plugins declare named as code; with no `others` named, all of them.

    A name that neither the catalog nor a plugin has is looked for in the plugins that are installed; `note` takes a
    line on each of them that cannot be used. Raises `InputError` for a plugin that declares nothing where nothing else
    is named, which it may register with its framework, and for a name that two of them declare.
    """
    for name in operators:
        if isinstance(name, str) and name.endswith(".py"):
            raise _file_alone(name)
    result: dict[str, DeclaredOperator] = {}
    for path in plugins:
        for name, operator in (declared_operators(path) if operators or others else _require_operators(path)).items():
            if name in result:
                other = result[name].code.name.rpartition(":")[0]
                raise InputError(f"`{name}` is declared in {other} and in {path}", hint="rename one of them")
            result[name] = operator
    if not operators and not others:
        return tuple(operator.code for operator in result.values())
    names = [name for name in operators if isinstance(name, str)]
    if any(name.isidentifier() and name not in result and not is_known(name) for name in names):
        result = {**installed_operators(note), **result}
    return tuple(result[name].code if isinstance(name, str) and name in result else name for name in operators)


def _file_alone(name: str) -> InputError:
    """Say what a file declares that is named in place of a function in it; raises `InputError` for no such file."""
    declarations = list(declared_operators(Path(name)))
    functions = [node.name for node in _tree(Path(name)).body if isinstance(node, ast.FunctionDef)]
    names = declarations or [one for one in functions if not one.startswith("_")]
    hint = f"name one of {', '.join(f'`{name}:{one}`' for one in names[:8])}" if names else "put a function in it"
    hint += f"; or measure all that it declares: `--plugin {name}`" if declarations else ""
    return InputError(f"`{name}` is a file, expected a function in it", hint=hint, slug="user_code")


def operators_of(plugins: Sequence[Path], note: Callable[[str], None] = warnings.warn) -> list[str]:
    """Return the names of the operators that plugins declare, those that are installed too."""
    names = [name for path in plugins for name in declared_operators(plugin_file(path))]
    return [*names, *installed_operators(note)]


def installed_operators(note: Callable[[str], None]) -> Mapping[str, DeclaredOperator]:
    """Return the operators that installed plugins declare, by name.

    `note` takes a line on each plugin that cannot be used, and on each operator whose name is taken.
    """
    result: dict[str, DeclaredOperator] = {}
    for plugin, path in installed_plugins(note).items():
        try:
            operators = _require_operators(path)
        except InputError as error:
            note(f"plugin `{plugin}` is left out: {error.message}")
            continue
        for name, operator in operators.items():
            if name in result or is_known(name):
                note(f"plugin `{plugin}`: another operator is called `{name}`; call this one `{operator.code.name}`")
            else:
                result[name] = operator
    return result


def operators_or_framework(path: Path) -> dict[str, DeclaredOperator]:
    """Return the operators that a file declares, none for one that brings a framework; raises `InputError`."""
    return _require_operators(path) if declared_framework(path) is None else declared_operators(path)


def _require_operators(path: Path) -> dict[str, DeclaredOperator]:
    """Return the operators that a file declares; raises `InputError` when it declares nothing at all."""
    operators = declared_operators(path)
    if not operators and not any(_registered(path).values()):
        raise InputError(
            f"{path} declares no operator", hint="put `@opperf.operator(...)` above a function", slug="user_code"
        )
    return operators
