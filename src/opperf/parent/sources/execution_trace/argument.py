"""Arguments of recorded calls: types, shapes and strides as recorded, and valid integers.

A trace has no elements of tensors. Random ones do for floating types; a whole number may be an index, and one out of
range fails or ends the process. So tensors of indices have the elements that were kept beside the trace, or the range
that was recorded. What the operator is not defined for is left to `catalog/valid_values.py`.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from opperf.domain.case import Argument, Device, DType, ListOf
from opperf.domain.codec import read_as
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import value_of
from opperf.domain.tensor import FLOAT8, MOST_LITERAL, TensorSpec, row_major
from opperf.param.names import split_at_commas
from opperf.parent.sources.execution_trace.node import Node

#: Elements that are kept of one trace, since each stands in a case; of tensors beyond that, the bounds are kept.
MOST_KEPT = 1 << 20
#: Bytes of a file beyond which not even the bounds are looked for.
MOST_READ = 1 << 28
#: How `array` reads an element.
LETTERS = {
    "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q",
}  # fmt: skip


@dataclass
class Elements:
    """The files next to a trace; `room` is how many elements may still be kept."""

    folder: Path
    names: frozenset[str]
    room: int = MOST_KEPT

    @classmethod
    def find(cls, trace: Path) -> Elements:
        """Look for the folder of a trace, however the trace is packed."""
        folder = trace.with_name(re.split(r"\.(?:json|tar|tgz|gz)\b", trace.name)[0] + "_resources")
        try:
            return cls(folder, frozenset(path.name for path in folder.iterdir()) if folder.is_dir() else frozenset())
        except OSError as error:
            raise InputError(f"cannot read `{folder}`: {error.strerror}", slug="input") from error

    def of(self, node: int, number: int, tensor: TensorSpec, value: Sequence[object]) -> TensorSpec:
        """Return a tensor of whole numbers with the elements that it had, or their bounds; as it is without a file.

        `value` is what the trace says of it. Raises `ValueError` for a file of another tensor.
        """
        name = f"nid_{node}_tid_{number}.dat"
        if name not in self.names or tensor.dtype not in LETTERS or not _is_whole(value):
            return tensor
        if not tensor.elements or tensor.nbytes > MOST_READ or not _is_dense(tensor):
            return tensor
        values: array[int] = array(LETTERS[tensor.dtype], _read(self.folder / name, tensor.nbytes))
        if tensor.elements > min(MOST_LITERAL, self.room):
            return replace(tensor, range=(float(min(values)), float(max(values)) + 1))
        self.room -= tensor.elements
        return replace(tensor, literal=tuple(values[place] for place in _places(tensor)))


def _read(path: Path, size: int) -> bytes:
    """Return the bytes of a file, which must have this size."""
    try:
        length = path.stat().st_size
        if length == size:
            return path.read_bytes()
    except OSError as error:
        raise ValueError(f"cannot read {path.name}: {error.strerror}") from error
    raise ValueError(f"{path.name} has {length} bytes, but the tensor has {size}")


def _is_whole(value: Sequence[object]) -> bool:
    """Whether a file holds the tensor: of one on a CPU that begins inside its memory, PyTorch writes other bytes."""
    _, _, offset, _, size, device = value
    return bool(offset == 0 or size == 1 or device != "cpu")


def _is_dense(tensor: TensorSpec) -> bool:
    """Whether every place in memory from the first to the last is that of one element."""
    step = 1
    for stride, size in sorted(zip(tensor.strides or (), tensor.shape)):
        if size > 1 and stride != step:
            return False
        step *= size
    return True


def _places(tensor: TensorSpec) -> Iterable[int]:
    """Return the memory offset of each element of a dense tensor, in the order of indices."""
    if tensor.strides is None:
        return range(tensor.elements)
    steps = ([stride * i for i in range(size)] for size, stride in zip(tensor.shape, tensor.strides))
    return map(sum, product(*steps))


_SIGNATURE = re.compile(r"(?P<name>[\w:]+)(?:\.(?P<overload>\w+))?\((?P<arguments>.*)\)\s*->")
#: A type may have brackets and an alias mark in it: `Tensor(a!)`, `int[2]?`, `Tensor(a)[]`.
_ARGUMENT = re.compile(r"(?P<type>\S+(?:\([^)]*\)\S*)?)\s+(?P<name>\w+)(?:=(?P<default>.*))?")


@dataclass(frozen=True)
class Parameter:
    """One argument of a signature; `default` is what stands behind its `=`."""

    name: str
    type: str
    keyword_only: bool = False
    default: str | None = None


@dataclass(frozen=True)
class Signature:
    """An operator's name with its overload (`aten::add.Tensor`), and its arguments."""

    name: str
    parameters: tuple[Parameter, ...]


