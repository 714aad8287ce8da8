"""Functions of the tensors of a case: how their arguments are made, and how a candidate's file becomes one."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from opperf.child import backends
from opperf.child.judging.problems import solution
from opperf.child.judging.problems.constants import Program
from opperf.child.worker import code
from opperf.child.worker.code import CodeError, load_file
from opperf.domain.backend import Backend
from opperf.domain.case import Argument, Device, DType, ListOf
from opperf.domain.code import Code
from opperf.domain.errors import InputError
from opperf.domain.files.destination import ScratchFolder
from opperf.domain.problem import Branch, Constant, Slot, Standing, Tree, WrongWeights
from opperf.domain.tensor import TensorSpec


class Function:
    """What is called with the tensors of a case, in the order of its inputs; `owner` has the weights, if any.

    `call` is the function itself wherever the tensors are its arguments as they are: nothing stands between.
    """

    def __init__(self, call: Callable[..., Any], owner: Any = None) -> None:
        self.call, self.owner = call, owner

    def __call__(self, *tensors: Any) -> Any:
        """Return the result for the tensors of a case."""
        return self.call(*tensors)


class Arguments:
    """The arguments of a call taken apart: a tree for each, tensors and other values by name."""

    def __init__(self, is_tensor: Callable[[object], bool]) -> None:
        self._is_tensor = is_tensor
        self.tensors: dict[str, Any] = {}
        self.values: dict[str, Argument] = {}

    def take(self, value: Any, name: str) -> Tree:
        """Return the tree of a value, and note what is in it; raises `InputError` for a value that no case can hold."""
        if self._is_tensor(value):
            if id(value) in map(id, self.tensors.values()):
                return Slot([id(one) for one in self.tensors.values()].index(id(value)))
            self.tensors[name] = value
            return Slot(len(self.tensors) - 1)
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return Branch("dict", tuple(self.take(one, f"{name}.{key}") for key, one in value.items()), tuple(value))
        if type(value) in (list, tuple):
            items = tuple(self.take(one, f"{name}.{i}") for i, one in enumerate(value))
            if all(isinstance(item, Constant) for item in items) and items:  # one value, as `(3, 3)` is
                for i in range(len(items)):
                    self.values.pop(f"{name}.{i}", None)
                plain = tuple(item.value for item in items if isinstance(item, Constant))
                self.values[name] = plain if isinstance(value, tuple) else ListOf(plain)
                return Constant(self.values[name])
            return Branch("list" if isinstance(value, list) else "tuple", items)
        self.values[name] = _constant(value, name)
        return Constant(self.values[name])


def _constant(value: Any, name: str) -> Argument:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    text = str(value).removeprefix("torch.")
    kind = type(value).__name__
    if kind == "dtype":
        return DType(text)
    if kind == "device":
        return Device(text)
    raise InputError(
        f"`{name}` is a value of type `{kind}`, expected tensors, numbers, strings, and lists of them",
        hint="what a problem makes for its candidate travels to another process as data",
        slug="bad_problem",
    )


def bind(
    function: Callable[..., Any], arguments: Sequence[Tree], keywords: Mapping[str, Tree], backend: Backend
) -> Callable[..., Any]:
    """Return the call of a function with arguments made of tensors; the function itself where those are its own."""
    if not keywords and [*arguments] == [Slot(number) for number in range(len(arguments))]:
        return function
    makers = [maker(tree, backend) for tree in arguments]
    named_makers = {name: maker(tree, backend) for name, tree in keywords.items()}

    def call(*tensors: Any) -> Any:
        return function(
            *[make(tensors) for make in makers], **{name: make(tensors) for name, make in named_makers.items()}
        )

    return call


def maker(tree: Tree, backend: Backend) -> Callable[[Sequence[Any]], Any]:
    """Return the function that makes the value of a tree from tensors."""
    if isinstance(tree, Slot):
        return itemgetter(tree.number)
    if isinstance(tree, Constant):
        value = constant(tree.value, backend)
        return (lambda _: list(value)) if isinstance(value, list) else (lambda _: value)
    makers = [maker(item, backend) for item in tree.items]
    if tree.kind == "dict":
        keys = tree.keys
        return lambda tensors: {key: make(tensors) for key, make in zip(keys, makers)}
    kind = list if tree.kind == "list" else tuple
    return lambda tensors: kind(make(tensors) for make in makers)


def constant(value: Argument, backend: Backend) -> Any:
    """Return a value as the framework has it; raises `InputError` for one that is no constant."""
    if isinstance(value, DType):
        return backend.dtype(value.name)
    if isinstance(value, Device):
        return value.name
    if isinstance(value, ListOf):
        return [constant(item, backend) for item in value.items]
    if isinstance(value, tuple):
        return tuple(constant(item, backend) for item in value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise InputError(f"found {type(value).__name__} where a plain value is expected", slug="bad_problem")


def load_candidate(standing: Standing, candidate: Code, folder: Path, backend: Backend) -> Function:
    """Return a candidate, in its own process and nowhere else. Raises `InputError` and `CodeError`."""
    if standing.kind == "gpumode":
        _offer_types()
    place, _, name = candidate.name.rpartition(":")
    path = folder / place
    if path.suffix == ".json":
        return _of_solution(standing, path, backend)
    if standing.kind == "kernelbench" and path.suffix == ".py":
        function = member(with_sizes(standing, path), name, path)
    else:
        function = code.load(candidate, folder)
    # A solution says whether it fills its results; a function without one has parameters for them, or has not.
    fills = bool(standing.results) and len(code.positional(function)) == len(standing.arguments) + len(standing.results)
    return bind_candidate(standing, function, backend, results=standing.results if fills else ())


def with_sizes(standing: Standing, path: Path) -> types.ModuleType:
    """Return a module, whose numbers are scaled where they are those of the problem; raises `CodeError`."""
    if not standing.sizes:
        return load_file(path.name, path.parent)
    program = Program(path)
    scaled = {
        name: standing.sizes[name][1] if standing.sizes.get(name, (None, 0))[0] == value else value
        for name, value in program.constants.items()
    }
    try:
        return program.run(scaled)
    except Exception as error:  # the user's code may raise anything when it is loaded
        raise CodeError(f"cannot load `{path}`: {type(error).__name__}: {error}") from error


def member(module: types.ModuleType, name: str, path: Path) -> Any:
    """Look a name up in a module; raises `CodeError` that says what it has instead."""
    value = getattr(module, name, None)
    if callable(value):
        return value
    others = [own for own, one in vars(module).items() if callable(one) and not own.startswith("_")][:8]
    raise CodeError(f"`{path}` has no `{name}`", hint=f"it has {', '.join(others) or 'no functions'}; call it `{name}`")


def build(standing: Standing, model: Any, backend: Backend) -> Any:
    """Return an object of a class of modules, with the arguments of its constructor; raises what that raises."""
    tools = backends.problem_tools(backend.name)
    with tools.seeded(standing.seed):
        built = model(*(maker(tree, backend)(()) for tree in standing.build or ()))
    return tools.settle(built, standing.dtype, backend.side.device) if tools.is_module(built) else built


def load_weights(function: Function, weights: Mapping[str, Any], backend: Backend) -> None:
    """Put the reference's weights into a candidate; raises `InputError` where names, shapes or types differ."""
    if weights or function.owner is not None:
        tools = backends.problem_tools(backend.name)
        if not tools.is_module(function.owner):
            raise WrongWeights(
                f"the candidate is a {type(function.owner).__name__} without weights, and the reference has some",
                hint="derive its class from `torch.nn.Module`",
            )
        tools.load_state(function.owner, weights)


