"""Random bits by the million, from the standard library alone."""

from __future__ import annotations

import random

#: Bytes that are drawn at once: the generator gives at most 2^31 bits, and a piece is copied a few times.
PIECE = 32 * 1024 * 1024


def drawn(generator: random.Random, count: int, size: int, mask: int, pattern: int = 0) -> bytearray:
    """Return little-endian elements of `size` bytes each, through a mask and with a pattern of bits set.

    The bits do not depend on the pieces: they are those of one draw.

    >>> drawn(random.Random(0), 3, 1, 0x0F, 0x40).hex()
    '474c48'
    """
    found = bytearray()
    for start in range(0, count, PIECE // size):
        elements = min(count - start, PIECE // size)
        bits = int.from_bytes(generator.randbytes(elements * size), "little")
        bits &= int.from_bytes(mask.to_bytes(size, "little") * elements, "little")
        bits |= int.from_bytes(pattern.to_bytes(size, "little") * elements, "little")
        found += bits.to_bytes(elements * size, "little")
    return found
