"""Distributions of values other than uniform ones: the same bits in every framework, from the standard library alone.

Sorting, branches and denormal numbers make the time of some operators depend on the values; see
docs/explanation/inputs.md.
"""

from __future__ import annotations

import math
import random
import struct
from array import array
from collections.abc import Callable, Hashable, Sequence
from functools import cache

from opperf.domain.backend import Backend, Numbers, Unsupported
from opperf.domain.tensor import STRING, TensorSpec, zero_share

#: The size of the table that values are drawn from, one for each pattern of two random bytes.
ENTRIES = 1 << 16
#: How many standard deviations the bounds of a normal distribution lie from its centre.
DEVIATIONS = 6


def fill(spec: TensorSpec, value: float) -> bytearray:
    """Return the bytes of float64 elements of one value; complex ones get no imaginary part."""
    element = struct.pack("<d", value) + (bytes(8) if spec.dtype.startswith("complex") else b"")
    return bytearray(element * spec.elements)


def literal_values(backend: Backend, spec: TensorSpec) -> Numbers | list[str]:
    """Return the values that stand in the case, strings as a list; complex ones get no imaginary part."""
    literal = spec.literal or ()
    if spec.dtype == STRING:
        return [str(value) for value in literal]
    if not spec.is_float:  # the upper half of 64 bits without a sign are those of negative numbers
        signed = ((int(value) + (1 << 63)) % (1 << 64) - (1 << 63) for value in literal)
        return backend.host(bytearray(array("q", signed).tobytes()), "int64")
    reals = map(float, literal)
    parts = [part for value in reals for part in (value, 0.0)] if spec.dtype.startswith("complex") else reals
    kind = "d" if spec.dtype in ("float64", "complex128") else "f"
    return backend.host(bytearray(array(kind, parts).tobytes()), "float64" if kind == "d" else "float32")


def definite(backend: Backend, spec: TensorSpec, seed: str) -> Numbers:
    """Return symmetric matrices whose diagonal outweighs the rest of each row, so that they are positive definite.

    Along a diagonal all elements are one number: a row is the one above it, moved by one place.
    """
    side = spec.shape[-1]
    generator = random.Random(seed)
    parts = 2 if spec.dtype.startswith("complex") else 1
    rows = bytearray()
    for _ in range(math.prod(spec.shape[:-2])):
        line = array("d", [float(side)] + [2 * generator.random() - 1 for _ in range(side - 1)])
        line_twice = array("d", [*line[:0:-1], *line])
        if parts == 2:
            line_twice = array("d", [part for value in line_twice for part in (value, 0.0)])
        raw, step = memoryview(line_twice).cast("B"), 8 * parts
        rows += b"".join(raw[step * (side - 1 - row) : step * (2 * side - 1 - row)] for row in range(side))
    return backend.host(rows, "float64")


def ramp(backend: Backend, spec: TensorSpec, *, down: bool) -> Numbers:
    """Return values that rise, or fall, over the whole tensor, and so along each of its dimensions.

    Raises `Unsupported` for complex numbers.
    """
    if spec.dtype.startswith("complex"):
        raise Unsupported("complex numbers cannot be sorted", slug="no_such_values")
    low, high = spec.range or spec.default_range
    steps = array("d", range(spec.elements))
    if down:
        steps.reverse()
    scaled = backend.host(bytearray(steps.tobytes()), "float64") * ((high - low) / max(1, spec.elements))
    return scaled + low


def normal(backend: Backend, spec: TensorSpec, seed: str) -> Numbers:
    """Return normal values: of mean 0 and deviation 1, or centred within the range and cut off at its ends."""
    values = _from_table(backend, spec, seed, _quantiles())
    if spec.range is None:
        return values
    low, high = spec.range
    return values * ((high - low) / DEVIATIONS) + (low + high) / 2


