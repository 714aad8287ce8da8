"""Where blocks of memory lie: at places that a seed of the parent's decides, where `placement.c` came before glibc.

How long a call takes depends on the low bits of the addresses of its inputs and its result. Two processes that are
compared meet the same ones in each round, and others in the next. It takes a library that serves `malloc` and its
like; the parent has it loaded ahead of the C library, and without it each process has places of its own.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from functools import cache
from pathlib import Path

#: The variable that has the library loaded, and how the name of its file begins.
PRELOADED, NAME = "LD_PRELOAD", "measure-placement-"


def keep_to_itself() -> None:
    """Leave the library out of the environment of what this process starts: compilers, workers, its user's programs."""
    libraries = [word for word in os.environ.get(PRELOADED, "").split(":") if word]
    others = [word for word in libraries if not Path(word).name.startswith(NAME)]
    if len(others) < len(libraries):
        os.environ.pop(PRELOADED)
        if others:
            os.environ[PRELOADED] = ":".join(others)


def is_planned() -> bool:
    """Whether a seed decides where blocks lie in this process."""
    return _library() is not None


def place(seed: int) -> bool:
    """Have blocks lie elsewhere from here on, as the seed says; 0 has the C library place them again.

    Returns whether they do.
    """
    library = _library()
    return library is not None and bool(library.opperf_place(ctypes.c_uint64(seed)))


@cache
def _library() -> ctypes.CDLL | None:
    with suppress(AttributeError, OSError):
        library = ctypes.CDLL(None)
        library.opperf_place.restype = ctypes.c_int
        return library
    return None
