"""The user's own code: a function of a module or a file, named on the command line, loaded in the child alone."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType, ModuleType

from opperf.catalog import Operator, catalog
from opperf.child import backends
from opperf.child.backends.binding import Call, Parameter
from opperf.child.worker import signature
from opperf.domain.backend import Backend, Unsupported
from opperf.domain.case import Argument, Case
from opperf.domain.code import Code
from opperf.domain.custom import Declaration, declaration_of
from opperf.domain.errors import InputError
from opperf.domain.plan import Side
from opperf.domain.reason import Reason
from opperf.domain.registry import ARRAY_API, FRAMEWORK, FRAMEWORKS, Framework, array_library, is_argument, register
from opperf.domain.tensor import TensorSpec
from opperf.domain.tensor_text import is_tensor_text, read_tensor

#: The folders that packages are installed into.
INSTALLED = ("site-packages", "dist-packages")


class CodeError(InputError):
    """The user's code cannot be loaded, or says of itself what cannot be."""


class FatalImport(CodeError):
    """A file has ended a process that imported it, for a `reason`."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.message, hint=reason.hint, slug=reason.slug)
        self.reason = reason


class Plugins:
    """The files of a command's own operators, looked for in `folder` and all loaded on demand."""

    def __init__(self, folder: Path, paths: Sequence[str]) -> None:
        self._folder = folder
        self._ahead = list(paths)

    def load(self) -> bool:
        """Load those that are not loaded, and say whether there were any; raises `CodeError`."""
        had = bool(self._ahead)
        while self._ahead:
            load_file(self._ahead[0], self._folder)
            self._ahead.pop(0)
        return had


def load(code: Code, folder: Path) -> Callable[..., object]:
    """Return the user's function; raises `CodeError`.

    Modules and files are looked for in `folder`, the one in which the command was given; a file imports what lies
    beside it, as a script does.
    """
    place, _, name = code.name.rpartition(":")
    try:
        module = _file(folder / place) if place.endswith(".py") else _module(place, folder)
        function = reduce(getattr, name.split("."), module)
    except AttributeError as error:
        raise CodeError(f"`{place}` has no `{name}`", hint=f"it has {', '.join(_functions(module))}") from error
    except Exception as error:  # the user's code may raise anything when it is loaded
        if isinstance(error, FileNotFoundError) and not (folder / place).exists():
            raise CodeError(f"there is no file `{place}`") from error
        raise CodeError(f"cannot load `{place}`: {type(error).__name__}: {error}", hint=_missing(error)) from error
    if not callable(function):
        raise CodeError(f"`{place}:{name}` is {type(function).__name__}, expected a function")
    return function


def load_file(path: str, folder: Path) -> ModuleType:
    """Load a file of the user's, which registers what is in it, and return it; raises `CodeError`."""
    try:
        return _file(folder / path)
    except Exception as error:  # as above
        if isinstance(error, FileNotFoundError) and not (folder / path).exists():
            raise CodeError(f"there is no file `{path}`") from error
        raise CodeError(f"cannot load `{path}`: {type(error).__name__}: {error}") from error


def start_backend(side: Side, folder: Path, plugins: Sequence[str]) -> Backend:
    """Return the backend of a side: opperf's own, or that of the plugin that brings the framework.

    Raises `CodeError` where no plugin does.
    """
    kind, _, library = side.framework.partition(":")
    if kind == ARRAY_API and side.framework not in FRAMEWORKS:  # a library that the user named
        register(array_library(library))
    if side.framework in FRAMEWORKS:
        return backends.start(side)
    for path in plugins:
        module = load_file(path, folder)
        own = getattr(module, FRAMEWORK, None)
        if isinstance(own, Framework) and own.name == side.framework:
            register(own)
            return backends.start_from(module.__name__, side)
    raise CodeError(f"no plugin provides the framework `{side.framework}`", hint="name its file with `--plugin`")


