"""FlashInfer-Bench and SOL-ExecBench: a definition with its reference, and workloads, in JSON.

    flashinfer:rmsnorm/definition.json    its workloads are in `workload.jsonl` beside it
    flashinfer:rmsnorm                    the same
    flashinfer:traces/definitions/gemm/gemm_n4096.json    and in `traces/workloads/gemm/gemm_n4096.jsonl`

The candidate is a `solution.json`, or a file of Python with `run`.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from opperf.child import backends
from opperf.child.judging.problems import safetensors, scale
from opperf.child.judging.problems.definition import Definition, Workload, read_definition, read_workloads
from opperf.child.judging.problems.function_problem import Entry, Form, FunctionProblem
from opperf.child.judging.problems.functions import Arguments
from opperf.child.worker import inputs
from opperf.domain.backend import Backend
from opperf.domain.case import Argument, Case
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import show
from opperf.domain.problem import Constant, Slot, Standing, Tree
from opperf.domain.registry import BUILD_PREFIX
from opperf.domain.tensor import TensorSpec

#: Whole numbers of `random` inputs: none of the format's is larger.
WHOLE = {"int8": (-128.0, 128.0)}
MOST_WHOLE = (-1024.0, 1024.0)
#: Names of inputs that are above zero, and the values that they get.
POSITIVE = re.compile(r"(.*_)?(rstd|std|variance|var)\d*")
POSITIVE_RANGE = (0.1, 2.0)


def open_flashinfer(path: Path, name: str, backend: Backend, budget: int) -> FunctionProblem:
    """Return the problem of a definition; raises `InputError`."""
    file = _definition_file(path)
    return _Reader(read_definition(file), name, backend, budget).problem()


def load_reference(path: Path, standing: Standing, backend: Backend) -> Callable[..., Any]:
    """Return the reference of a definition, which returns its results."""
    return _Reader(read_definition(_definition_file(path)), "", backend, 0).reference


def _definition_file(path: Path) -> Path:
    if not path.is_dir():
        return path
    if (path / "definition.json").is_file():
        return path / "definition.json"
    others = sorted(path.glob("definitions/**/*.json"))
    if len(others) == 1:
        return others[0]
    hint = f"name one: {', '.join(str(one.relative_to(path)) for one in others[:4])}" if others else None
    raise InputError(f"{path}: {len(others)} definitions, expected one, or `definition.json`", hint=hint)


def workload_file(definition: Path) -> Path:
    """Return the file with the workloads of a definition; raises `InputError` that says where it was looked for."""
    places = [definition.with_name(name) for name in ("workload.jsonl", "workloads.jsonl", f"{definition.stem}.jsonl")]
    parts = definition.parts
    if "definitions" in parts:
        last = len(parts) - 1 - parts[::-1].index("definitions")
        places.append(Path(*parts[:last], "workloads", *parts[last + 1 :]).with_suffix(".jsonl"))
    for place in places:
        if place.is_file():
            return place
    raise InputError(
        f"{definition}: no workloads", hint=f"put them in {' or '.join(f'`{one}`' for one in places[::3])}"
    )


class _Reader:
    """Makes cases of workloads."""

    def __init__(self, definition: Definition, name: str, backend: Backend, budget: int) -> None:
        self._definition, self._name = definition, name
        self._backend, self._budget = backend, budget
        self._tools = backends.problem_tools(backend.name)
        self._module = types.ModuleType(f"opperf_problem_{definition.path.stem}")
        try:
            exec(compile(definition.reference, f"{definition.path}: reference", "exec"), vars(self._module))
            run = self._module.run
        except Exception as error:  # the problem's code may raise anything
            raise InputError(
                f"{definition.path}: reference: {type(error).__name__}: {error}",
                hint="its source has to run by itself, and to have a function `run`",
                slug="bad_problem",
            ) from error
        self.reference = self._with_results(run)

    def problem(self) -> FunctionProblem:
        """Return the problem with the workloads that fit, or the first one made smaller."""
        file = workload_file(self._definition.path)
        workloads = list(read_workloads(file))
        if not workloads:
            raise InputError(f"{file}: no workloads", hint="one JSON object in each line")
        fitting = [one for one in workloads if self._bytes(one.axes) <= self._budget]
        notes = []
        if 0 < len(fitting) < len(workloads):
            notes.append(f"{len(workloads) - len(fitting)} of {len(workloads)} workloads are over the budget, left out")
        if not fitting:
            fitting, notes = self._smaller(workloads)
        fitting = sorted(fitting, key=lambda one: -self._bytes(one.axes))
        entries = [self._entry(one) for one in fitting]
        stated = [one.text["tolerance"] for one in fitting if one.text.get("tolerance")]
        if stated:
            notes.append(f"the tolerance of its own, {show(stated[0])}, is not used: opperf's is that of the reference")
        form = Form("flashinfer", self.reference)
        return FunctionProblem(self._name, self._backend, form, entries, lambda: list(self._neighbours(fitting)), notes)

    def _bytes(self, axes: Mapping[str, int]) -> int:
        numbers = self._definition.resolve(axes)
        return sum(one.spec(numbers).nbytes for one in self._definition.inputs.values() if one.axes is not None)

    def _weigh(self, axes: scale.Sizes) -> scale.Weight | None:
        try:
            numbers = self._definition.resolve(axes)
        except InputError:
            return None
        return scale.Weight(self._bytes(axes), 0, "", repr(numbers))

    def _smaller(self, workloads: Sequence[Workload]) -> tuple[list[Workload], list[str]]:
        """Return the smallest workload with its axes scaled, and what is said of it."""
        least = min(workloads, key=lambda one: self._bytes(one.axes))
        if not self._is_scalable(least):
            return [least], [f"no workload is within the budget of {self._budget} bytes, and none has free axes"]
        axes = scale.scale(least.axes, self._weigh, self._budget)
        if self._bytes(axes) > self._budget:
            axes = least.axes  # constant axes take the bytes: fewer of the others make another problem of it
        weights = self._weigh(least.axes), self._weigh(axes)
        return [replace(least, axes=axes)], scale.describe(least.axes, axes, weights, self._budget)

    def _is_scalable(self, workload: Workload) -> bool:
        return all(source["type"] != "safetensors" for source in workload.inputs.values())

    def _neighbours(self, workloads: Sequence[Workload]) -> Iterator[Entry]:
        """Yield undisclosed choices of axes that the reference runs with."""
        first = next((one for one in workloads if self._is_scalable(one)), None)
        if first is None:
            return
        own_axes = [one.axes for one in workloads]
        for axes in scale.neighbours(first.axes, self._weigh, self._budget):
            if axes not in own_axes and (entry := self._runs(replace(first, axes=axes))) is not None:
                yield entry

    def _runs(self, workload: Workload) -> Entry | None:
        """Return a workload's entry if the reference takes it."""
        entry = self._entry(workload)
        problem = FunctionProblem(self._name, self._backend, Form("flashinfer", self.reference), [entry], list)
        tensors = problem.draw(entry.case, 0) or self._random(entry.case, {}, 0)
        try:
            self._tools.call_without_gradients(problem.reference(entry.case), *tensors)
        except Exception:  # the reference may raise anything at sizes that it was not written for
            return None
        return entry

    def _entry(self, workload: Workload) -> Entry:
        definition = self._definition
        axes = definition.resolve(workload.axes)
        specs: dict[str, TensorSpec] = {}
        values: dict[str, Argument] = {}
        trees: list[Tree] = []
        sources = set()
        for name, place in definition.inputs.items():
            source = workload.inputs.get(name, {"type": "random"})
            sources.add(source["type"])
            if place.axes is None:
                values[name] = self._number(name, source)
                trees.append(Constant(values[name]))
            else:
                trees.append(Slot(len(specs)))
                specs[name] = _random_spec(name, place.spec(axes)) if source["type"] == "random" else place.spec(axes)
        draw = None
        if sources & {"custom", "safetensors"}:
            values[f"{BUILD_PREFIX}workload"] = workload.uuid  # other values than those of another of the same shapes
            draw = self._drawer(workload, axes, Case(self._name, specs), values)
        return Entry(
            Case(self._name, specs, values),
            tuple(trees),
            draw=draw,
            results=tuple(place.spec(axes) for place in definition.outputs.values()),
            workload={"definition": definition.name, "workload": {**workload.text, "axes": dict(workload.axes)}},
        )

    def _number(self, name: str, source: Mapping[str, Any]) -> Argument:
        value = source.get("value")
        if source["type"] == "scalar" and isinstance(value, (bool, int, float)):
            return value
        raise InputError(f"{self._definition.path}: inputs.{name}: found {show(dict(source))}, expected a scalar")

    def _drawer(
        self, workload: Workload, axes: Mapping[str, int], case: Case, values: Mapping[str, Argument]
    ) -> Callable[[int], Sequence[Any]]:
        """Return the function that draws the inputs of a workload: by its own function, from files, or at random."""

        def draw(seed: int) -> Sequence[Any]:
            fixed = {
                name: self._from_file(source)
                for name, source in workload.inputs.items()
                if source["type"] == "safetensors" and name in case.inputs
            }
            if any(source["type"] == "custom" for source in workload.inputs.values()):
                fixed |= self._custom(axes, values)
            return self._random(case, fixed, seed)

        return draw

    def _custom(self, axes: Mapping[str, int], values: Mapping[str, Argument]) -> dict[str, Any]:
        make = getattr(self._module, self._definition.custom or "", None)
        if not callable(make):
            raise InputError(f"{self._definition.path}: no `custom_inputs_entrypoint`, which a workload asks for")
        plain = {name: value for name, value in values.items() if isinstance(value, (int, float))}
        result: dict[str, Any] = make({**axes, **plain}, self._tools.device(self._backend.side.device))
        return result

    def _from_file(self, source: Mapping[str, Any]) -> Any:
        path = PurePosixPath(str(source.get("path", "")))
        if path.is_absolute() or ".." in path.parts:
            raise InputError(f"{self._definition.path}: found the path {show(str(path))}, expected one in its folder")
        folders = [self._definition.path.parent, *self._definition.path.parents][:4]
        for folder in folders:
            if (folder / path).is_file():
                raw, spec = safetensors.read(folder / path, str(source.get("tensor_key", "")))
                return inputs.of_elements(self._backend, spec, raw)
        raise InputError(f"{self._definition.path}: no file `{path}` in its folder or those above")

    def _random(self, case: Case, fixed: Mapping[str, Any], seed: int) -> list[Any]:
        return [
            fixed[name] if name in fixed else inputs.tensor(self._backend, spec, f"{seed}.{name}")
            for name, spec in case.inputs.items()
            if isinstance(spec, TensorSpec)
        ]

    def _with_results(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """Return a reference that returns its results, in the order of the definition."""
        names = list(self._definition.outputs)
        try:
            fills = len(inspect.signature(run).parameters) == len(self._definition.inputs) + len(names)
        except (TypeError, ValueError):
            fills = False

        def call(*arguments: Any) -> Any:
            results = self._allocate(arguments) if fills else []
            value = run(*arguments, *results)
            if fills:
                value = results
            if isinstance(value, dict):
                value = [value[name] for name in names]
            return (value[0] if len(value) == 1 else tuple(value)) if isinstance(value, (list, tuple)) else value

        return call

    def _allocate(self, arguments: Sequence[Any]) -> list[Any]:
        """Return tensors for the results, by the shapes of the arguments."""
        axes: dict[str, int] = {}
        contents = Arguments(self._tools.is_tensor)
        for (name, place), value in zip(self._definition.inputs.items(), arguments):
            contents.take(value, name)
            if place.axes is not None:
                axes |= dict(zip(place.axes, self._backend.spec(value).shape))
        numbers = self._definition.resolve(axes)
        device = self._backend.side.device
        return [self._tools.allocate(one.spec(numbers), device) for one in self._definition.outputs.values()]


def _random_spec(name: str, spec: TensorSpec) -> TensorSpec:
    """Return how `random` values of an input are drawn: normal ones, as the format has them, or whole numbers."""
    if POSITIVE.fullmatch(name) and spec.is_float:
        return replace(spec, range=POSITIVE_RANGE)
    if spec.is_float:
        return replace(spec, values="normal")
    return spec if spec.dtype == "bool" else replace(spec, range=WHOLE.get(spec.dtype, MOST_WHOLE))
