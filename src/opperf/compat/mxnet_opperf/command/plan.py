"""Which operators the command line measures, with which inputs, and from which trials each row of its result comes.

An operator gets the rows of a file, else those that the functions for scripts give it, else what opperf's own commands
do. Equal rows, and two names of one function, may share a trial; each keeps its row.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import Any

from opperf.compat.mxnet_opperf.categories import RUNNERS, members
from opperf.compat.mxnet_opperf.default_inputs import default_inputs
from opperf.domain.case import Argument, Case, Device, DType, ListOf, map_tensors
from opperf.domain.code import check_name
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, check_known
from opperf.domain.files.text_file import read_json
from opperf.domain.plan import Plan, Settings, Side, Trial
from opperf.domain.registry import split_implementation
from opperf.domain.tensor import FLOATS, UNIFORM, TensorSpec, parse_dtype
from opperf.parent.measuring.session import Session
from opperf.parent.planning.expand import DEFAULT_DIRECTIONS
from opperf.parent.planning.selection import Selection
from opperf.parent.sources.suite_file import ORIGIN, is_mxnet_inputs, mxnet_suite

CATEGORIES = tuple(RUNNERS.values())
#: The directions for a row of the profiler `python`: the first that has a time is used.
LUMP_ORDER = ("forward_backward", "forward")

#: Rows of inputs by the name of an operator, as MXNet's opperf writes them.
InputRows = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True)
class RowPlan:
    """A planned row: the operator's requested name, its inputs as shown, and its trials."""

    operator: str
    inputs: Mapping[str, Any]
    trials: tuple[Trial, ...]


@dataclass(frozen=True)
class CommandRequest:
    """The request: operators as `mxnet:PATH`, rows of a file, and how inputs and directions are chosen.

    `together` asks for forward and backward in one time, as the profiler `python` times them; `original_values` for
    the values that the original gives its arrays, indices and labels too.
    """

    names: Sequence[str]
    rows: InputRows = field(default_factory=dict)
    dtype: str = "float32"
    large: bool = False
    together: bool = False
    original_values: bool = False

    def __post_init__(self) -> None:
        """Raise `InputError` for values that the original does not have."""
        if self.original_values and parse_dtype(self.dtype) not in FLOATS:
            raise InputError(
                f"`--original-values` are normal numbers, and `--dtype {self.dtype}` has none",
                hint="leave out one of them",
            )


def names(operators: Sequence[str], categories: Sequence[str], rows: InputRows) -> tuple[str, ...]:
    """Return the requested operators as `mxnet:PATH`: those named, else those in a file, else all categories."""
    for name in categories:
        check_known("category", name, CATEGORIES)
    every = [] if operators or rows else CATEGORIES
    result = [*operators, *(member for category in categories or every for member in members(category))]
    return tuple(dict.fromkeys(spell(name) for name in result or rows))


def spell(name: str) -> str:
    """Return how opperf spells an operator of MXNet.

    >>> spell("broadcast_add"), spell("np.add"), spell("_copyto")
    ('mxnet:nd.broadcast_add', 'mxnet:np.add', 'mxnet:nd._internal._copyto')
    """
    prefix, path = split_implementation(name)
    if prefix not in (None, "mxnet"):
        raise InputError(f"`{name}` is not an operator of MXNet", hint="`opperf run` measures every framework")
    if "." not in path:
        path = f"nd._internal.{path}" if path.startswith("_") else f"nd.{path}"
    return f"mxnet:{path}"


