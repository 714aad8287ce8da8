"""BackendBench: a folder for each overload of an operator, with a function that takes its place.

    backendbench:generated_kernels/add__Tensor

The folder `add__Tensor` is for `aten::add.Tensor`, its candidate `add__Tensor_implementation_v1.py` has a function
`add__Tensor_kernel_impl(*args, **kwargs)`. Cases are those of traces in `.txt` files of the folder or the one above;
where there are none, those that opperf makes of PyTorch's own samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from opperf.child import backends
from opperf.child.judging.problems.function_problem import Entry, Form, FunctionProblem
from opperf.child.judging.problems.trace_line import TracedCall, read_calls
from opperf.child.worker import inputs
from opperf.domain.backend import Backend
from opperf.domain.case import Argument, Case, ListOf, map_tensors, tensors_of
from opperf.domain.errors import InputError
from opperf.domain.problem import Branch, Constant, Slot, Standing, Tree
from opperf.domain.tensor import TensorSpec

#: What folders have for the point of `add.Tensor`.
ESCAPE = "__"
#: Sizes of the samples where there are no traces.
SIZES = ("common", "small")
#: Of so many extents there are undisclosed sizes.
MOST_EXTENTS = 3


def open_backendbench(path: Path, name: str, backend: Backend, budget: int) -> FunctionProblem:
    """Return the problem of an operator's folder; raises `InputError`."""
    folder = _operator_folder(path)
    operator = _operator(folder)
    reference = backends.problem_tools(backend.name).operator(operator)
    calls = [call for file in _traces(folder) for call in read_calls(file, operator)]
    calls = calls or list(_samples(backend, operator))
    entries = [(_entry(name, call), call) for call in calls]
    fitting = [(entry, call) for entry, call in entries if entry.case.input_bytes <= budget]
    if not fitting:
        raise InputError(
            f"{folder}: {len(entries)} cases of `aten::{operator}`, none of {budget} bytes or less",
            hint="put lines of a trace into a `.txt` file of the folder: `cnt: 1, ((T([64, 64], f32),), {})`",
            slug="bad_problem",
        )
    left_out = len(entries) - len(fitting)
    notes = [f"{left_out} of {len(entries)} cases are over the budget, left out"] if left_out else []
    fitting.sort(key=lambda pair: -pair[0].case.input_bytes)
    form = Form("backendbench", reference)

    def neighbours() -> list[Entry]:
        return [entry for entry in _neighbours(name, fitting[0][1]) if _runs(entry, form, backend)]

    return FunctionProblem(name, backend, form, [entry for entry, _ in fitting], neighbours, notes)


def load_reference(path: Path, standing: Standing, backend: Backend) -> Callable[..., Any]:
    """Return the operator of a folder."""
    function: Callable[..., Any] = backends.problem_tools(backend.name).operator(_operator(_operator_folder(path)))
    return function


def _operator(folder: Path) -> str:
    """Return an operator of ATen by the name of its folder."""
    base, _, overload = folder.name.rpartition(ESCAPE) if ESCAPE in folder.name.strip("_") else (folder.name, "", "")
    return f"{base or folder.name}.{overload or 'default'}"


def _operator_folder(path: Path) -> Path:
    """Return the folder of the operator: the one that is named, or the only one in it."""
    folders = [path, *sorted(path.iterdir())] if path.is_dir() else []
    operator_folders = [
        folder for folder in folders if folder.is_dir() and any(folder.glob(f"{folder.name}_implementation*.py"))
    ]
    if len(operator_folders) == 1 or (operator_folders and operator_folders[0] == path):
        return operator_folders[0]
    if path.is_dir() and ESCAPE in path.name:
        return path  # a problem without a candidate in it
    hint = (
        f"name one: {', '.join(str(folder) for folder in operator_folders[:4])}"
        if operator_folders
        else "as in `add__Tensor`"
    )
    raise InputError(
        f"{path}: {len(operator_folders)} folders of operators, expected one", hint=hint, slug="bad_problem"
    )


def _traces(folder: Path) -> list[Path]:
    return [*sorted(folder.glob("*.txt")), *sorted(folder.parent.glob("*.txt"))]


def _samples(backend: Backend, operator: str) -> Iterator[TracedCall]:
    """Yield calls of the cases that the backend makes of an operator's samples."""
    for size in SIZES:
        for case in backend.examples(f"aten::{operator}", size):
            yield TracedCall(operator, 1, tuple(case.inputs.values()), dict(case.attributes))


def _entry(name: str, call: TracedCall) -> Entry:
    """Return a call as a case: arguments by place are numbered."""
    holders: dict[str, Argument] = {}
    values: dict[str, Argument] = {}
    places = {f"argument{number}": value for number, value in enumerate(call.arguments)}
    trees: dict[str, Tree] = {}
    for argument_name, value in {**places, **call.keywords}.items():
        specs = list(tensors_of(value))
        trees[argument_name] = _tree(value, len(holders))
        if isinstance(value, TensorSpec):
            holders[argument_name] = value
        elif specs:
            holders |= {f"{argument_name}.{place}": spec for place, spec in enumerate(specs)}
        else:
            values[argument_name] = value
    case = Case(name, holders, values)
    return Entry(case, tuple(trees[own] for own in places), {own: trees[own] for own in call.keywords})


def _tree(value: Argument, start: int) -> Tree:
    """Return the tree of an argument whose first tensor is the number `start` of all."""
    if isinstance(value, TensorSpec):
        return Slot(start)
    items = value.items if isinstance(value, ListOf) else value if isinstance(value, tuple) else ()
    if not any(list(tensors_of(item)) for item in items):
        return Constant(value)
    trees = []
    for item in items:
        trees.append(_tree(item, start))
        start += len(list(tensors_of(item)))
    return Branch("list" if isinstance(value, ListOf) else "tuple", tuple(trees))


def _neighbours(name: str, call: TracedCall) -> Iterator[Entry]:
    """Yield the call with an extent of its tensors a little longer, and a little over half as long.

    Extents of the same number change together, wherever they are: those that belong together do.
    """
    specs = [spec for value in (*call.arguments, *call.keywords.values()) for spec in tensors_of(value)]
    extents: Sequence[int] = list(dict.fromkeys(extent for spec in specs for extent in spec.shape if extent > 1))
    for extent in extents[:MOST_EXTENTS]:
        for other in (extent + 1, extent // 2 + 1):
            yield _entry(name, _changed(call, {extent: other}))


def _changed(call: TracedCall, sizes: Mapping[int, int]) -> TracedCall:
    def change(spec: TensorSpec) -> TensorSpec:
        if spec.strides is not None:
            return spec
        return replace(spec, shape=tuple(sizes.get(extent, extent) for extent in spec.shape))

    return replace(
        call,
        arguments=tuple(map_tensors(value, change) for value in call.arguments),
        keywords={own: map_tensors(value, change) for own, value in call.keywords.items()},
    )


def _runs(entry: Entry, form: Form, backend: Backend) -> bool:
    """Whether the operator takes a call."""
    function = FunctionProblem("", backend, form, [entry], list).reference(entry.case)
    tensors = [inputs.tensor(backend, spec, str(number)) for number, spec in enumerate(entry.case.tensors())]
    try:
        backend.wait(function(*tensors))
    except Exception:  # a framework may raise anything at shapes that do not belong together
        return False
    return True
