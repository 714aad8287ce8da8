"""From values that a model computes with to the arguments of a case.

What decides the work of a node by its values is small: shapes, axes, scales, bounds. So small tensors keep their
values. Of others a case says between which bounds whole numbers lie, which sign fractions have, and how long strings
are. A sequence is a list of tensors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import AttributeProto, numpy_helper

from opperf.domain.case import Argument, Graph, ListOf
from opperf.domain.tensor import FLOATS, ITEM_SIZES, MOST_LITERAL, STRING, TensorSpec

#: The element types that ONNX Runtime and NumPy's arrays have both; strings are Python's own, in arrays of objects.
DTYPES = frozenset(ITEM_SIZES) - {"bfloat16", "complex64", "complex128"}
#: The most elements of tensors that keep their values: shapes and indices; and the scales of a few dimensions.
WHOLE_KEPT, FRACTIONS_KEPT = 64, 8
#: The bytes of the largest graph in a case.
MOST_GRAPH = 1 << 18
#: The digits of the longest string that is drawn: whole numbers of 64 bits may have one more.
MOST_DIGITS = 18


class NoDescription(Exception):
    """A value that no case can hold; the message says what it is."""


def describe(value: Any) -> TensorSpec | ListOf:
    """Return the description of a tensor, or of those of a sequence; raises `NoDescription`."""
    if isinstance(value, list):
        if not value:
            raise NoDescription("an empty sequence")
        return ListOf(tuple(map(spec, value)))
    return spec(value)


def spec(value: Any) -> TensorSpec:
    """Return the description of a tensor that stands for the values of others too; raises `NoDescription`."""
    value = np.asarray(value) if isinstance(value, np.generic) else value
    dtype = element_type(value)
    most = FRACTIONS_KEPT if dtype in FLOATS else WHOLE_KEPT
    return exact(value) if value.size <= most else TensorSpec(value.shape, dtype, range=_bounds(value, dtype))


def exact(value: Any) -> TensorSpec:
    """Return the description of a tensor with its values; raises `NoDescription`, for one that is too large as well."""
    if value.size > MOST_LITERAL:
        raise NoDescription(f"a tensor of {value.size} values")
    dtype, flat = element_type(value), value.ravel()
    return TensorSpec(value.shape, dtype, literal=tuple(map(_shortest, flat) if dtype == "float32" else flat.tolist()))


def element_type(value: Any) -> str:
    """Return the name of a value's element type; raises `NoDescription` for what is no tensor, and for other types."""
    if value is None:
        raise NoDescription("a value that a run does not expose")
    if not isinstance(value, np.ndarray):
        raise NoDescription("a map")
    name: str = STRING if value.dtype.kind in "OU" else value.dtype.name
    if name not in DTYPES:
        raise NoDescription(f"a tensor of {name}")
    return name


def array(value: Any) -> Any:
    """Return the array that a tensor in a file is; raises `NoDescription` for strings of bytes that are no text."""
    try:
        return numpy_helper.to_array(value)
    except UnicodeDecodeError as error:
        raise NoDescription("bytes in a tensor that are not text") from error


def attribute(proto: Any) -> Argument:
    """Return the argument that an attribute is; raises `NoDescription` for types, and for what is too large."""
    kind, name = proto.type, proto.name
    if kind == AttributeProto.TENSOR:
        return exact(array(proto.t))
    if kind == AttributeProto.STRING:
        return _text(proto.s, name)
    if kind == AttributeProto.STRINGS:
        return tuple(_text(one, name) for one in proto.strings)
    if kind == AttributeProto.FLOAT:
        return _shortest(proto.f)
    if kind == AttributeProto.FLOATS:
        return tuple(map(_shortest, proto.floats))
    if kind == AttributeProto.INT:
        return int(proto.i)
    if kind == AttributeProto.INTS:
        return tuple(map(int, proto.ints))
    if kind == AttributeProto.GRAPH:
        return _graph(proto.g, name)
    raise NoDescription(f"`{name}`, which is neither numbers, text, a tensor nor a graph")


def _graph(graph: Any, name: str) -> Graph:
    content = graph.SerializeToString(deterministic=True)
    if len(content) > MOST_GRAPH:
        raise NoDescription(f"a graph of {len(content)} bytes as `{name}`")
    return Graph(content)


def _text(raw: bytes, name: str) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise NoDescription(f"bytes that are not text as `{name}`") from error


def _shortest(value: float) -> float:
    """Return the number with the fewest digits that is the same float32."""
    return float(str(np.float32(value)))


def _bounds(value: Any, dtype: str) -> tuple[float, float] | None:
    """Return the bounds of values: whole numbers as they are, fractions by their sign; None for the usual bounds.

    Strings are those of whole numbers with as many digits as they are long on the average.
    """
    if dtype == "bool":
        return None
    if dtype == STRING:
        digits = min(MOST_DIGITS, max(1, round(sum(map(len, value.flat)) / value.size)))
        return float(10 ** (digits - 1)), float(10**digits)
    if dtype not in FLOATS:
        return float(value.min()), float(value.max()) + 1
    finite = value[np.isfinite(value)]
    return None if not finite.size else _sign(float(finite.min()), float(finite.max()))


def _sign(low: float, high: float) -> tuple[float, float] | None:
    if low < 0 < high or low == high == 0:
        return None
    return (0.0, 1.0) if low >= 0 else (-1.0, 0.0)
