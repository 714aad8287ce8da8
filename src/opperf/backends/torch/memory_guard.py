"""Ends a recording before memory runs out: PyTorch's profiler keeps all it sees, and nowhere says how much that is.

What it holds is told from the memory that the process has from malloc: the growth since the recording began, without
the tensors that Python knows. The least of some seconds counts, for what a step holds is gone between two of them. So
what is not the profile's may be taken for it, and end a recording early; a larger limit lets it go on.

Recorded, an operator is small; read and written it takes many times as much, and that is what the limit bounds.
"""

from __future__ import annotations

import ctypes
import gc
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

import torch

#: The most bytes that a recorded one becomes while it is read and written (PyTorch 2.13: 200 became 2,600 of an
#: operator's time alone, and 930 became 10,900 with its shapes and memory).
GROWTH = 14
#: Bytes that a byte of a window which was stopped before still becomes.
STOPPED_GROWTH = 2
#: Seconds from one look at the memory to the next, and those whose least counts.
PAUSE, LEAST_OF = 0.25, 5.0
LOOKS = round(LEAST_OF / PAUSE)
#: Where the memory from malloc is less, it is not asked which of it are tensors.
SMALL = 32 << 20

_Pending = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
#: What mallinfo2(3) tells.
_FIELDS = ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")


class _Malloc(ctypes.Structure):
    """What mallinfo2(3) returns."""

    _fields_ = [(name, ctypes.c_size_t) for name in _FIELDS]  # ctypes reads it so


def steady(seen: Sequence[int]) -> int:
    """Return what is held all the time now, as it grew in equal steps of time: what comes and goes is left out.

    >>> steady([10, 90, 10, 90, 10, 90]), steady([10, 20, 30, 40])
    (10, 50)
    """
    half = len(seen) // 2
    before, now = min(seen[:half]), min(seen[half:])
    return now + max(0, now - before)


class MemoryGuard:
    """Calls `stop` in the main thread, between two steps of Python, before what was recorded takes more than `limit`.

    `calls` says how many bytes are kept of Python's calls, which need no more than they are.
    """

    def __init__(self, limit: int, calls: Callable[[], int], stop: Callable[[], None]) -> None:
        self.limit = limit
        self._calls = calls
        self._stop = stop
        self._first: int | None = None
        self._base = self._tensors = 0
        self._looked = -LEAST_OF
        self._on = False
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._pending = _Pending(self._in_main_thread)

    def start(self) -> bool:
        """Begin to watch; returns whether what was recorded before leaves room for more."""
        held = _in_use()
        if held is None:
            return True
        self._look(held)
        self._base = held - self._tensors
        if self._first is None:
            self._first = self._base
        if self._needed(held) > self.limit:
            return False
        self._on = True
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="opperf memory", daemon=True)
            self._thread.start()
        return True

    def pause(self) -> None:
        """Watch no more until the next start."""
        self._on = False

    def close(self) -> None:
        """Watch no more."""
        self._on = False
        self._over.set()

    def _watch(self) -> None:
        seen: list[int] = []
        while not self._over.wait(PAUSE):
            held = _in_use()
            if held is None or not self._on:
                seen.clear()
                continue
            seen = [*seen, held][-LOOKS:]
            if len(seen) < LOOKS or self._needed(steady(seen)) <= self.limit:
                continue
            self._look(held)
            if self._needed(steady(seen)) > self.limit:
                ctypes.pythonapi.Py_AddPendingCall(self._pending, None)
            seen.clear()

    def _needed(self, held: int) -> int:
        """Return the bytes that the profile needs to be read and written where so many are held in all."""
        calls = self._calls()
        recorded = max(0, held - self._tensors - self._base - calls)
        earlier = max(0, self._base - (self._first or 0))
        return GROWTH * recorded + STOPPED_GROWTH * earlier + calls

    def _look(self, held: int) -> None:
        """Find out what tensors hold: among all that Python has, so that it is not done often."""
        now = time.monotonic()
        if held > SMALL and now - self._looked >= LEAST_OF:
            self._looked, self._tensors = now, _tensor_bytes()

    def _in_main_thread(self, argument: object) -> int:
        with suppress(Exception):  # the script is not to blame, and goes on
            if self._on:
                self._stop()
        return 0


def _in_use() -> int | None:
    """Return the bytes that the process has from malloc; None where it does not tell (glibc does, from 2.33 on)."""
    try:
        mallinfo = ctypes.PyDLL(None).mallinfo2
    except (AttributeError, OSError):
        return None
    mallinfo.restype = _Malloc
    told = mallinfo()
    return int(told.uordblks + told.hblkhd)


def _tensor_bytes() -> int:
    """Return the bytes of memory behind the tensors that Python knows."""
    sizes: dict[int, int] = {}
    for one in gc.get_objects():
        if issubclass(type(one), torch.Tensor):  # asked for its class, a stand-in may do anything
            with suppress(Exception):  # some tensors have no storage
                storage = one.untyped_storage()
                if storage.device.type == "cpu":
                    sizes[storage.data_ptr()] = storage.nbytes()
    return sum(sizes.values())
