"""A cold CPU cache: memory swept between calls, so that the operator's inputs come from DRAM."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

#: What a last-level cache is taken to have where the kernel does not say.
UNKNOWN_CACHE = 64 * 1024 * 1024
UNITS = {"K": 1024, "M": 1024**2, "G": 1024**3}


def last_level_bytes(folder: Path = Path("/sys/devices/system/cpu/cpu0/cache")) -> int:
    """Return the size of the largest cache that the first CPU has, in bytes."""
    largest = 0
    with suppress(OSError):
        for size in folder.glob("index*/size"):
            found = re.fullmatch(r"(\d+)([KMG]?)", size.read_text().strip())
            if found:
                largest = max(largest, int(found[1]) * UNITS.get(found[2], 1))
    return largest or UNKNOWN_CACHE


class Sweep:
    """Twice the last-level cache of memory, read from end to end at each call.

    The pages are written once: untouched ones would all be the kernel's single page of zeros, and evict nothing.
    """

    def __init__(self, nbytes: int | None = None) -> None:
        self.nbytes = 2 * last_level_bytes() if nbytes is None else nbytes
        self._memory = bytearray(b"\x01") * self.nbytes

    def __call__(self) -> None:
        """Read all of the memory."""
        self._memory.find(b"\x00")
