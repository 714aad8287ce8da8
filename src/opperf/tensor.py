"""The description of a tensor: shape, element type, and which values it is filled with. No tensor is allocated here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from opperf.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Bytes of one element, by the name that opperf gives the type in every framework.
ITEM_SIZES = {
    "bool": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "float16": 2,
    "bfloat16": 2,
    "float32": 4,
    "float64": 8,
    "complex64": 8,
    "complex128": 16,
}
FLOATS = frozenset({"float16", "bfloat16", "float32", "float64", "complex64", "complex128"})
DISTRIBUTIONS = ("uniform", "normal", "constant", "zeros", "ones", "sorted", "reversed", "denormal", "sparse:SHARE")
#: Those that whole numbers and booleans have too.
INTEGER_DISTRIBUTIONS = ("uniform", "constant", "zeros", "ones", "sorted", "reversed", "sparse:SHARE")
SPARSE = "sparse:"
#: What uniform values lie between where nothing is said.
FLOAT_RANGE = (-1.0, 1.0)
INTEGER_RANGE = (0, 10)

#: Other spellings people write, and what they mean.
DTYPE_ALIASES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "int": "int32",
    "long": "int64",
    "fp16": "float16",
    "fp32": "float32",
    "fp64": "float64",
    "bf16": "bfloat16",
}


def dtype_named(name: str) -> str:
    """Return the canonical name of an element type, or raise `InputError` with the known ones.

    >>> dtype_named("fp16")
    'float16'
    """
    canonical = DTYPE_ALIASES.get(name, name)
    if canonical not in ITEM_SIZES:
        raise InputError(f"no dtype `{name}`", hint=f"known: {', '.join(ITEM_SIZES)}", slug="unknown_dtype")
    return canonical


def distribution_named(text: str) -> str:
    """Return the name of a distribution; raises `InputError` with the known ones.

    >>> distribution_named("sparse:0.90")
    'sparse:0.9'
    """
    if text.startswith(SPARSE):
        try:
            share = float(text.removeprefix(SPARSE))
        except ValueError:
            share = math.nan
        if 0 <= share <= 1:
            return f"{SPARSE}{share:g}"
        raise InputError(f"`{text}`: expected a share of zeros between 0 and 1", hint="write for example `sparse:0.9`")
    if text not in DISTRIBUTIONS[:-1]:
        known = ", ".join(DISTRIBUTIONS)
        raise InputError(f"no value distribution `{text}`", hint=f"known: {known}", slug="unknown_values")
    return text


def zero_share(values: str) -> float:
    """Return the share of zeros in `sparse:SHARE`."""
    return float(values.removeprefix(SPARSE))


@dataclass(frozen=True)
class TensorSpec:
    """A tensor to be made: its shape, its dtype and the distribution of its values.

    `values` is `uniform` over `[low, high)` of `range`; `normal`; `constant`, the middle of the range; `zeros`; `ones`;
    `sorted` or `reversed` over the range; `denormal`; or `sparse:SHARE`, uniform with that share of zeros. Without a
    range, floating types take [-1, 1), integers [0, 10) and booleans either value. `strides` are in elements; None is
    row-major.

    >>> TensorSpec((2, 3)).nbytes
    24
    """

    shape: tuple[int, ...]
    dtype: str = "float32"
    strides: tuple[int, ...] | None = None
    values: str = "uniform"
    range: tuple[float, float] | None = None
    requires_grad: bool | None = None

    def __post_init__(self) -> None:
        if self.dtype not in ITEM_SIZES:
            raise InputError(f"no dtype `{self.dtype}`", hint=f"known: {', '.join(ITEM_SIZES)}")
        if any(not isinstance(n, int) or isinstance(n, bool) or n < 0 for n in self.shape):
            raise InputError(f"shape {list(self.shape)} must hold whole numbers >= 0")
        if self.strides is not None and (
            len(self.strides) != len(self.shape)
            or any(not isinstance(n, int) or isinstance(n, bool) for n in self.strides)
        ):
            raise InputError(f"strides {list(self.strides)} must hold a whole number for each dimension")
        object.__setattr__(self, "values", distribution_named(self.values))
        if self.range is not None and tuple(self.range) == self.default_range:
            object.__setattr__(self, "range", None)  # said or not, it is the same tensor and the same case

    @property
    def default_range(self) -> tuple[float, float]:
        """The bounds of uniform values where none are given, the upper one left out."""
        if self.dtype == "bool":
            return (0, 2)
        return FLOAT_RANGE if self.is_float else INTEGER_RANGE

    @property
    def elements(self) -> int:
        """How many elements the tensor has."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """How many bytes its elements take."""
        return self.elements * ITEM_SIZES[self.dtype]

    @property
    def is_float(self) -> bool:
        """Whether a gradient can flow through its elements."""
        return self.dtype in FLOATS

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form, with everything that has its default value left out but the dtype."""
        found: dict[str, Any] = {"shape": list(self.shape), "dtype": self.dtype}
        if self.strides is not None:
            found["strides"] = list(self.strides)
        if self.values != "uniform":
            found["values"] = self.values
        if self.range is not None:
            found["range"] = [float(bound) for bound in self.range]
        if self.requires_grad is not None:
            found["requires_grad"] = self.requires_grad
        return found

    @classmethod
    def from_json(cls, data: Mapping[str, Any], where: str = "tensor") -> TensorSpec:
        """Read the JSON form; `where` names the place in the file for the error."""
        unknown = set(data) - {"shape", "dtype", "strides", "values", "range", "requires_grad"}
        if unknown:
            raise InputError(f"{where}: unknown key `{min(unknown)}` of a tensor")
        shape = data.get("shape")
        if not isinstance(shape, list):
            raise InputError(f"{where}: `shape` is {shape!r}, expected a list of whole numbers")
        strides, bounds, gradient = data.get("strides"), data.get("range"), data.get("requires_grad")
        if strides is not None and not isinstance(strides, list):
            raise InputError(f"{where}: `strides` is {strides!r}, expected a list of whole numbers")
        if bounds is not None and not (isinstance(bounds, list) and list(map(_is_number, bounds)) == [True, True]):
            raise InputError(f"{where}: `range` is {bounds!r}, expected [low, high]")
        if gradient is not None and not isinstance(gradient, bool):
            raise InputError(f"{where}: `requires_grad` is {gradient!r}, expected true or false")
        try:
            return cls(
                shape=tuple(shape),
                dtype=dtype_named(str(data.get("dtype", "float32"))),
                strides=None if strides is None else tuple(strides),
                values=str(data.get("values", "uniform")),
                range=None if bounds is None else (float(bounds[0]), float(bounds[1])),
                requires_grad=gradient,
            )
        except InputError as error:
            raise InputError(f"{where}: {error.message}", hint=error.hint) from error

    def __str__(self) -> str:
        words = ["x".join(str(n) for n in self.shape) if self.shape else "scalar"]
        words += [self.dtype] if self.dtype != "float32" else []
        words += [self.values] if self.values != "uniform" else []
        return " ".join(words)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
