"""Elements of tensors as bytes and as numbers: every element type of opperf, also those that NumPy lacks.

Numbers are float64, or complex128; whole numbers and booleans keep their own type. Nothing is lost on the way from
bytes to numbers. On the way back each is rounded once, to the nearest number of the type, of two equally near ones to
that whose last bit is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from opperf.child.worker.correctness import float8_values
from opperf.domain.tensor import FLOAT8

#: An array of NumPy; type checkers know little of what becomes of one.
Array: TypeAlias = Any
#: Of floating types, the bits of the fraction that are stored, and the exponent of the smallest normal number.
FORMATS = {
    "float16": (10, -14), "bfloat16": (7, -126), "float32": (23, -126), "float64": (52, -1022),
    **{name: (bits, 1 - bias) for name, (bits, bias) in FLOAT8.items()},
}  # fmt: skip
#: What each half of a complex number is.
PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
#: The types that hold the bits of those that NumPy lacks.
STORAGE = {**dict.fromkeys(FLOAT8, "uint8"), "bfloat16": "uint16"}


def part(dtype: str) -> str:
    """Return the type of a real and of an imaginary part; of a type without them, that type."""
    return PARTS.get(dtype, dtype)


def roundoff(dtype: str) -> float:
    """Return by how much rounding may change a number of a type, as a share of it; 0 where nothing is rounded.

    >>> roundoff("float16") == 2**-11, roundoff("int32")
    (True, 0.0)
    """
    stored = FORMATS.get(part(dtype))
    return 0.0 if stored is None else 2.0 ** -(stored[0] + 1)


def smallest(dtype: str) -> float:
    """Return the smallest number above zero; 0 for a type of whole numbers."""
    stored = FORMATS.get(part(dtype))
    return 0.0 if stored is None else 2.0 ** (stored[1] - stored[0])


@cache
def largest(dtype: str) -> float:
    """Return the largest finite number of a floating type."""
    if dtype in FLOAT8:
        return float(_positive(dtype)[-1])
    if dtype == "bfloat16":
        return 2.0**128 - 2.0**120
    return float(np.finfo(part(dtype)).max)


def storage(dtype: str) -> np.dtype[Any]:
    """Return the NumPy type that holds the bits of a type; complex32 takes two elements of it, in a dimension more."""
    return np.dtype(STORAGE.get(dtype, "float16" if dtype == "complex32" else dtype))


def decode(raw: bytes | bytearray | memoryview, shape: Sequence[int], dtype: str) -> Array:
    """Return the numbers that bytes stand for, in row-major order.

    >>> decode(bytes.fromhex("803f00c0"), (2,), "bfloat16")
    array([ 1., -2.])
    """
    pair = (2,) if dtype == "complex32" else ()
    return widen(np.frombuffer(raw, storage(dtype)).reshape((*shape, *pair)), dtype)


def widen(stored: Array, dtype: str) -> Array:
    """Return the numbers of an array as it is stored: bfloat16 as uint16, eight bits as uint8, complex32 as pairs."""
    if dtype in FLOAT8:
        return np.array(float8_values(dtype))[stored]
    if dtype == "bfloat16":
        with np.errstate(invalid="ignore"):  # a signalling NaN
            return (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if dtype == "complex32":
        return stored[..., 0] + 1j * stored[..., 1].astype(np.float64)
    if stored.dtype.kind in "fc":
        return stored.astype(np.complex128 if stored.dtype.kind == "c" else np.float64)
    return stored


def encode(values: Array, dtype: str) -> bytes:
    """Return the bytes of numbers, each rounded to the nearest one of the type.

    >>> encode(np.array([1.0, -2.0]), "bfloat16").hex()
    '803f00c0'
    """
    raw: bytes = narrow(values, dtype).tobytes()
    return raw


def narrow(values: Array, dtype: str) -> Array:
    """Return numbers as an array that holds their bits (`widen` is the way back): the same one, where they do."""
    if dtype in FLOAT8:
        return _narrow_float8(np.asarray(values, np.float64), dtype)
    if dtype == "bfloat16":
        return _narrow_bfloat16(np.asarray(values))
    with np.errstate(over="ignore"):
        if dtype == "complex32":
            return np.stack([np.real(values), np.imag(values)], -1).astype(np.float16)
        return np.asarray(values).astype(dtype, copy=False)


def rounded(values: Array, dtype: str) -> Array:
    """Return numbers rounded to a type, as numbers."""
    return widen(narrow(values, dtype), dtype)


def distance(left: Array, right: Array) -> Array:
    """Return how far apart numbers are; 0 where either is not finite."""
    with np.errstate(invalid="ignore", over="ignore"):
        result = np.abs(wide(left) - wide(right))
    return np.where(np.isfinite(result), result, 0.0)


def wide(values: Array) -> Array:
    """Return numbers in a type that has signs and halves: whole ones and booleans in float64."""
    return values if values.dtype.kind in "fc" else values.astype(np.float64)


def finite_size(values: Array) -> Array:
    """Return the sizes of numbers; 0 where they are not finite."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(values), np.abs(values), 0.0)


def _narrow_bfloat16(values: Array) -> Array:
    """Round in one step: what a float32 between would round away decides ties, so it is kept in its last bit."""
    with np.errstate(over="ignore"):
        near = values.astype(np.float32)
    bits = near.view(np.uint32)
    if values.dtype != np.float32:
        bits = _with_last_bit(bits, near, values)
    result = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(near), np.uint16(0x7FC0), result)


def _with_last_bit(bits: Array, near: Array, values: Array) -> Array:
    """Return the bits of float32 numbers cut off, not rounded; the last bit of each says whether more follows."""
    inexact = (near.astype(np.float64) != values) & np.isfinite(near)
    away = inexact & (np.abs(near) > np.abs(values))
    return (bits - away.astype(np.uint32)) | inexact.astype(np.uint32)


def _narrow_float8(values: Array, dtype: str) -> Array:
    positive = _positive(dtype)
    # Twice as far as the last step is where the next number would be, were there one.
    beyond = 2 * positive[-1] - positive[-2]
    steps = np.append(positive, beyond)
    edges = (steps[:-1] + steps[1:]) / 2
    size = np.abs(values)
    code = np.searchsorted(edges, size, side="left")
    code += (code < len(edges)) & (edges[np.minimum(code, len(edges) - 1)] == size) & (code % 2 == 1)
    # The first code beyond the largest number: infinity where there is one, else not a number, as frameworks have it.
    special = {"float8_e4m3fn": 0x7F, "float8_e5m2": 0x7C}.get(dtype, 0x80)
    plain = code < len(positive)
    sign = np.signbit(values) & ((code > 0) | (not dtype.endswith("fnuz"))) & (plain | (special != 0x80))
    result = np.where(plain, code, special) | (sign.astype(np.uint8) << 7)
    nan = 0x80 if dtype.endswith("fnuz") else 0x7F
    return np.where(np.isnan(values), nan, result).astype(np.uint8)


@cache
def _positive(dtype: str) -> Array:
    """Return the finite numbers from zero up, each at the place that is its code."""
    half = np.array(float8_values(dtype)[:128])
    return half[np.isfinite(half)]
