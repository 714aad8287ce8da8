"""A case: one operator with its inputs and attributes; what is computed, not where.

A case has an id made from its content. The id is the same in every process, on every machine and in every version of
opperf that writes the prefix `c1-`: it is the hash of the canonical JSON form, in which defaults are left out.
"""

from __future__ import annotations

import json
import math
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field, replace
from functools import cached_property
from typing import Annotated, TypeAlias, Union

from opperf.domain.codec import Fields, decode
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, at_place
from opperf.domain.tensor import (
    FLOATS,
    INTEGER_DISTRIBUTIONS,
    SPARSE,
    SPD,
    UNIFORM,
    TensorSpec,
    full_range,
    is_whole,
    parse_dtype,
    positive_range,
)
from opperf.domain.type_hint import Form

ID_PREFIX = "c1-"


@dataclass(frozen=True)
class DType:
    """An element type given as an argument, as in `cast(data, dtype)`."""

    name: str


@dataclass(frozen=True)
class Device:
    """A device given as an argument; `default` is the one that is measured on."""

    name: str


@dataclass(frozen=True)
class ListOf:
    """A list argument, as `concat` takes; a Python tuple is a tuple argument."""

    items: tuple[Argument, ...]


@dataclass(frozen=True)
class Graph:
    """A graph given as an argument, as ONNX's `If` takes two; `content` is a serialized `GraphProto`."""

    content: bytes

    def __str__(self) -> str:
        return f"graph_{_digest(self.content, 12)}"


Scalar: TypeAlias = Union[int, float, bool, str, None]
Argument: TypeAlias = Union[TensorSpec, DType, Device, ListOf, Graph, tuple["Argument", ...], Scalar]


def argument_to_json(argument: Argument) -> object:
    """Return the JSON form of one argument.

    >>> argument_to_json((TensorSpec((2,)), 1))
    {'tuple': [{'shape': [2], 'dtype': 'float32'}, 1]}
    """
    if isinstance(argument, TensorSpec):
        return argument.to_json()
    if isinstance(argument, ListOf):
        return {"list": [argument_to_json(item) for item in argument.items]}
    if isinstance(argument, tuple):
        return {"tuple": [argument_to_json(item) for item in argument]}
    if isinstance(argument, DType):
        return {"dtype": argument.name}
    if isinstance(argument, Device):
        return {"device": argument.name}
    if isinstance(argument, Graph):
        return {"graph": b64encode(argument.content).decode()}
    if isinstance(argument, float) and not math.isfinite(argument):
        return {"float": repr(argument)}  # JSON has no word for these
    return argument


def argument_from_json(data: object, where: str) -> Argument:
    """Read one argument; raises `InputError` that says where the bad value stands."""
    if data is None or isinstance(data, (bool, int, float, str)):
        return data
    if isinstance(data, dict):
        if "shape" in data or "values" in data:
            return TensorSpec.from_json(data, where)
        if len(data) == 1:
            ((kind, value),) = data.items()
            if kind in ("list", "tuple") and isinstance(value, list):
                items = tuple(argument_from_json(item, f"{where}.{kind}[{i}]") for i, item in enumerate(value))
                return ListOf(items) if kind == "list" else items
            if kind == "dtype":
                with at_place(where):
                    return DType(parse_dtype(str(value)))
            if kind == "device":
                return Device(str(value))
            if kind == "graph" and isinstance(value, str):
                with suppress(ValueError):
                    return Graph(b64decode(value, validate=True))
            if kind == "float" and value in ("inf", "-inf", "nan"):
                return float(value)
    raise InputError(
        f"{where}: found {json.dumps(data)[:80]}, expected an argument",
        hint="a tensor {shape, dtype}, a scalar, {list: [...]}, {tuple: [...]}, {dtype: ...}, {device: ...}, "
        "{graph: base64} or null",
        slug="bad_argument",
    )


def _arguments_to_json(arguments: Mapping[str, Argument]) -> dict[str, object]:
    return {name: argument_to_json(value) for name, value in arguments.items()}


def _arguments_from_json(data: object, where: str) -> dict[str, Argument]:
    if not isinstance(data, dict):
        raise InputError(
            f"{where}: found {json.dumps(data)[:80]}, expected arguments by name",
            hint=f'as in {{"{"axis" if where.endswith("attributes") else "lhs"}": ...}}',
        )
    return {name: argument_from_json(value, f"{where}.{name}") for name, value in data.items()}


Arguments: TypeAlias = Annotated[
    Mapping[str, Argument], Form("arguments by name", _arguments_to_json, _arguments_from_json)
]


def tensors_of(argument: Argument) -> Iterator[TensorSpec]:
    """Yield every tensor in an argument, those in lists and tuples too."""
    if isinstance(argument, TensorSpec):
        yield argument
    elif isinstance(argument, ListOf):
        for item in argument.items:
            yield from tensors_of(item)
    elif isinstance(argument, tuple):
        for item in argument:
            yield from tensors_of(item)


def map_tensors(argument: Argument, change: Callable[[TensorSpec], TensorSpec]) -> Argument:
    """Return the argument with `change` applied to every tensor in it."""
    if isinstance(argument, TensorSpec):
        return change(argument)
    if isinstance(argument, ListOf):
        return ListOf(tuple(map_tensors(item, change) for item in argument.items))
    if isinstance(argument, tuple):
        return tuple(map_tensors(item, change) for item in argument)
    return argument