def bind_candidate(
    standing: Standing, function: Any, backend: Backend, *, results: Sequence[TensorSpec] = ()
) -> Function:
    """Bind a function or a class to a standing: return the function of a case's tensors."""
    if standing.build is not None:
        owner = build(standing, function, backend)
        return Function(bind(owner, standing.arguments, standing.keywords, backend), owner)
    call = bind(function, standing.arguments, standing.keywords, backend)
    if not results:
        return Function(call)
    tools, device = backends.problem_tools(backend.name), backend.side.device
    makers = [maker(tree, backend) for tree in standing.arguments]

    def fill(*tensors: Any) -> Any:
        """Call a function that writes behind its arguments: the results are new in each call, as a returned one is."""
        own = [tools.allocate(spec, device) for spec in results]
        function(*[make(tensors) for make in makers], *own)
        return own[0] if len(own) == 1 else tuple(own)

    return Function(fill)


def _of_solution(standing: Standing, path: Path, backend: Backend) -> Function:
    """Return the function of a solution, whose sources are written where this process alone sees them."""
    parts = solution.read(path)
    folder = ScratchFolder("solution").path  # a stand is killed: the next one removes it
    for name, text in parts.sources.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    sys.path.insert(0, str((folder / parts.file).parent))  # its files import one another
    function = member(load_file(parts.file, folder), parts.function, path)
    return bind_candidate(standing, function, backend, results=standing.results if parts.fills else ())


class _AnyType(types.ModuleType):
    """Stands for the module of types that GPU MODE's candidates import first."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Any


def _offer_types() -> None:
    sys.modules.setdefault("task", _AnyType("task"))
