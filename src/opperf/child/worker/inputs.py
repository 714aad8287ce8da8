"""The values of input tensors: the same bits in every framework, on every machine, for the same seed.

The standard library draws random bits and pins the exponent, which gives floats in [1, 2) at the speed of a copy. What
remains are a few elementwise operations, each correctly rounded in every framework, so the results agree to the bit.
"""

from __future__ import annotations

import mmap
import os
import random
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from opperf.child.worker import values
from opperf.child.worker.values import BitCache, draw_bits
from opperf.domain.backend import Backend, Numbers, Unsupported
from opperf.domain.tensor import ARRAYS, DATA, ITEM_SIZES, SPARSE, SPD, STRING, TensorSpec

#: For a float type: mask of the fraction's bits, and the pattern of sign and exponent that makes [1, 2).
PATTERNS = {4: (0x007FFFFF, 0x3F800000), 8: (0x000FFFFFFFFFFFFF, 0x3FF0000000000000)}


def raw_units(generator: random.Random, count: int, size: int) -> bytearray:
    """Return `count` little-endian floats of `size` bytes, uniform in [1, 2).

    >>> import struct
    >>> 1 <= struct.unpack("<f", raw_units(random.Random(0), 1, 4))[0] < 2
    True
    """
    mask, pattern = PATTERNS[size]
    return draw_bits(generator, count, size, mask, pattern)


#: So many bytes are kept of the bits drawn last: the backward of a case takes those of its forward, and any backward
#: whose output is no larger the cotangents of the one before.
KEPT_BYTES = 96 * 1024 * 1024
_cache = BitCache(KEPT_BYTES)
#: Tensors of more elements repeat their random bits: float32 has only this many numbers in [1, 2).
PIECE_ELEMENTS = 1 << 23


