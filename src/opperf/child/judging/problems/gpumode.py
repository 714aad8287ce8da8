"""GPU MODE: a folder with `task.yml`, and `reference.py` with `ref_kernel` and `generate_input`.

The candidate's file has `custom_kernel(data)`. References of the format are written for GPUs: where there is none,
`cuda` becomes `cpu` in their source as it is read. Nothing is written.
"""

from __future__ import annotations

import ast
import inspect
import math
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from opperf.child import backends
from opperf.child.judging.problems import scale
from opperf.child.judging.problems.function_problem import Entry, Form, FunctionProblem
from opperf.child.judging.problems.functions import Arguments
from opperf.child.judging.problems.problem import MISSING_HINT
from opperf.child.judging.problems.task_file import read_task
from opperf.domain.backend import Backend
from opperf.domain.case import Case
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.text_file import read_text
from opperf.domain.problem import Standing
from opperf.domain.registry import BUILD_PREFIX

PARTS = ("ref_kernel", "generate_input")
SUBMISSION, SEED = "@SUBMISSION@", "seed"
#: Inputs of a spec that is so many times larger than another's are not made to see whether they fit.
CLEARLY_LARGER = 4


def open_gpumode(path: Path, name: str, backend: Backend, budget: int) -> FunctionProblem:
    """Return the problem of a task's folder; raises `InputError`."""
    task = read_task(path / "task.yml")
    tools = backends.problem_tools(backend.name)
    sources = Sources(path, task["files"], to_cpu=not tools.has_gpu())
    module = sources.load("reference")
    for part in PARTS:
        if not callable(getattr(module, part, None)):
            raise InputError(f"{path / 'reference.py'}: no `{part}`", hint=f"a task has {', '.join(PARTS)}")
    return _Reader(module, task, name, backend, budget).problem(sources.notes())


def load_reference(path: Path, standing: Standing, backend: Backend) -> Callable[..., Any]:
    """Return the task's `ref_kernel`."""
    files = read_task(path / "task.yml")["files"]
    module = Sources(path, files, to_cpu=not backends.problem_tools(backend.name).has_gpu()).load("reference")
    function: Callable[..., Any] = module.ref_kernel
    return function