def denormal(backend: Backend, spec: TensorSpec, seed: str) -> Numbers:
    """Return numbers under the smallest normal one: no exponent, random fraction. Raises `Unsupported`."""
    if spec.dtype not in ("float32", "float64"):
        raise Unsupported(
            f"denormal values are available for float32 and float64, not {spec.dtype}", slug="no_such_values"
        )
    size = 4 if spec.dtype == "float32" else 8
    fraction = (1 << (23 if size == 4 else 52)) - 1
    return backend.host(draw_bits(random.Random(seed), spec.elements, size, fraction), spec.dtype)


def mask(backend: Backend, spec: TensorSpec, seed: str) -> Numbers:
    """Return ones, and zeros for the share that `sparse:SHARE` names."""
    zeros = round(zero_share(spec.values) * ENTRIES)
    return _from_table(backend, spec, f"{seed}/mask", [0] * zeros + [1] * (ENTRIES - zeros))


@cache
def _quantiles() -> Sequence[float]:
    """Return as many quantiles of the normal distribution, cut off at three deviations."""
    from statistics import NormalDist  # it imports decimal arithmetic, which no other child needs

    bell = NormalDist()
    most = DEVIATIONS / 2
    return [max(-most, min(most, bell.inv_cdf((i + 0.5) / ENTRIES))) for i in range(ENTRIES)]


def _from_table(backend: Backend, spec: TensorSpec, seed: str, table: Sequence[float]) -> Numbers:
    entries = [struct.pack("<f" if spec.is_float else "<q", value) for value in table]
    if spec.dtype.startswith("complex"):
        entries = [value + value for value in entries]
    places = draw_bits(random.Random(seed), spec.elements, 2, ENTRIES - 1)
    values = b"".join([entries[i] for i in memoryview(places).cast("H")])
    return backend.host(bytearray(values), "float32" if spec.is_float else "int64")


#: Bytes that are drawn at once: the generator gives at most 2^31 bits, and a piece is copied a few times.
PIECE = 32 * 1024 * 1024


def draw_bits(generator: random.Random, count: int, size: int, mask: int, pattern: int = 0) -> bytearray:
    """Return little-endian elements of `size` bytes each, through a mask and with a pattern of bits set.

    The bits do not depend on the pieces: they are those of one draw. Nor do they depend on `count` where `size` is a
    multiple of four: fewer elements are the first of more.

    >>> draw_bits(random.Random(0), 3, 1, 0x0F, 0x40).hex()
    '474c48'
    """
    result = bytearray()
    mask_bytes, set_bits = mask.to_bytes(size, "little"), pattern.to_bytes(size, "little")
    for start in range(0, count, PIECE // size):
        elements = min(count - start, PIECE // size)
        piece = bytearray(generator.randbytes(elements * size))
        for place, (mine, setting) in enumerate(zip(mask_bytes, set_bits)):
            # Byte by byte of the element: whole numbers of millions of bits take three times as long.
            if mine == 0:
                piece[place::size] = bytes([setting]) * elements
            elif (mine, setting) != (0xFF, 0):
                piece[place::size] = piece[place::size].translate(bytes(byte & mine | setting for byte in range(256)))
        result += piece
    return result


class BitCache:
    """A cache of recently drawn bits, by their seed and distribution."""

    def __init__(self, most: int) -> None:
        """Keep `most` bytes in all."""
        self._most, self._bytes = most, 0
        self._bits: dict[Hashable, bytearray] = {}

    def first(self, size: int, key: Hashable, draw: Callable[[], bytearray]) -> bytearray:
        """Return the first `size` bytes for a key, from `draw` where fewer are kept; never write into them."""
        bits = self._bits.pop(key, bytearray())
        self._bytes -= len(bits)
        if len(bits) < size:
            bits = draw()
        self._bits[key] = bits  # at the end, as the most recently used
        self._bytes += len(bits)
        while self._bytes > self._most:
            self._bytes -= len(self._bits.pop(next(iter(self._bits))))
        return bits if len(bits) == size else bits[:size]