def signature(text: str) -> Signature:
    """Read a signature; raises `ValueError` for anything else.

    >>> signature("aten::mul.Tensor(Tensor self, Tensor other) -> Tensor").name
    'aten::mul.Tensor'
    >>> [found.name for found in signature("aten::t(Tensor(a) self) -> Tensor(a)").parameters]
    ['self']
    """
    match = _SIGNATURE.match(text.strip())
    if match is None:
        raise ValueError(f"not the signature of an operator: {text[:80]!r}")
    parameters: list[Parameter] = []
    keyword_only = False
    for part in split_at_commas(match["arguments"]):
        if part == "*":
            keyword_only = True
            continue
        argument = _ARGUMENT.fullmatch(part)
        if argument is None:
            raise ValueError(f"not an argument of an operator: {part[:80]!r}")
        parameters.append(Parameter(argument["name"], argument["type"], keyword_only, argument["default"]))
    return Signature(f"{match['name']}.{match['overload'] or 'default'}", tuple(parameters))


DTYPES = {
    "bool": "bool",
    "signed char": "int8",
    "unsigned char": "uint8",
    "short": "int16",
    "short int": "int16",
    "unsigned short": "uint16",
    "short unsigned int": "uint16",
    "int": "int32",
    "unsigned int": "uint32",
    "long": "int64",
    "long int": "int64",
    "unsigned long": "uint64",
    "long unsigned int": "uint64",
    **{f"c10::{name.capitalize()}": name for name in FLOAT8},
    "c10::Half": "float16",
    "c10::BFloat16": "bfloat16",
    "float": "float32",
    "double": "float64",
    "c10::complex<c10::Half>": "complex32",
    "c10::complex<float>": "complex64",
    "c10::complex<double>": "complex128",
}
#: PyTorch's numbers of element types (c10/core/ScalarType.h), in arguments such as `dtype`.
NUMBERS = {
    0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32", 7: "float64",
    8: "complex32", 9: "complex64", 10: "complex128", 11: "bool", 15: "bfloat16", 23: "float8_e5m2",
    24: "float8_e4m3fn", 25: "float8_e5m2fnuz", 26: "float8_e4m3fnuz", 27: "uint16", 28: "uint32", 29: "uint64",
}  # fmt: skip
NULL_TENSOR = "Tensor(nullptr (uninitialized))"
NOTHING = ("None", NULL_TENSOR)
SCALARS = ("Int", "Double", "Bool", "String")
#: The number of entries that describe a tensor's memory.
MEMORY = 6
#: A list in a list in a list: more than any operator takes.
DEEPEST = 16
_TENSOR = re.compile(r"Tensor\((?P<dtype>.+)\)")
_LIST = re.compile(r"(?:GenericList|Tuple)\[(?P<items>.*)\]")


class Unknown(ValueError):
    """Something was recorded that a case cannot hold; the message says what."""


@dataclass
class ElementRecords:
    """What is recorded of the elements of one node's tensors, by their numbers: they are counted in order."""

    node: int
    ranges: Mapping[int, Sequence[float]]
    elements: Elements
    count: int = 0

    def tensor(self, dtype: str, value: Sequence[object], shape: Sequence[int], strides: Sequence[int]) -> TensorSpec:
        """Return the next tensor."""
        number, self.count = self.count, self.count + 1
        if _has_no_memory(value):
            raise Unknown("a sparse or nested tensor, whose elements are not recorded")
        spec = _tensor(dtype, shape, strides)
        if spec.is_float or spec.dtype == "bool":
            return spec
        return self.elements.of(self.node, number, _with_bounds(spec, self.ranges.get(number)), value)