class Sources:
    """The modules of a task, by the names that its references import them by."""

    def __init__(self, folder: Path, files: Sequence[Mapping[str, Any]], *, to_cpu: bool) -> None:
        """Take the files that the task lists, which lie in its folder or in the one that has all tasks."""
        self._to_cpu, self._rewritten = to_cpu, 0
        self._paths = {"reference": folder / "reference.py"}
        for entry in files:
            name, source = str(entry.get("name", "")), str(entry.get("source", ""))
            place = (folder / source).resolve()
            if source == SUBMISSION or not name.endswith(".py"):
                continue
            if not place.is_relative_to(folder.resolve().parent.parent):
                raise InputError(f"{folder / 'task.yml'}: files: found `{source}`, expected a file beside the task")
            self._paths[name.removesuffix(".py")] = place

    def load(self, name: str) -> types.ModuleType:
        """Return a module; what it imports of the task is loaded too. Raises `InputError`."""
        with self._importable():
            try:
                return self._module(name)
            except InputError:
                raise
            except Exception as error:  # the problem's code may raise anything
                missing = isinstance(error, ModuleNotFoundError) and error.name
                raise InputError(
                    f"{self._paths[name]}: {type(error).__name__}: {error}",
                    hint=MISSING_HINT.format(missing) if missing else None,
                    slug="bad_problem",
                ) from error

    def notes(self) -> list[str]:
        """Return in words what was rewritten."""
        return [f"no GPU: `cuda` became `cpu` in {self._rewritten} places of its files"] if self._rewritten else []

    def _module(self, name: str) -> types.ModuleType:
        path = self._paths[name]
        try:
            tree = ast.parse(read_text(path), str(path))
        except SyntaxError as error:
            raise InputError(f"{path}: not Python ({error})", slug="bad_problem") from error
        if self._to_cpu:
            rewriter = _ToCPU()
            tree = ast.fix_missing_locations(rewriter.visit(tree))
            self._rewritten += rewriter.count
        module = types.ModuleType(name)
        module.__file__ = str(path)
        sys.modules[name] = module
        exec(compile(tree, str(path), "exec"), vars(module))
        return module

    @contextmanager
    def _importable(self) -> Iterator[None]:
        """Let imports find the task's modules, and no others by their names afterwards."""
        before = {name: sys.modules.pop(name) for name in self._paths if name in sys.modules}
        sys.meta_path.insert(0, self)
        try:
            yield
        finally:
            sys.meta_path.remove(self)
            for name in self._paths:
                sys.modules.pop(name, None)
            sys.modules.update(before)

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:  # of importlib
        """Return how a module of the task is found."""
        from importlib.machinery import ModuleSpec

        return ModuleSpec(name, self) if name in self._paths and self._paths[name].is_file() else None  # type: ignore[arg-type]  # it has what a loader needs

    def create_module(self, spec: Any) -> types.ModuleType:
        """Return a module of the task, for an import."""
        return self._module(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Do nothing more: it ran as it was made."""


class _ToCPU(ast.NodeTransformer):
    """Writes `cpu` for `cuda`, and leaves out waits for a GPU."""

    def __init__(self) -> None:
        self.count = 0

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """Change the name of a device."""
        text = node.value
        if isinstance(text, str) and (text == "cuda" or (text.startswith("cuda:") and text[5:].isdigit())):
            self.count += 1
            return ast.copy_location(ast.Constant("cpu"), node)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        """Leave out a statement that calls `torch.cuda`, as `torch.cuda.synchronize()`."""
        if isinstance(node.value, ast.Call) and ast.unparse(node.value.func).startswith("torch.cuda."):
            self.count += 1
            return ast.copy_location(ast.Pass(), node)
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Change `x.cuda()`."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "cuda":
            self.count += 1
            node.func.attr, node.args, node.keywords = "cpu", [], []
        return node


@dataclass(frozen=True)
class _Spec:
    """The arguments of `generate_input` but its seed, and their product, which says which is the larger one."""

    values: Mapping[str, Any]

    @property
    def sizes(self) -> dict[str, int]:
        return {name: value for name, value in self.values.items() if type(value) is int and name != SEED}

    @property
    def product(self) -> int:
        return math.prod(max(value, 1) for value in self.sizes.values())


class _Reader:
    """Makes cases of the specs of a task."""

    def __init__(
        self,
        module: types.ModuleType,
        task: Mapping[str, list[dict[str, Any]]],
        name: str,
        backend: Backend,
        budget: int,
    ) -> None:
        self._module, self._name = module, name
        self._backend, self._budget = backend, budget
        self._tools = backends.problem_tools(backend.name)
        self._benchmarks = [_Spec(one) for one in task["benchmarks"]]
        self._tests = [_Spec(one) for one in task["tests"]]
        parameters = inspect.signature(module.generate_input).parameters
        self._takes_seed = SEED in parameters

    def problem(self, notes: list[str]) -> FunctionProblem:
        """Return the problem with the specs that fit: the largest benchmark first, tests last."""
        specs = sorted(self._benchmarks, key=lambda spec: spec.product)
        if not specs and not self._tests:
            raise InputError(f"{self._name}: no tests and no benchmarks in `task.yml`")
        tests = self._fitting(sorted(self._tests, key=lambda spec: spec.product), None)
        entries = self._fitting(specs, tests[-1] if tests else None)
        if len(entries) < len(specs):
            notes.append(f"{len(specs) - len(entries)} of {len(specs)} benchmarks are over the budget, left out")
        entries = [*reversed(entries), *reversed(tests)]
        if not entries:
            raise InputError(
                f"{self._name}: no test or benchmark takes {self._budget} bytes or less", hint="give a larger budget"
            )
        form = Form("gpumode", self._module.ref_kernel)
        largest = entries[0][0]
        return FunctionProblem(
            self._name,
            self._backend,
            form,
            [entry for _, entry in entries],
            lambda: list(self._neighbours(largest)),
            notes,
        )

    def _fitting(self, specs: Sequence[_Spec], before: tuple[_Spec, Entry] | None) -> list[tuple[_Spec, Entry]]:
        """Return the entries of specs that fit, from the smallest on; clearly larger ones are not even made.

        What one takes is guessed from the entry `before` the first.
        """
        entries: list[tuple[_Spec, Entry]] = []
        for spec in specs:
            if before is not None:
                last, entry = before
                guess = entry.case.input_bytes * spec.product / max(last.product, 1)
                if guess > CLEARLY_LARGER * self._budget:
                    break
            entry = self._entry(spec)
            if entry.case.input_bytes <= self._budget:
                before = spec, entry
                entries.append(before)
        return entries

    def _neighbours(self, spec: _Spec) -> Iterator[Entry]:
        """Yield entries of undisclosed sizes near a spec, which the reference takes."""

        def weigh(sizes: scale.Sizes) -> scale.Weight | None:
            try:
                entry = self._entry(_Spec({**spec.values, **sizes}))
            except InputError:
                return None
            shapes = repr([one.shape for one in entry.case.tensors()])
            return scale.Weight(entry.case.input_bytes, 0, "", shapes)

        for sizes in scale.neighbours(spec.sizes, weigh, self._budget):
            other = _Spec({**spec.values, **sizes})
            if self._runs(other):
                yield self._entry(other)

    def _runs(self, spec: _Spec) -> bool:
        """Whether the reference takes a spec."""
        try:
            self._tools.call_without_gradients(self._module.ref_kernel, self._data(spec, 0))
        except Exception:  # the task's code may raise anything at sizes that it was not written for
            return False
        return True

    def _data(self, spec: _Spec, seed: int) -> Any:
        values = {**spec.values, **({SEED: seed} if self._takes_seed else {})}
        return self._module.generate_input(**values)

    def _entry(self, spec: _Spec) -> Entry:
        contents = Arguments(self._tools.is_tensor)
        with self._tools.seeded(0), self._tools.Origins() as origins:
            try:
                data = self._data(spec, 0)
            except Exception as error:  # as above
                raise InputError(f"{self._name}: `generate_input` raised {type(error).__name__}: {error}") from error
        tree = contents.take(data, "data")
        tensors = contents.tensors
        outputs = tuple(name for name, tensor in tensors.items() if origins.is_empty(tensor))
        describe = self._tools.shape_of
        specs = {
            name: origins.description(tensor) if name in outputs else describe(tensor)
            for name, tensor in tensors.items()
        }
        arguments = {f"{BUILD_PREFIX}{name}": _argument(value) for name, value in spec.values.items() if name != SEED}

        def draw(seed: int) -> Sequence[Any]:
            own = Arguments(self._tools.is_tensor)
            own.take(self._data(spec, seed), "data")
            return list(own.tensors.values())

        return Entry(Case(self._name, specs, {**contents.values, **arguments}), (tree,), draw=draw, outputs=outputs)


def _argument(value: Any) -> Any:
    return tuple(map(_argument, value)) if isinstance(value, list) else value