def _digest(content: bytes, digits: int) -> str:
    """Return the first hexadecimal digits of a digest."""
    import hashlib  # it starts OpenSSL: 3 ms that a command which names no case does not wait for

    return hashlib.sha256(content).hexdigest()[:digits]


@dataclass(frozen=True)
class Case(Fields):
    """One operator, its inputs (what holds tensors) and its attributes (what does not).

    >>> case = Case("add", {"lhs": TensorSpec((2,)), "rhs": TensorSpec((2,))})
    >>> case.id
    'c1-e7a9aedb9762e366'
    """

    operator: str
    inputs: Arguments = field(default_factory=dict)
    attributes: Arguments = field(default_factory=dict)

    @cached_property
    def id(self) -> str:
        """The content id: `c1-` and 16 hexadecimal digits."""
        canonical = json.dumps(self.content(), sort_keys=True, separators=(",", ":"))
        return ID_PREFIX + _digest(canonical.encode(), 16)

    def __eq__(self, other: object) -> bool:
        # By content, as the id has it: to Python 1 == True == 1.0, to a framework they are three arguments.
        return isinstance(other, Case) and self.id == other.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __getitem__(self, name: str) -> Argument:
        return self.inputs[name] if name in self.inputs else self.attributes[name]

    def get(self, name: str, default: Argument = None) -> Argument:
        """Return the input or attribute called `name`, or `default`."""
        return self.inputs.get(name, self.attributes.get(name, default))

    def tensor(self, name: str) -> TensorSpec:
        """Return the input `name`; raises `InputError` where that is no tensor."""
        value = self.inputs[name]
        if not isinstance(value, TensorSpec):
            raise InputError(f"`{name}` of `{self.operator}` must be a tensor")
        return value

    def tensors(self, names: Iterable[str] | None = None) -> Iterator[TensorSpec]:
        """Yield every tensor among the inputs, or among those of some names."""
        for name in self.inputs if names is None else names:
            if name in self.inputs:
                yield from tensors_of(self.inputs[name])

    @property
    def input_bytes(self) -> int:
        """How many bytes all input tensors take."""
        return sum(tensor.nbytes for tensor in self.tensors())

    def with_dtype(self, dtype: str, *, of: str = "float32") -> Case:
        """Return this case with every tensor and dtype argument of one element type in another.

        A range of real numbers means nothing to whole ones: they take their default, without zero where the operator
        asked for positive values. Values that are given one by one keep their type where another does not hold them,
        and whole numbers from zero to another bound than their type's keep theirs: they are indices.
        """

        def change(tensor: TensorSpec) -> TensorSpec:
            if tensor.dtype != of:
                return tensor
            if is_whole(of) and tensor.range is not None:
                if tensor.range[0] == 0 and tensor.range != full_range(of):
                    return tensor
                tensor = replace(tensor, range=None if tensor.range[0] <= 0 else (0.5, 2.0))
            if tensor.literal is not None:
                with suppress(InputError):
                    return replace(tensor, dtype=dtype)
                return tensor
            if tensor.is_given:
                return tensor
            if tensor.values == SPD and dtype not in FLOATS:
                return replace(tensor, dtype=dtype, values="uniform")
            if dtype in FLOATS or tensor.range is None:
                return replace(tensor, dtype=dtype)
            positive = is_whole(dtype) and tensor.range[0] > 0
            return replace(tensor, dtype=dtype, range=positive_range(dtype) if positive else None)

        def attribute(value: Argument) -> Argument:
            return DType(dtype) if value == DType(of) else map_tensors(value, change)

        return replace(
            self,
            inputs={name: map_tensors(value, change) for name, value in self.inputs.items()},
            attributes={name: attribute(value) for name, value in self.attributes.items()},
        )

    def with_values(self, values: str, by_name: Mapping[str, str] | None = None) -> Case:
        """Return this case with every uniform input in another distribution; whole numbers keep theirs if it has none.

        An input of mostly zeros, which an operator of sparse matrices has, takes another share of zeros and no more.
        Those in `by_name` take their own, whatever they had. Distributions are what `parse_distribution` returns.
        """
        distributions = by_name or {}

        def changed(name: str, value: Argument) -> Argument:
            distribution = distributions.get(name, values)
            kind = "sparse:SHARE" if distribution.startswith(SPARSE) else distribution

            def change(tensor: TensorSpec) -> TensorSpec:
                still_open = tensor.values == UNIFORM or tensor.values[: len(SPARSE)] == SPARSE == kind[: len(SPARSE)]
                fits = tensor.is_float or kind in INTEGER_DISTRIBUTIONS
                free = still_open or (name in distributions and tensor.literal is None)
                return replace(tensor, values=distribution) if fits and free else tensor

            return map_tensors(value, change)

        return replace(self, inputs={name: changed(name, value) for name, value in self.inputs.items()})

    def to_json(self) -> dict[str, object]:
        """Return the JSON form, with the id."""
        return {"id": self.id, **self.content()}

    def content(self) -> dict[str, object]:
        """Return the content that the id is a hash of."""
        return super().to_json()

    @classmethod
    def from_json(cls, data: object, where: str = "case") -> Case:
        """Read the JSON form; raises `InputError` that names the place."""
        if not isinstance(data, dict) or not isinstance(data.get("operator"), str):
            raise InputError(f"{where}: expected a case with an `operator` name", hint='as in {"operator": "add", ...}')
        return decode(cls, data, where)
