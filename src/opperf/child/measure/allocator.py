"""The C library's heap: whether it hands out memory that it has, or has the system map fresh pages."""

from __future__ import annotations

import ctypes
from contextlib import suppress

#: mallopt's names for its parameters, and the values where glibc's dynamic rule ends (malloc(3), mallopt(3)).
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
TRIM_THRESHOLD, MMAP_THRESHOLD = 64 * 1024 * 1024, 32 * 1024 * 1024


def fix_allocator() -> bool:
    """Hold glibc's thresholds still, so that a trial does not depend on what was freed before it.

    Returns whether that worked; other C libraries have no such rule to hold.
    """
    with suppress(AttributeError, OSError):
        mallopt = ctypes.CDLL(None).mallopt
        return bool(mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD)) and bool(mallopt(M_TRIM_THRESHOLD, TRIM_THRESHOLD))
    return False
