"""The description of a tensor: shape, element type, and which values it is filled with. No tensor is allocated here."""

from __future__ import annotations

import math
import re
import struct
import sys
from collections.abc import Sequence
from itertools import chain
from typing import Any

from opperf.domain.codec import Fields, decode
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, at_place
from opperf.domain.type_hint import wrong

#: Text of any length, which models of ONNX have.
STRING = "string"
#: Bytes of one element, by the name that opperf gives the type in every framework.
ITEM_SIZES = {
    "bool": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "int64": 8,
    "uint64": 8,
    "float8_e4m3fn": 1,
    "float8_e4m3fnuz": 1,
    "float8_e5m2": 1,
    "float8_e5m2fnuz": 1,
    "float16": 2,
    "bfloat16": 2,
    "float32": 4,
    "float64": 8,
    "complex32": 4,
    "complex64": 8,
    "complex128": 16,
    STRING: 32,  # the size of a C++ string object, which contains short text
}
#: Of floating types of eight bits, those of the fraction, and what is added to an exponent. Two of PyTorch's are not
#: here: one holds neither signs nor zeros (float8_e8m0fnu), the other two elements in one (float4_e2m1fn_x2).
FLOAT8 = {"float8_e4m3fn": (3, 7), "float8_e4m3fnuz": (3, 8), "float8_e5m2": (2, 15), "float8_e5m2fnuz": (2, 16)}
FLOATS = frozenset({*FLOAT8, "float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128"})
#: The largest finite numbers of those of eight bits, which `struct` does not know.
MOST_FLOATS = {
    "float8_e4m3fn": 448.0,
    "float8_e4m3fnuz": 240.0,
    **dict.fromkeys(("float8_e5m2", "float8_e5m2fnuz"), 57344.0),
}
#: How `struct` packs the elements of those that are narrower than Python's own; a bfloat16 reaches as far as a float32.
PACKED = {**dict.fromkeys(("float16", "complex32"), "e"), **dict.fromkeys(("bfloat16", "float32", "complex64"), "f")}
DISTRIBUTIONS = ("uniform", "normal", "constant", "zeros", "ones", "sorted", "reversed", "denormal", "sparse:SHARE")
#: Those that whole numbers and booleans have too.
INTEGER_DISTRIBUTIONS = ("uniform", "constant", "zeros", "ones", "sorted", "reversed", "sparse:SHARE")
UNIFORM = "uniform"
SPARSE = "sparse:"
#: Symmetric positive definite matrices in the last two dimensions; an operator asks for them, no command line.
SPD = "spd"
#: The `values` of tensors with explicit elements, and their maximum number, since every copy of the case has them.
LITERAL = "literal"
MOST_LITERAL = 65_536
#: Lists within lists are read to this depth, which is more dimensions than any framework has.
MOST_DIMENSIONS = 64
#: Before the digest of elements that lie beside the run, as those of an array that a program hands over. They are
#: looked for in one folder, which a child is told by a variable.
DATA = "data="
ARRAYS = "OPPERF_ARRAYS"
_DIGEST = re.compile(r"[0-9a-f]{16}")
#: What the JSON form of a tensor may say.
KEYS = ("shape", "dtype", "strides", "values", "range", "requires_grad")
#: The bounds of uniform values of a tensor that says none. A plan says those of whole numbers (`full_range`): without a
#: word they are ten values, as records of earlier versions have them.
FLOAT_RANGE = (-1.0, 1.0)
INTEGER_RANGE = (0, 10)
#: Whole numbers of 64 bits take no more than these: a sum of a billion still fits, and so they do in JAX's 32 bits.
MOST_BITS = 32

#: Other spellings of element types, and their meaning.
DTYPE_ALIASES = {
    "half": "float16",
    "float": "float32",
    "single": "float32",
    "double": "float64",
    "byte": "uint8",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "bf16": "bfloat16",
    **{f"{prefix}{bits}": f"float{bits}" for prefix in ("fp", "f") for bits in (16, 32, 64)},
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    **{f"c{bits}": f"complex{bits}" for bits in (64, 128)},
}