def _bits(seed: str, count: int, size: int, *, floating: bool) -> bytearray:
    """Return the random bits of a tensor; callers must not write into them."""
    few = min(count, PIECE_ELEMENTS)

    def draw() -> bytearray:
        generator = random.Random(seed)
        return raw_units(generator, few, size) if floating else _raw_integers(generator, few)

    bits = _cache.first(few * size, (seed, size, floating), draw)
    if few == count:
        return bits
    whole = bits * -(-count // few)
    del whole[count * size :]
    return whole


#: Tensors of more elements repeat those of a piece: random bits of billions take eight bytes each, several times.
MOST_DRAWN = 1 << 28
#: Distributions that a piece of a tensor has as well as the whole.
REPEATABLE = ("uniform", "normal", "constant", "zeros", "ones", "denormal")
#: Copies of its random bits that exist at once while a tensor is made, and of the whole that repeats a piece.
COPIES, COPIES_OF_WHOLE = 3, 2


def making_bytes(spec: TensorSpec) -> int:
    """Return the extra bytes needed while a tensor is made."""
    if spec.elements > MOST_DRAWN:
        return COPIES_OF_WHOLE * spec.nbytes
    least = 8 if spec.dtype.startswith("complex") else 4
    return COPIES * spec.elements * max(least if spec.is_float else 8, ITEM_SIZES[spec.dtype])


def tensor(backend: Backend, spec: TensorSpec, seed: str) -> Any:
    """Make a tensor of the backend's framework; `seed` decides its values."""
    backend.dtype(spec.dtype)  # refuse an element type that the framework lacks before any work is done
    if backend.blank:
        return backend.tensor(None, spec.shape, spec.dtype, spec.strides)
    if spec.values.startswith(DATA):
        return of_elements(backend, spec, _kept_elements(spec))
    if backend.side.allocator == "default" and spec.values == "uniform" and spec.literal is None:
        return _of_pieces(backend, spec, seed)
    if spec.elements > MOST_DRAWN:
        return _repeat(backend, spec, seed)
    return backend.tensor(_values(backend, spec, seed), spec.shape, spec.dtype, spec.strides)


#: Numbers that are drawn at once where the allocator is left alone: eight bytes each are well below 128 KiB, from where
#: on glibc maps blocks, and raises its thresholds when they are freed.
PIECE_NUMBERS = 1 << 12
#: As many whole numbers are drawn from.
MOST_DRAWN_RANGE = 1 << 62
#: Where a mapped block begins in its page by glibc and by frameworks that align their tensors.
BLOCK_OFFSET = 64


def _of_pieces(backend: Backend, spec: TensorSpec, seed: str) -> object:
    """Make a tensor of the same values, and free no large block on the way: its thresholds stay a fresh process's."""
    if not spec.elements:
        return backend.tensor(_uniform(backend, spec, seed), spec.shape, spec.dtype, spec.strides)
    memory = memoryview(mmap.mmap(-1, BLOCK_OFFSET + spec.nbytes))[BLOCK_OFFSET:]
    size, floating, parts = _numbers(spec)
    generator = random.Random(seed)
    place = 0
    for start in range(0, parts * spec.elements, PIECE_NUMBERS):
        if start % PIECE_ELEMENTS == 0:
            generator = random.Random(seed)
        count = min(PIECE_NUMBERS, parts * spec.elements - start)
        bits = raw_units(generator, count, size) if floating else _raw_integers(generator, count)
        piece = replace(spec, shape=(count // parts,), strides=None)
        raw = backend.to_host(backend.tensor(_scale(backend, spec, bits), piece.shape, spec.dtype, None))[0]
        memory[place : place + len(raw)] = raw
        place += len(raw)
    return of_elements(backend, spec, cast("bytearray", memory))  # as far as a framework reads it


def _kept_elements(spec: TensorSpec) -> bytearray:
    """Return elements that lie beside the run, looked at again; raises `Unsupported` where they are not there."""
    from hashlib import sha256  # it loads OpenSSL

    digest = spec.values.removeprefix(DATA)
    with suppress(OSError, KeyError):
        raw = bytearray((Path(os.environ[ARRAYS]) / digest).read_bytes())
        if len(raw) == spec.nbytes and sha256(raw).hexdigest().startswith(digest):
            return raw
    raise Unsupported(
        f"the {spec.elements} elements of `{spec.values}` are not on this machine",
        slug="no_such_values",
        hint="give the array again: opperf keeps what it was given for 30 days, where it was given",
    )


def _repeat(backend: Backend, spec: TensorSpec, seed: str) -> object:
    """Make a tensor that repeats the elements of a piece."""
    if spec.dtype == STRING or (spec.values not in REPEATABLE and not spec.values.startswith(SPARSE)):
        what = "strings" if spec.dtype == STRING else f"{spec.values} values"
        raise Unsupported(f"{what} are limited to {MOST_DRAWN} elements", slug="no_such_values")
    piece = tensor(backend, replace(spec, shape=(PIECE_ELEMENTS,), strides=None), seed)
    raw = bytearray(backend.to_host(piece)[0]) * -(-spec.elements // PIECE_ELEMENTS)
    del raw[spec.nbytes :]
    return of_elements(backend, spec, raw)


def of_elements(backend: Backend, spec: TensorSpec, raw: bytearray) -> object:
    """Make a tensor of elements in row-major order, as `to_host` returns them."""
    part = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}.get(spec.dtype, spec.dtype)
    return backend.tensor(backend.host(raw, part), spec.shape, spec.dtype, spec.strides)


def _values(backend: Backend, spec: TensorSpec, seed: str) -> Numbers | list[str]:
    if spec.literal is not None:
        return values.literal_values(backend, spec)
    low, high = spec.range or spec.default_range
    if spec.values in ("zeros", "ones", "constant"):
        middle = (low + high) / 2 if spec.is_float else (int(low) + int(high)) // 2
        return backend.host(values.fill(spec, {"zeros": 0.0, "ones": 1.0}.get(spec.values, middle)), "float64")
    if spec.values in ("sorted", "reversed"):
        return values.ramp(backend, spec, down=spec.values == "reversed")
    if spec.values == SPD:
        return values.definite(backend, spec, seed)
    if spec.values == "normal":
        return values.normal(backend, spec, seed)
    if spec.values == "denormal":
        return values.denormal(backend, spec, seed)
    uniform = _uniform(backend, spec, seed)
    return uniform if spec.values == "uniform" else uniform * values.mask(backend, spec, seed)


def _uniform(backend: Backend, spec: TensorSpec, seed: str) -> Numbers:
    size, floating, parts = _numbers(spec)
    return _scale(backend, spec, _bits(seed, parts * spec.elements, size, floating=floating))


def _numbers(spec: TensorSpec) -> tuple[int, bool, int]:
    """Return the bytes of a random number, whether it is a float, and how many make an element."""
    if not spec.is_float:
        return 8, False, 1
    is_complex = spec.dtype.startswith("complex")
    return 8 if ITEM_SIZES[spec.dtype] == 8 and not is_complex else 4, True, 2 if is_complex else 1


def _scale(backend: Backend, spec: TensorSpec, bits: bytearray) -> Numbers:
    """Return the numbers of random bits within the range of a tensor."""
    low, high = spec.range or spec.default_range
    size, floating, _ = _numbers(spec)
    if floating:
        values = backend.host(bits, f"float{8 * size}") - 1.0
        # In place, where a framework has that: fresh memory for each step costs more than the step.
        values *= high - low
        values += low
        return values
    span = int(high) - int(low)
    values = backend.host(bits, "int64")
    if span > MOST_DRAWN_RANGE:
        # A remainder would not fill the range, and its divisor may be no int64: steps of 2 to 4 around the middle do.
        values = values - MOST_DRAWN_RANGE // 2  # a copy: others read the bits too
        values *= span // MOST_DRAWN_RANGE
        values += (int(low) + int(high)) // 2
        return values
    values = values % max(1, span)
    values += int(low)
    return values


def _raw_integers(generator: random.Random, count: int) -> bytearray:
    """Return `count` little-endian whole numbers of eight bytes, uniform in [0, 2^62)."""
    return draw_bits(generator, count, 8, MOST_DRAWN_RANGE - 1)
