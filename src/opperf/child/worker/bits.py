"""Random bits by the million, from the standard library alone."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable

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
        for place, (mine, other) in enumerate(zip(mask_bytes, set_bits)):
            # Byte by byte of the element: whole numbers of millions of bits take three times as long.
            if mine == 0:
                piece[place::size] = bytes([other]) * elements
            elif (mine, other) != (0xFF, 0):
                piece[place::size] = piece[place::size].translate(bytes(byte & mine | other for byte in range(256)))
        result += piece
    return result


class BitCache:
    """Bits that were drawn lately, by what they were drawn from."""

    def __init__(self, most: int) -> None:
        """Keep `most` bytes in all."""
        self._most, self._held = most, 0
        self._drawn: dict[Hashable, bytearray] = {}

    def first(self, size: int, key: Hashable, draw: Callable[[], bytearray]) -> bytearray:
        """Return the first `size` bytes for a key, from `draw` where fewer are kept; nobody may write into them."""
        bits = self._drawn.pop(key, bytearray())
        self._held -= len(bits)
        if len(bits) < size:
            bits = draw()
        self._drawn[key] = bits  # behind those that were asked for before
        self._held += len(bits)
        while self._held > self._most:
            self._held -= len(self._drawn.pop(next(iter(self._drawn))))
        return bits if len(bits) == size else bits[:size]
