"""Definitions and workloads of FlashInfer-Bench and SOL-ExecBench, as they stand in JSON.

A definition names axes (`const`, `var`, and `expr` of others), inputs and outputs by axes, and has the source of its
reference. A workload gives each `var` axis a number and says of each input where its values come from. In
FlashInfer-Bench a line of workloads is a trace without a solution.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from opperf.domain.arithmetic import NoNumber, compute
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, at_place
from opperf.domain.files.json_text import NotJSON, show, value_of
from opperf.domain.files.text_file import distinct, read_json, read_text
from opperf.domain.tensor import TensorSpec, parse_dtype

HINT = "a definition has `name`, `axes`, `inputs`, `outputs` and `reference`"
SOURCES = ("random", "scalar", "safetensors", "custom")


@dataclass(frozen=True)
class Place:
    """An input or output: the axes of its shape, None for a plain number, and its type."""

    axes: tuple[str, ...] | None
    dtype: str

    def spec(self, axes: Mapping[str, int]) -> TensorSpec:
        """Return the tensor for numbers of the axes."""
        return TensorSpec(tuple(axes[name] for name in self.axes or ()), self.dtype)


@dataclass(frozen=True)
class Definition:
    """What is computed. `axes` are the constant ones, `variable` the names of the others, `derived` their formulas."""

    path: Path
    name: str
    axes: Mapping[str, int]
    variable: tuple[str, ...]
    derived: Mapping[str, str]
    inputs: Mapping[str, Place]
    outputs: Mapping[str, Place]
    reference: str
    constraints: tuple[str, ...] = ()
    custom: str | None = None

    def resolve(self, values: Mapping[str, int]) -> dict[str, int]:
        """Return a number for each axis; raises `InputError` for an axis without one, and numbers that do not fit."""
        axes = {**self.axes, **{name: values[name] for name in self.variable if name in values}}
        missing = [name for name in self.variable if name not in values]
        if missing:
            raise InputError(
                f"no value for the axis `{missing[0]}`, expected one of each of {', '.join(self.variable)}"
            )
        derived = dict(self.derived)
        while derived:
            ready = {name: number for name, text in derived.items() if (number := _number(text, axes)) is not None}
            if not ready:
                raise InputError(f"{self.path}: axes: no number for {show(next(iter(derived.values())))}")
            axes |= ready
            derived = {name: text for name, text in derived.items() if name not in ready}
        for text in self.constraints:
            try:
                holds = compute(text, axes)
            except NoNumber:
                continue  # of inputs, not of axes
            if not holds:
                raise InputError(f"the axes do not keep to `{text}`")
        return axes


@dataclass(frozen=True)
class Workload:
    """One choice of axes, and of each input where its values come from: an object with a `type` of `SOURCES`.

    `text` is all of it as its file has it.
    """

    uuid: str
    axes: Mapping[str, int]
    inputs: Mapping[str, Mapping[str, Any]]
    text: Mapping[str, object]


def _number(text: str, axes: Mapping[str, int]) -> int | None:
    try:
        value = compute(text, axes)
    except NoNumber:
        return None
    return int(value) if value == int(value) and value >= 0 else None


def read_definition(path: Path) -> Definition:
    """Return the definition in a file; raises `InputError` that names the place."""
    data = read_json(path, hint=HINT)
    if not isinstance(data, dict) or not all(isinstance(data.get(key), dict) for key in ("axes", "inputs", "outputs")):
        raise InputError(f"{path}: found {show(data)}, expected a definition", hint=HINT, slug="bad_problem")
    if not isinstance(data.get("reference"), str):
        raise InputError(f"{path}: reference: found {show(data.get('reference'))}, expected source", hint=HINT)
    axes, variable, derived = {}, [], {}
    for name, axis in data["axes"].items():
        kind = axis.get("type") if isinstance(axis, dict) else None
        if kind == "const" and type(axis.get("value")) is int and axis["value"] >= 0:
            axes[name] = axis["value"]
        elif kind == "expr" and isinstance(axis.get("expression"), str):
            derived[name] = axis["expression"]
        elif kind == "var":
            variable.append(name)
        else:
            raise InputError(f"{path}: axes.{name}: found {show(axis)}, expected an axis of type const, var or expr")
    names = {*axes, *variable, *derived}
    custom = data.get("custom_inputs_entrypoint")
    return Definition(
        path,
        str(data.get("name", path.stem)),
        axes,
        tuple(variable),
        derived,
        {name: _place(one, names, f"{path}: inputs.{name}") for name, one in data["inputs"].items()},
        {name: _place(one, names, f"{path}: outputs.{name}") for name, one in data["outputs"].items()},
        data["reference"],
        tuple(str(text) for text in data.get("constraints") or ()),
        custom if isinstance(custom, str) else None,
    )


def _place(data: object, names: set[str], where: str) -> Place:
    if not isinstance(data, dict) or not isinstance(data.get("dtype"), str):
        raise InputError(f"{where}: found {show(data)}, expected an object with `shape` and `dtype`")
    shape = data.get("shape")
    with at_place(where):
        dtype = parse_dtype(data["dtype"])
    if shape is None:
        return Place(None, dtype)
    unknown = [name for name in shape if name not in names] if isinstance(shape, list) else [shape]
    if unknown:
        raise InputError(f"{where}.shape: found {show(unknown[0])}, expected names of axes: {', '.join(sorted(names))}")
    return Place(tuple(shape), dtype)


def read_workloads(path: Path) -> Iterator[Workload]:
    """Yield the workloads in the lines of a file; raises `InputError` that names the line."""
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            where = f"{path}:{number}"
            try:
                data = value_of(line.encode(), object_pairs_hook=distinct)
            except NotJSON as error:
                raise InputError(f"{where}: not JSON ({error})", hint="one workload in each line") from error
            inner = data.get("workload", data) if isinstance(data, dict) else data
            yield _workload(inner, where)


def _workload(data: object, where: str) -> Workload:
    if not isinstance(data, dict) or not isinstance(data.get("axes"), dict) or not isinstance(data.get("inputs"), dict):
        raise InputError(f"{where}: found {show(data)}, expected a workload", hint="it has `uuid`, `axes` and `inputs`")
    for name, value in data["axes"].items():
        if type(value) is not int or value < 0:
            raise InputError(f"{where}: axes.{name}: found {show(value)}, expected a whole number")
    for name, source in data["inputs"].items():
        if not isinstance(source, dict) or source.get("type") not in SOURCES:
            raise InputError(f"{where}: inputs.{name}: found {show(source)}, expected a type of {', '.join(SOURCES)}")
    return Workload(str(data.get("uuid", "")), data["axes"], data["inputs"], data)