def read_rows(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Read rows of inputs from a file; raises `InputError` for anything else."""
    data = read_json(path)
    if not is_mxnet_inputs(data):
        raise InputError(f"{path}: expected operators with lists of rows", hint='{"dot": [{"lhs": [2, 2], ...}]}')
    for name in data:
        check_name(name, str(path))
    return data


def plan_rows(session: Session, selection: Selection, choice: CommandRequest) -> Iterator[RowPlan]:
    """Yield the rows of all operators that are wanted; raises `InputError` for a name that MXNet does not know."""
    (side,) = session.sides()
    for name in choice.names:
        path = split_implementation(name)[1]
        for inputs, trials in _rows(session, replace(selection, operators=(name,)), choice, side, path):
            yield RowPlan(path.rpartition(".")[2], inputs, tuple(_lump(trials) if choice.together else trials))


def whole(plans: Sequence[RowPlan], settings: Settings) -> Plan:
    """Return the plan of all rows; raises `InputError` when it is empty."""
    trials = {trial.key: trial for row in plans for trial in row.trials}
    if not trials:
        raise InputError("nothing to measure", hint="name operators that have rows in the file", slug="empty_plan")
    return Plan(tuple(trials.values()), settings)


def _rows(
    session: Session, selection: Selection, choice: CommandRequest, side: Side, path: str
) -> Iterator[tuple[Mapping[str, Any], list[Trial]]]:
    """Yield the inputs of an operator, each with its trials."""
    short = path.removeprefix("nd.")
    here = replace(side, implementation=path)
    dtype = parse_dtype(choice.dtype)
    rows = choice.rows.get(short, ()) if choice.rows else default_inputs(short, dtype=dtype, large=choice.large)
    examples = [example.case for example in session.answers.discover(side, path, "common").examples]
    for i, row in enumerate(rows):
        plain = json.loads(json.dumps(row))  # as it would stand in a file
        case = mxnet_suite({short: [plain]}, f"{short}[{i}]").cases[0].case
        filled = _with_values(case, examples, original=choice.original_values)
        yield row, _trials(filled.with_dtype(dtype), here, ORIGIN)
    if not rows and not choice.rows:
        cases = [_with_values(case, (), original=choice.original_values).with_dtype(dtype) for case in examples]
        result = {case: _trials(case, here, "registry:common") for case in cases}
        for case, trials in (result or _by_case(session.plan_of(selection, (side,)).trials)).items():
            yield show({**case.inputs, **case.attributes}), trials


def _with_values(case: Case, examples: Sequence[Case], *, original: bool) -> Case:
    """Return a case with the values of the operator's examples, as valid indices, where its row tells none.

    The `original` values are normal ones for every array whose elements are not given.

    >>> row = Case("mxnet:nd.take", {"indices": TensorSpec((1, 1))})
    >>> example = Case("mxnet:nd.take", {"indices": TensorSpec((256,), range=(0.0, 8.0))})
    >>> _with_values(row, [example], original=False).inputs["indices"].range
    (0.0, 8.0)
    >>> _with_values(row, [example], original=True).inputs["indices"].values
    'normal'
    """
    specs = {name: value for example in examples for name, value in example.inputs.items()}

    def fill(name: str, spec: TensorSpec) -> TensorSpec:
        if spec.literal is not None:
            return spec
        if original:
            return replace(spec, values="normal", range=None)
        example = specs.get(name)
        if not isinstance(example, TensorSpec) or (spec.values, spec.range) != (UNIFORM, None):
            return spec
        fixed = example.requires_grad if spec.requires_grad is None else spec.requires_grad
        return replace(spec, values=example.values, range=example.range, requires_grad=fixed)

    inputs = {name: map_tensors(value, partial(fill, name)) for name, value in case.inputs.items()}
    return replace(case, inputs=inputs)


def _trials(case: Case, side: Side, origin: str) -> list[Trial]:
    """Return a trial for each direction; whether the operator has a gradient is known when it runs."""
    floating = any(tensor.is_float and tensor.requires_grad is not False for tensor in case.tensors())
    return [Trial(case, side, direction, origin) for direction in DEFAULT_DIRECTIONS[: 1 + floating]]


def _by_case(trials: Sequence[Trial]) -> dict[Case, list[Trial]]:
    result: dict[Case, list[Trial]] = {}
    for trial in trials:
        result.setdefault(trial.case, []).append(trial)
    return result


def _lump(trials: Sequence[Trial]) -> list[Trial]:
    """Return trials of both directions together, and of forward alone for where there turns out to be no backward."""
    if len(trials) == 1:
        return list(trials)
    return [replace(trials[0], direction=direction) for direction in LUMP_ORDER]


def show(arguments: Mapping[str, Argument]) -> dict[str, Any]:
    """Return arguments as a row shows them: a tensor is its shape.

    >>> show({"data": TensorSpec((2, 3)), "axis": 0, "dtype": DType("float16")})
    {'data': (2, 3), 'axis': 0, 'dtype': 'float16'}
    """
    return {name: _show(value) for name, value in arguments.items()}


def _show(value: Argument) -> Any:
    if isinstance(value, TensorSpec):
        return value.shape
    if isinstance(value, (DType, Device)):
        return value.name
    if isinstance(value, (ListOf, tuple)):
        return [_show(item) for item in (value.items if isinstance(value, ListOf) else value)]
    return value