def arguments(node: Node, parameters: Sequence[Parameter], elements: Elements) -> dict[str, Argument]:
    """Return the arguments of a call by name; raises `Unknown`, and `ValueError` for damaged records."""
    if len(node.values) != len(parameters):
        raise Unknown(f"{len(node.values)} inputs are recorded, but the operator takes {len(parameters)}")
    records = ElementRecords(node.id, _ranges(node.ranges), elements)
    result: dict[str, Argument] = {}
    for place, parameter in enumerate(parameters):
        strides = node.strides[place] if place < len(node.strides) else ()
        argument = _argument(node.types[place], node.values[place], node.shapes[place], strides, records)
        result[parameter.name] = _resolve_dtype(parameter.type, argument)
    return result


def _argument(kind: str, value: Any, shape: Any, strides: Any, records: ElementRecords, depth: int = 0) -> Argument:
    if kind in NOTHING:
        records.count += kind == NULL_TENSOR
        return None
    if kind == "Device":
        return Device("default")  # what was recorded on another device runs on the one that is measured
    if kind in SCALARS and isinstance(value, (bool, int, float, str)):
        return float(value) if kind == "Double" else value
    if tensor := _TENSOR.fullmatch(kind):
        return records.tensor(tensor["dtype"], value, shape, strides)
    if match := _LIST.fullmatch(kind):
        if depth == DEEPEST:
            raise Unknown(f"lists in lists, over {DEEPEST} deep")
        kinds = _kinds(match["items"])
        if len(kinds) != len(value):
            raise Unknown(f"a list of {len(value)} of which {len(kinds)} types are recorded")
        each = zip(kinds, value, _item_records(shape, kinds), _item_records(strides, kinds))
        return ListOf(tuple(_argument(*entry, records, depth + 1) for entry in each))
    raise Unknown(f"an argument of type {kind}")


def _tensor(dtype: str, shape: Sequence[int], strides: Sequence[int]) -> TensorSpec:
    if dtype not in DTYPES:
        raise Unknown(f"a tensor of {dtype}")
    spec = TensorSpec(tuple(shape), DTYPES[dtype])
    if len(strides) != len(spec.shape) or tuple(strides) == row_major(spec.shape) or not spec.elements:
        return spec
    return replace(spec, strides=tuple(strides))


def _has_no_memory(value: object) -> bool:
    """Whether a tensor was recorded without elements and device: it is a handle of other tensors.

    The recorder writes of each its number, that of its memory, where it begins there, elements, their size, and device.
    """
    return isinstance(value, (list, tuple)) and len(value) == MEMORY and value[-2:] == [0, ""]


def _item_records(entries: Sequence[object], kinds: Sequence[str]) -> Sequence[object]:
    """Return the record of each item of a list; scalars may have nothing."""
    return entries if len(entries) == len(kinds) else [()] * len(kinds)


def _kinds(text: str) -> list[str]:
    """Split the types of a list's items.

    >>> _kinds("Tensor(float),Tensor(c10::complex<float>)")
    ['Tensor(float)', 'Tensor(c10::complex<float>)']
    """
    return re.findall(r"(?:[^,(\[]|\([^()]*(?:\([^()]*\)[^()]*)?\)|\[[^\]]*\])+", text)


def _resolve_dtype(kind: str, value: Argument) -> Argument:
    """Return an element type where the signature has one and a number was recorded."""
    if not kind.startswith("ScalarType") or not isinstance(value, int):
        return value
    if value not in NUMBERS:
        raise Unknown(f"the element type with the number {value}")
    return DType(NUMBERS[value])


def _ranges(text: str) -> Mapping[int, Sequence[float]]:
    """Read the smallest and largest element of the tensors of which they are recorded, by number."""
    try:
        ranges = read_as(Mapping[int, tuple[float, ...]], value_of(text.encode() or b"{}"), "ranges")
        bounds_by_place = {int(number): bounds for number, bounds in ranges.items()}
    except (ValueError, InputError):
        bounds_by_place = {0: ()}
    if any(len(bounds) != 2 or not all(map(math.isfinite, bounds)) for bounds in bounds_by_place.values()):
        raise Unknown(f"the ranges {text[:80]!r}")
    return bounds_by_place


def _with_bounds(spec: TensorSpec, bounds: Sequence[float] | None) -> TensorSpec:
    return spec if bounds is None else replace(spec, range=(bounds[0], bounds[1] + 1))