def _missing(error: Exception) -> str | None:
    """Return the remedy for code that imports a module which this side does not have."""
    if not isinstance(error, ModuleNotFoundError):
        return None
    elsewhere = "opperf looks in the current folder and runs it where `--framework` or `--environment` says"
    owners = (f"`--framework {own.name}`" for own in FRAMEWORKS.values() if own.module == error.name)
    return next(owners, elsewhere)


def _file(path: Path) -> ModuleType:
    """Return the module that a file is; what lies beside it can be imported, ahead of packages that are installed."""
    beside = str(path.parent)
    if beside not in sys.path:
        # Behind the standard library, whose modules a `types.py` of the user's must not replace.
        places = (i for i, place in enumerate(sys.path) if Path(place).name in INSTALLED)
        sys.path.insert(next(places, len(sys.path)), beside)
    return backends.load_plugin(path)


def _module(name: str, folder: Path) -> object:
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    return importlib.import_module(name)


def _functions(module: object) -> list[str]:
    return [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")][:8]


def neutral_names(
    function: Callable[..., object],
    declaration: Declaration,
    operator: Operator | None = None,
    own_names: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, str]:
    """Return the neutral name of each parameter that an operator's case fills, in order; raises `CodeError`.

    Where the declaration does not say, a parameter that is called like an argument of the operator is that one, and
    the others without a default take the operator's inputs in order. `operator` is what a function computes that is
    declared for none, and `own_names` are what its framework calls the arguments: `dim` for `axis`.
    """
    definition = _definition(declaration) or operator
    if definition is None:
        return {}
    names_taken = (*definition.inputs, *definition.attributes)
    if declaration.arguments:
        for name, neutral in declaration.arguments.items():
            if neutral not in names_taken:
                raise CodeError(
                    f"`{name}` is declared as `{neutral}`, which `{definition.name}` does not take",
                    hint=f"it takes {', '.join(names_taken)}",
                )
        return dict(declaration.arguments)
    words = {own: neutral for own, neutral in own_names.items() if neutral in names_taken}
    words |= {name: name for name in names_taken}
    parameters = [one for one in _parameters(function) if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    keywords = {words[parameter.name] for parameter in parameters if parameter.name in words}
    inputs = iter([name for name in definition.inputs if name not in keywords])
    names: dict[str, str] = {}
    for parameter in parameters:
        if parameter.name in words:
            names[parameter.name] = words[parameter.name]
        elif parameter.default is parameter.empty:
            neutral = next(inputs, "")
            if not neutral:
                raise CodeError(
                    f"no argument of `{definition.name}` matches the parameter `{parameter.name}`",
                    hint="declare it: `@opperf.operator(implements=..., arguments={...})`",
                )
            names[parameter.name] = neutral
    return names


def _definition(declaration: Declaration) -> Operator | None:
    if declaration.implements is None:
        return None
    if declaration.implements not in catalog():
        raise CodeError(f"no operator `{declaration.implements}` to implement", hint="`opperf operators`")
    return catalog()[declaration.implements]


def positional(function: Callable[..., object]) -> list[inspect.Parameter]:
    """Return the parameters that can be given by position; an object of C code may tell none."""
    return [one for one in _parameters(function) if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]


def _parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def call(
    code: Code,
    function: Callable[..., object],
    case: Case,
    framework: str,
    own_names: Mapping[str, str] = MappingProxyType({}),
) -> Call:
    """Return how a case calls the function. Raises `Unsupported` for a framework or an attribute that it does not take.

    A function that implements an operator gets the operator's arguments by position, under `own_names` of the framework
    too; one that does not say which it takes gets the inputs. An attribute that it does not take must have the value of
    the operator's own cases, since it can only compute that.
    """
    declaration = declaration_of(function)
    if declaration.frameworks and framework not in declaration.frameworks:
        raise Unsupported(
            f"`{code.name}` is declared for {', '.join(declaration.frameworks)}, not {framework}",
            slug="other_framework",
        )
    definition = _definition(declaration) or catalog().get(case.operator)
    names = neutral_names(function, declaration, definition, own_names)
    names = names or _by_place(function, case if definition is None else replace(case, attributes={}))
    if definition is not None:
        usual = definition.case("common")
        for name, value in case.attributes.items():
            if name not in names.values() and value != usual.get(name):
                raise Unsupported(
                    f"`{code.name}` takes no `{name}`, and computes `{name}={usual.get(name)}`",
                    slug="no_such_attribute",
                )
    present = {*case.inputs, *case.attributes}
    arguments = {own: Parameter(own, neutral=neutral) for own, neutral in names.items() if neutral in present}
    parameters, by_place = _parameters(function), [parameter.name for parameter in positional(function)]
    takes_any = not by_place and (not parameters or any(one.kind is one.VAR_POSITIONAL for one in parameters))
    order = list(arguments) if takes_any else by_place
    leading = list(takewhile(arguments.__contains__, order))
    rest = tuple(parameter for own, parameter in arguments.items() if own not in leading)
    changes = (names[own] for own in mutates(function) if own in names)
    places = tuple(arguments[own] for own in leading)
    return Call(str(code), places, rest, function=function, mutates=tuple(changes))


def mutates(function: Callable[..., object]) -> tuple[str, ...]:
    """Return the parameters that a function is declared to change; raises `CodeError` for one that it has not."""
    declared, names = declaration_of(function).mutates, signature.parameters_of(function)
    for name in declared:
        if names is not None and name not in names:
            raise CodeError(
                f"`mutates` names `{name}`, which the function does not take", hint=f"it takes {', '.join(names)}"
            )
    return declared


def _by_place(function: Callable[..., object], case: Case) -> dict[str, str]:
    """Return the names of a function's parameters in a case that was made for another function, or for it.

    Inputs that it has no parameters for are taken in order by those that the case has no inputs for.
    """
    names = [name for name in (*case.inputs, *case.attributes) if is_argument(name)]
    parameters = [parameter.name for parameter in positional(function)]
    free = [name for name in parameters if name not in names]
    other = [name for name in case.inputs if name not in parameters]
    places = dict(zip(other, free)) if len(other) <= len(free) else {}
    return {places.get(name, name): name for name in names}


def examples(code: Code, function: Callable[..., object], size: str) -> list[Case]:
    """Return the case of a size class as the function's declaration has it, if it has one."""
    arguments = declaration_of(function).sizes.get(size)
    if arguments is None:
        return []
    read = {name: _argument(value) for name, value in arguments.items()}
    tensors = {name: value for name, value in read.items() if isinstance(value, TensorSpec)}
    return [Case(str(code), tensors, {name: value for name, value in read.items() if name not in tensors})]


def _argument(value: object) -> Argument:
    """Return a declared value: whole numbers in brackets are the shape of a tensor, and `9:int64:range=0..8` is one."""
    if isinstance(value, (list, tuple)) and all(isinstance(size, int) for size in value):
        return TensorSpec(tuple(value))
    if isinstance(value, str) and is_tensor_text(value):
        return read_tensor(value, None, "a declared argument")
    if value is None or isinstance(value, (TensorSpec, bool, int, float, str)):
        return value
    raise CodeError(f"a declared argument is {value!r}, expected a shape, an `opperf.TensorSpec`, a number or a string")


def flop_count(function: Callable[..., object], case: Case) -> int | None:
    """Return the declared floating-point operations of one call; None where nothing is declared."""
    flops = declaration_of(function).flops
    if flops is None:
        return None
    values: Mapping[str, object] = {**case.inputs, **case.attributes}
    shapes = {name: value.shape if isinstance(value, TensorSpec) else value for name, value in values.items()}
    try:
        return int(flops(**shapes))
    except Exception as error:
        raise CodeError(f"the declared `flops` raised {type(error).__name__}: {error}") from error
