"""Compilers below a child: that they run, and for how long, while nothing of it is timed.

What a user imports may build C++ for minutes, and a compiled mode starts the system's compiler. Neither says a word.
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable
from contextlib import suppress

import psutil

#: Seconds between two looks, and between two lines.
LOOK_EVERY = 5.0
LINE_EVERY = 30.0
#: What compiles, assembles and links, by the name of its process; what only drives others stands last.
COMPILERS = (
    *("cc1plus", "cc1", "cicc", "ptxas", "clang++", "clang", "rustc", "as", "ld", "collect2"),
    *("nvcc", "hipcc", "c++", "g++", "gcc", "cc", "cargo", "cmake", "ninja", "make"),
)


def compilers(pid: int) -> list[str]:
    """Return the names of the compilers that run below a process, the one that works before what drives it."""
    names: set[str] = set()
    with suppress(psutil.Error):
        for process in psutil.Process(pid).children(recursive=True):
            with suppress(psutil.Error):  # it has ended meanwhile
                names.add(process.name())
    return [name for name in COMPILERS if name in names]


class CompilerWatch:
    """Tells that a child compiles, now and then for how long, and at the end how long it took."""

    def __init__(
        self,
        pid: int,
        note: Callable[[str], None],
        *,
        clock: Callable[[], float] = time.monotonic,
        look: Callable[[int], list[str]] = compilers,
    ) -> None:
        """Look for nothing yet."""
        self._pid, self._note, self._clock, self._look = pid, note, clock, look
        self._start = clock()
        self._line_at: float | None = None
        #: When none ran any more.
        self._last: float | None = None

    def look(self) -> None:
        """Look once; what nobody compiles is not told."""
        names, now = self._look(self._pid), self._clock()
        self._last = None if names else self._last or now
        if not names:
            return
        if self._line_at is None or now - self._line_at >= LINE_EVERY:
            self._line_at = now
            self._note(f"compiling ({names[0]}): {now - self._start:.0f} s so far")

    def close(self) -> None:
        """Say how long it took, if it was seen."""
        if self._line_at is not None:
            self._note(f"compiled in about {(self._last or self._clock()) - self._start:.0f} s")


def readable(descriptor: int, deadline: float, watch: CompilerWatch | None = None) -> bool:
    """Wait until a descriptor can be read, and say whether it can; a `watch` looks for compilers meanwhile."""
    if watch is None:
        return bool(select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))[0])
    while (left := deadline - time.monotonic()) > 0:
        if select.select([descriptor], [], [], min(LOOK_EVERY, left))[0]:
            watch.close()
            return True
        watch.look()
    return False
