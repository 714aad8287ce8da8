"""Operators of the catalog as the original spells them: other names of classes and arguments, and other defaults.

An operator is called by its binding, or where `path` names one by that function of MXNet, in MXNet's own words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

import mxnet as mx

from opperf.catalog import catalog
from opperf.compat.in_process import InProcess, Subject
from opperf.domain.case import Argument, Case, DType, ListOf, map_tensors
from opperf.domain.dataclass import dataclass
from opperf.domain.tensor import TensorSpec, parse_dtype


@dataclass(frozen=True)
class Spelling:
    """An operator of the catalog under the original's words.

    `title` is part of the result's key. `words` are the original's input names by neutral name, `attributes` values
    where they are not the catalog's; with a path they are all the attributes. `size` decides what is the catalog's.
    `filled` is the parameter that fills arrays, `always` the direction that the original's key names in any case.
    """

    operator: str
    title: str
    path: str | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    backward: bool | None = None
    size: str = "common"
    always: str | None = None
    filled: str = "initializer"

    @property
    def summary(self) -> str:
        """What is computed."""
        return catalog()[self.operator].summary

    def key(self, parameters: Mapping[str, Any], direction: str) -> str:
        """Return the key of a result."""
        return f"MX_{self.title}_{self.always or direction.title()}_Time"

    def parameters(self) -> dict[str, Any]:
        """Return shapes of tensors, values of attributes, and how they are made and measured."""
        inputs, attributes = self._arguments()
        result = {name: _show(value) for name, value in {**inputs, **attributes}.items()} | dict(self.attributes)
        floats = [tensor for tensor in Case("", inputs).tensors() if tensor.is_float]
        if floats:
            # Where an operator has no answer for some numbers, None has opperf draw from those that it has one for.
            result[self.filled] = mx.nd.normal if all(tensor.range is None for tensor in floats) else None
        directions = catalog()[self.operator].directions
        result["run_backward"] = "backward" in directions if self.backward is None else self.backward
        return {**result, "dtype": result.get("dtype", "float32")}

    def with_size(self, size: str) -> Spelling:
        """Return the operator with the inputs of a size class of the catalog."""
        inputs, _ = self._arguments()
        return replace(
            self, size=size, attributes={name: self.attributes[name] for name in self.attributes if name not in inputs}
        )

    def subject(self, here: InProcess, parameters: Mapping[str, Any], context: Any) -> Subject:
        """Return the subject: the operator with copies of the arrays in `parameters`, and arrays of its shapes."""
        initializer = parameters.get(self.filled)
        case = self.case(parameters)
        if initializer is mx.nd.normal:
            case = case.with_values("normal")
        arguments = {
            name: copy
            for name, value in case.inputs.items()
            if (copy := copy_of(parameters[self.words.get(name, name)], value, context)) is not None
        }
        subject = here.of_case(case, self.path, arguments)
        if initializer not in (None, mx.nd.normal):
            callers = set(map(id, here.backend.leaves(list(arguments.values()))))
            for array in here.backend.leaves(list(subject.bound.arguments)):
                if here.backend.spec(array).is_float and id(array) not in callers:
                    array[:] = initializer(shape=array.shape, ctx=context, dtype=array.dtype)
        return subject

    def case(self, parameters: Mapping[str, Any]) -> Case:
        """Return the case that the parameters make."""
        inputs, attributes = self._arguments()
        dtype = parse_dtype(str(parameters["dtype"]))
        neutral = {word: name for name, word in self.words.items()}
        case = Case(
            self.operator if self.path is None else f"mxnet:{self.path}",
            {neutral.get(name, name): _shape(value, parameters[name]) for name, value in inputs.items()},
            {name: _attribute(parameters[name], attributes.get(name)) for name in {**attributes, **self.attributes}
             if name not in inputs},
        )  # fmt: skip
        if self.path is not None and not inputs:
            return replace(case, attributes={**case.attributes, "dtype": DType(dtype)})
        return case if "dtype" in attributes else case.with_dtype(dtype)

    def _arguments(self) -> tuple[dict[str, Argument], dict[str, Argument]]:
        """Return the catalog's inputs and attributes by the original's words; all of a path are `attributes`."""
        case = catalog()[self.operator].case(self.size)
        inputs = {self.words.get(name, name): value for name, value in case.inputs.items()}
        if self.path is None:
            return inputs, dict(case.attributes)
        return {name: map_tensors(value, _numeric) for name, value in inputs.items()}, {}


def _numeric(tensor: TensorSpec) -> TensorSpec:
    """Return a tensor of truth values as one of numbers: functions of `nd` take no other."""
    return replace(tensor, dtype="float32", range=(0.0, 2.0)) if tensor.dtype == "bool" else tensor


def _show(value: Argument) -> Any:
    if isinstance(value, TensorSpec):
        return value.shape
    if isinstance(value, ListOf):
        return [_show(item) for item in value.items]
    return value.name if isinstance(value, DType) else value


def copy_of(value: Any, argument: Argument, context: Any) -> Any:
    """Return a copy of an array or of a list of them, in the element type that is described; None for shapes."""
    if isinstance(argument, ListOf):
        copies = [copy_of(one, item, context) for one, item in zip(value, argument.items)]
        return copies if any(one is not None for one in copies) else None
    if isinstance(value, mx.nd.NDArray) and isinstance(argument, TensorSpec):
        return value.astype(argument.dtype).as_in_context(context)
    return None


def _shape(value: Argument, shape: Any) -> Argument:
    """Return a tensor, or a list of them, in another shape, which may be that of an array."""
    if isinstance(value, ListOf):
        return ListOf(tuple(_shape(value.items[0], each) for each in shape))
    if isinstance(value, TensorSpec):
        shape = getattr(shape, "shape", shape)
        return replace(value, shape=(shape,) if isinstance(shape, int) else tuple(shape), strides=None)
    return value


def _attribute(value: Any, default: Argument) -> Argument:
    if isinstance(default, DType):
        return DType(parse_dtype(str(value)))
    return tuple(_attribute(item, None) for item in value) if isinstance(value, (list, tuple)) else value