def parse_dtype(name: str) -> str:
    """Return the canonical name of an element type, or raise `InputError` with the known ones.

    >>> parse_dtype("fp16"), parse_dtype("BF16")
    ('float16', 'bfloat16')
    """
    plain = name.strip().lower()
    canonical = DTYPE_ALIASES.get(plain, plain)
    if canonical not in ITEM_SIZES:
        hint = f"known: {', '.join(ITEM_SIZES)}; and short forms, as in fp16, bf16, i32"
        raise InputError(f"no dtype `{name}`", hint=hint, slug="unknown_dtype")
    return canonical


def parse_distribution(text: str) -> str:
    """Return the name of a distribution; raises `InputError` with the known ones.

    >>> parse_distribution("sparse:0.90")
    'sparse:0.9'
    """
    if text.startswith(SPARSE):
        try:
            share = float(text.removeprefix(SPARSE))
        except ValueError:
            share = math.nan
        if 0 <= share <= 1:
            return f"{SPARSE}{share:g}"
        raise InputError(
            f"`{text}`: expected a share of zeros between 0 and 1", hint="write, for example, `sparse:0.9`"
        )
    if text.startswith(DATA) and _DIGEST.fullmatch(text.removeprefix(DATA)):
        return text
    if text not in DISTRIBUTIONS[:-1]:
        names = ", ".join(DISTRIBUTIONS)
        raise InputError(f"no value distribution `{text}`", hint=f"known: {names}", slug="unknown_values")
    return text


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides, in elements, of a row-major tensor.

    >>> row_major((2, 3, 4))
    (12, 4, 1)
    """
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def shape_and_elements(values: object) -> tuple[tuple[int, ...], list[Any]]:
    """Return the shape of lists within lists, and their elements in row-major order; raises `InputError`.

    >>> shape_and_elements([[1, 2, 3], [4, 5, 6]])
    ((2, 3), [1, 2, 3, 4, 5, 6])
    """
    shape: list[int] = []
    items = [values]
    while isinstance(items[0], (list, tuple)) and len(shape) < MOST_DIMENSIONS:
        lists = [item for item in items if isinstance(item, (list, tuple))]
        sizes = {*map(len, lists), *(-1 for _ in items[len(lists) :])}
        if len(sizes) > 1:
            raise InputError("lists of values differ in length, expected those of a tensor", slug="bad_values")
        shape.append(sizes.pop())
        items = list(chain.from_iterable(lists))
        if not items:
            break
    return tuple(shape), items


def element(value: object, dtype: str) -> float | int | bool | str:
    """Return a value converted to an element type; raises `InputError` where the type cannot hold it.

    >>> element(1, "float32"), element(1.0, "int64"), element("-inf", "float32"), element("-inf", "string")
    (1.0, 1, -inf, '-inf')
    """
    if dtype == STRING and isinstance(value, str):
        return value
    if value in ("inf", "-inf", "nan"):  # JSON has no word for these
        value = float(value)
    if isinstance(value, (int, float)) and dtype != STRING:
        if dtype in FLOATS:
            return _float(value, dtype)
        low, high = (0, 1) if dtype == "bool" else _bounds(dtype)
        if low <= value <= high and value == int(value):
            return bool(value) if dtype == "bool" else int(value)
    raise InputError(f"found {str(value)[:80]!r}, expected a value of {dtype}", slug="bad_values")


def _float(value: float, dtype: str) -> float:
    """Return a number as it was given; raises `InputError` where the type has none that is nearest to it.

    A decimal may be larger than the largest number of a type and yet mean it, as 3.4028235e+38 in float32.
    """
    try:
        struct.pack("<" + PACKED.get(dtype, "d"), float(value))
        if math.isinf(value) or abs(value) <= MOST_FLOATS.get(dtype, math.inf) or math.isnan(value):
            return float(value)
    except OverflowError:
        pass
    text = f"{value:.6g}" if abs(value) < sys.float_info.max else "a number beyond all floats"
    raise InputError(f"found {text}, which {dtype} cannot hold", slug="bad_values")


def _bounds(dtype: str, most_bits: int = 64) -> tuple[int, int]:
    bits = min(8 * ITEM_SIZES[dtype], most_bits)
    return (0, (1 << bits) - 1) if dtype.startswith("u") else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def is_whole(dtype: str) -> bool:
    """Whether elements of a type are whole numbers."""
    return dtype not in FLOATS and dtype not in ("bool", STRING)


def full_range(dtype: str) -> tuple[float, float]:
    """Return the bounds of whole numbers of which nothing is said: all of their type, of 64 bits as many as of 32.

    >>> full_range("int64"), full_range("uint8")
    ((-2147483648.0, 2147483648.0), (0.0, 256.0))
    """
    least, most = _bounds(dtype, MOST_BITS)
    return float(least), most + 1.0


def positive_range(dtype: str) -> tuple[float, float]:
    """Return those above zero.

    >>> positive_range("int8")
    (1.0, 128.0)
    """
    return 1.0, full_range(dtype)[1]


def zero_share(values: str) -> float:
    """Return the share of zeros in `sparse:SHARE`."""
    return float(values.removeprefix(SPARSE))


@dataclass(frozen=True)
class TensorSpec(Fields):
    """A tensor to be made: its shape, its dtype and the distribution of its values.

    `values` is `uniform` over `[low, high)` of `range`; `normal`; `constant`, the middle of the range; `zeros`; `ones`;
    `sorted` or `reversed` over the range; `denormal`; `sparse:SHARE`, uniform with that share of zeros; or `spd`,
    symmetric positive definite matrices in the last two dimensions. Without a range, floating types take [-1, 1) and
    booleans either value; a plan gives whole numbers those of their type (`full_range`), and where none did they are
    in [0, 10). Strings are whole numbers in digits. `literal` gives each value instead, in row-major order; `values` is
    then `literal`; `data=DIGEST` says that they lie beside the run. `strides` are in elements; None is row-major.

    >>> TensorSpec((2, 3)).nbytes
    24
    """

    shape: tuple[int, ...]
    dtype: str = "float32"
    strides: tuple[int, ...] | None = None
    values: str = "uniform"
    range: tuple[float, float] | None = None
    requires_grad: bool | None = None
    literal: tuple[float | int | bool | str, ...] | None = None

    sparse = ("strides", "values", "range", "requires_grad", "literal")

    def __post_init__(self) -> None:
        if self.dtype not in ITEM_SIZES:
            raise InputError(f"no dtype `{self.dtype}`", hint=f"known: {', '.join(ITEM_SIZES)}")
        if {*map(type, self.shape)} - {int} or min(self.shape, default=0) < 0:
            raise InputError(
                f"shape {list(self.shape)} must hold whole numbers >= 0",
                hint="write, for example, [64, 1024]; [] is one value",
            )
        if self.strides is not None and (
            len(self.strides) != len(self.shape)
            or any(not isinstance(n, int) or isinstance(n, bool) for n in self.strides)
        ):
            raise InputError(
                f"strides {list(self.strides)} must hold a whole number for each of {len(self.shape)} dimensions",
                hint="strides count elements; leave them out for a row-major tensor",
            )
        if self.literal is not None:
            self._set_literal(self.literal)
            return
        if self.values == SPD:
            self._check_square()
        else:
            object.__setattr__(self, "values", parse_distribution(self.values))
        if self.range is not None:
            bounds = float(self.range[0]), float(self.range[1])
            # Said or not, the default is the same tensor and case; of whole numbers a plan says another than that.
            default = bounds == self.default_range and not is_whole(self.dtype)
            object.__setattr__(self, "range", None if default else bounds)

    def _check_square(self) -> None:
        if len(self.shape) < 2 or self.shape[-1] != self.shape[-2] or not self.is_float:
            raise InputError(
                f"shape {list(self.shape)} of {self.dtype} cannot hold positive definite matrices",
                hint="they are square, and of a floating type",
                slug="bad_values",
            )

    def _set_literal(self, values: Sequence[object]) -> None:
        """Check given values and keep them as the element type has them: however written, it is the same case."""
        if self.elements > MOST_LITERAL:
            raise InputError(
                f"{self.elements} values are given, expected at most {MOST_LITERAL}",
                hint="for larger tensors, choose a distribution of values",
                slug="bad_values",
            )
        if len(values) != self.elements:
            raise InputError(
                f"{len(values)} values are given for the shape {list(self.shape)}, which has {self.elements}",
                slug="bad_values",
            )
        object.__setattr__(self, "literal", tuple(element(value, self.dtype) for value in values))
        object.__setattr__(self, "values", LITERAL)
        object.__setattr__(self, "range", None)

    @property
    def default_range(self) -> tuple[float, float]:
        """The bounds of uniform values where none are given, the upper one left out."""
        if self.dtype == "bool":
            return (0, 2)
        return FLOAT_RANGE if self.is_float else INTEGER_RANGE

    @property
    def is_given(self) -> bool:
        """Whether each element is given: no shape or seed makes others."""
        return self.literal is not None or self.values.startswith(DATA)

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

    def to_json(self) -> dict[str, object]:
        """Return the JSON form, with everything that has its default value left out but the dtype."""
        form = super().to_json()
        if self.literal is not None:
            del form["literal"]
            form["values"] = {LITERAL: list(map(_in_json, self.literal))}
        return form

    @classmethod
    def from_json(cls, data: object, where: str = "tensor") -> TensorSpec:
        """Read the JSON form; raises `InputError`, with `where` for the place in the file."""
        if not isinstance(data, dict):
            raise wrong(data, where, "an object")
        unknown = set(data) - set(KEYS)
        if unknown:
            raise InputError(f"{where}: unknown key `{min(unknown)}` of a tensor", hint=f"known: {', '.join(KEYS)}")
        literal, shape = _literal(data.get("values"), data.get("shape"), where)
        rest = {name: value for name, value in data.items() if literal is None or name != "values"}
        with at_place(where):
            dtype = parse_dtype(str(data.get("dtype", "float32")))
        return decode(cls, {**rest, "shape": shape}, where, dtype=dtype, literal=literal)

    def __str__(self) -> str:
        words = ["x".join(str(n) for n in self.shape) if self.shape else "scalar"]
        words += [self.dtype] if self.dtype != "float32" else []
        words += [self.values] if self.values != "uniform" else []
        return " ".join(words)


def _literal(values: object, shape: object, where: str) -> tuple[tuple[object, ...] | None, object]:
    """Return the values that JSON gives one by one, None where it names a distribution, and the tensor's shape.

    They stand in lists within lists, whose shape then need not be said, or flat.
    """
    if not isinstance(values, dict):
        return None, shape
    if set(values) != {LITERAL} or not isinstance(values[LITERAL], list):
        raise InputError(f"{where}: `values` is {str(values)[:80]}, expected {{{LITERAL}: [...]}}", slug="bad_values")
    with at_place(where):
        lengths, values_flat = shape_and_elements(values[LITERAL])
    flat = len(lengths) == 1
    if shape is not None and not flat and list(lengths) != shape:
        raise InputError(f"{where}: values of shape {list(lengths)}, and `shape` is {shape}", slug="bad_values")
    return tuple(values_flat), list(lengths) if shape is None else shape


def _in_json(value: float | str) -> float | str:
    """Return a value as JSON has it, which has no word for some numbers."""
    return value if isinstance(value, str) or math.isfinite(value) else repr(value)
