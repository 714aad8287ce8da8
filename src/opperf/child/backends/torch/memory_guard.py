"""Ends a recording before memory runs out: PyTorch's profiler keeps all it sees, and nowhere says how much that is.

What it holds is told from the memory that the process has from malloc: the growth since the recording began, without
the tensors that Python knows. What a step holds besides is gone between two of them, so that the least of some time
counts; what grows evenly all the time is taken for the profile's at once. A program of modules is believed to have
called no more than so many operators in each. So what is not the profile's may be taken for it, and end a recording
early: a larger limit lets it go on. And one that records very fast goes beyond the limit by what some seconds bring.

Recorded, an operator is small; read and written it takes many times as much, and that is what the limit bounds.
"""

from __future__ import annotations

import ctypes
import gc
import random
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise

import torch

#: The most bytes that a recorded one becomes while it is read and written (PyTorch 2.13: 200 became 2,600 of an
#: operator's time alone, and 930 became 10,900 with its shapes and memory).
GROWTH = 14
#: Bytes that a byte of a window which was stopped before still becomes.
STOPPED_GROWTH = 2
#: Seconds from one look at the memory to the next, and those between two looks at tensors. Looks are irregular by a
#: part of that: at regular ones, a program whose steps take as long would always show the same tensors.
PAUSE, TENSOR_PAUSE, IRREGULAR = 0.25, 5.0, 0.3
#: So many looks have to grow alike, by no more than so many times the mean of them or a part of it.
EVENLY, ALIKE = 8, 3
#: Bytes that a busy program has recorded in a second: within as many looks as it takes to record what the limit allows,
#: a step has an end, or ends too late. At least, and at most, so many.
RATE = 32e6
LEAST_LOOKS, MOST_LOOKS = 20, 240
#: Bytes of a recorded operator with its shapes, and as many operators as each call of a module is believed to bring,
#: with its part of the backward and of the optimizer.
RECORDED, OF_MODULE = 330, 60
#: Where the memory from malloc is less, it is not asked which of it are tensors.
SMALL = 32 << 20

_Pending = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
#: The fields of mallinfo2(3).
_FIELDS = ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")


class _Malloc(ctypes.Structure):
    """What mallinfo2(3) returns."""

    _fields_ = [(name, ctypes.c_size_t) for name in _FIELDS]  # ctypes reads it so


def grows_evenly(readings: Sequence[int]) -> bool:
    """Whether the last looks each saw about as much more than the one before.

    >>> grows_evenly(range(0, 90, 10)), grows_evenly([*range(0, 80, 10), 70])
    (True, False)
    """
    steps = [after - before for before, after in pairwise(readings[-EVENLY - 1 :])]
    mean = sum(steps) / max(1, len(steps))
    return len(steps) == EVENLY and all(0 < mean <= ALIKE * step and step <= ALIKE * mean for step in steps)


class MemoryGuard:
    """Calls `stop` in the main thread, between two steps of Python, before what was recorded takes more than `limit`.

    `calls` says how many bytes are kept of Python's calls, which need no more than they are; `modules` how many modules
    were called, zero where calls are not counted.
    """

    def __init__(
        self, limit: int, calls: Callable[[], int], modules: Callable[[], int], stop: Callable[[], None]
    ) -> None:
        self.limit = limit
        self._calls = calls
        self._modules = modules
        self._stop = stop
        self._first: int | None = None
        self._base = self._tensors = 0
        self._looked = -TENSOR_PAUSE
        self._on = False
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._pending = _Pending(self._in_main_thread)

    def start(self) -> bool:
        """Begin to watch; returns whether what was recorded before leaves room for more."""
        size = _in_use()
        if size is None:
            return True
        self._look(size)
        self._base = size - self._tensors
        if self._first is None:
            self._first = self._base
        if self._bytes_at(size) > self.limit:
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
        looks = round(min(max(self.limit / GROWTH / RATE / PAUSE, LEAST_LOOKS), MOST_LOOKS))
        readings: list[int] = []
        uniform = random.Random(0).uniform  # of its own: the program's numbers stay what they are
        while not self._over.wait(PAUSE * uniform(1 - IRREGULAR, 1 + IRREGULAR)):
            size = _in_use()
            if size is None or not self._on:
                readings = []
                continue
            readings = [*readings, size][-looks:]
            if not self._is_over(readings, looks):
                continue
            self._tensors = _tensor_bytes()
            if self._is_over(readings, looks):
                ctypes.pythonapi.Py_AddPendingCall(self._pending, None)
            readings = []

    def _is_over(self, readings: Sequence[int], looks: int) -> bool:
        modules = self._modules()
        if modules and GROWTH * RECORDED * OF_MODULE * modules <= self.limit:
            return False
        if grows_evenly(readings) and self._bytes_at(readings[-1]) > self.limit:
            return True
        return len(readings) == looks and self._bytes_at(min(readings)) > self.limit

    def _bytes_at(self, size: int) -> int:
        """Return the bytes needed to read and write the profile at a memory size."""
        calls = self._calls()
        remainder = max(0, size - self._tensors - self._base - calls)
        earlier = max(0, self._base - (self._first or 0))
        return GROWTH * remainder + STOPPED_GROWTH * earlier + calls

    def _look(self, size: int) -> None:
        """Find out what tensors hold: among all that Python has, so that it is not done often."""
        now = time.monotonic()
        if size > SMALL and now - self._looked >= TENSOR_PAUSE:
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
    info = mallinfo()
    return int(info.uordblks + info.hblkhd)


def _tensor_bytes() -> int:
    """Return the bytes of memory behind the tensors that Python knows."""
    sizes: dict[int, int] = {}
    for instance in gc.get_objects():
        if issubclass(type(instance), torch.Tensor):  # asked for its class, a stand-in may do anything
            with suppress(Exception):  # some tensors have no storage
                storage = instance.untyped_storage()
                if storage.device.type == "cpu":
                    sizes[storage.data_ptr()] = storage.nbytes()
    return sum(sizes.values())
