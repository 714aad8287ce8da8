"""What a child does to its own process before and after the framework is imported.

The order matters: it must fix the allocator before anything allocates, and take its CPUs before any framework counts
them. The memory limit comes last, since frameworks ask for far more at import than they use: under an earlier limit of
data MXNet hung, under one of address space it aborted and JAX crashed. That the process ends with its parent is settled
before it starts (`supervision.py`).
"""

from __future__ import annotations

import importlib
import os
import random
import resource
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from opperf.domain.reason import Warning

if TYPE_CHECKING:
    from _typeshed import ProfileFunction, TraceFunction

#: Lengths of strings, one of each size in which Python's allocator serves names; how many are made of each, and types.
SHORT, STRINGS, TYPES = (4, 16, 32), 23, 17
_strings: list[str] = []
#: What else is loaded ahead of the framework in another layout: Python's own modules with libraries of their own, most
#: of which a framework loads later. And blocks of memory that stay, up to the size from which each has its own pages.
LIBRARIES = ("_bz2", "_ctypes", "_decimal", "_hashlib", "_lzma", "_socket", "_ssl", "mmap", "unicodedata", "zlib")
BLOCKS, MOST_BLOCK = 16, 100_000
_blocks: list[bytearray] = []
#: What sets each tracer, in the order in which they are set.
NAMES = ("sys.settrace", "sys.setprofile", "threading.settrace", "threading.setprofile")


def stay_on(cpus: Sequence[int]) -> None:
    """Keep every thread of this process, now and later, on these CPUs."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cpus)


def usable_cpus() -> int:
    """Return the number of CPUs that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def place_apart(layout: int) -> None:
    """Place what Python makes from here on otherwise for each layout: short strings, and the versions of types.

    CPython keeps the attributes that it has looked up in a table, at a place that follows from both. Where two that a
    call needs share a place, each look-up evicts the other: such a call executes some 1 % more, in each process of the
    same layout, though the code is the same.
    """
    for size in SHORT:
        _strings.extend(str(number).zfill(size) for number in range(layout * STRINGS))
    for _ in range(layout * TYPES):
        getattr(type("Placeholder", (), {}), "attribute", None)  # a type has a version from its first look-up on


def load_order(layout: int) -> list[str]:
    """Return the libraries loaded ahead of the framework in a layout, none in the usual one.

    >>> load_order(0), load_order(1) == load_order(1), load_order(1) == load_order(2)
    ([], True, False)
    """
    return random.Random(layout).sample(LIBRARIES, len(LIBRARIES)) if layout else []


def load_apart(layout: int) -> None:
    """Load in another order for each layout, and place what is allocated from here on elsewhere; 0 is as usual.

    What a mere rebuild moves: libraries lie in memory in the order in which they are loaded, and the heap goes on
    behind what lies there already. Mytkowicz et al. (ASPLOS 2009) saw the order of linking and the size of the
    environment change the time of the same code by up to 15 %.
    """
    if not layout:
        return
    generator = random.Random(layout)
    for name in load_order(layout):
        with suppress(ImportError):  # Python may have been built without it
            importlib.import_module(name)
    _blocks.extend(bytearray(generator.randrange(1, MOST_BLOCK)) for _ in range(BLOCKS))
    place_apart(layout)


class Tracers:
    """The tracers of Python calls in this process, which slow each call: those set at first, and any set since.

    An operator that begins to trace, and does not end it, would slow those that are measured after it.
    """

    def __init__(self) -> None:
        self._first = _tracers()

    def new_hook(self) -> str | None:
        """Return the name of a hook that has been set since, or None."""
        pairs = zip(NAMES, self._first, _tracers(), strict=True)
        return next((name for name, first, now in pairs if now is not first), None)

    def doubts(self) -> list[Warning]:
        """Return the warning for an operator that leaves a hook set."""
        hook = self.new_hook()
        if hook is None:
            return []
        text = f"the operator leaves `{hook}` on, which slows every Python call; opperf turned it off after the trial"
        return [Warning("traced", text, "turn it off in the operator")]

    def restore(self) -> None:
        """Set the tracers that were set at first, and no others."""
        if self.new_hook() is not None:
            trace, profile, trace_of_threads, profile_of_threads = self._first
            sys.settrace(trace)
            sys.setprofile(profile)
            threading.settrace(trace_of_threads)
            threading.setprofile(profile_of_threads)


def _tracers() -> tuple[TraceFunction | None, ProfileFunction | None, TraceFunction | None, ProfileFunction | None]:
    return sys.gettrace(), sys.getprofile(), threading.gettrace(), threading.getprofile()


def limit_memory(more: int) -> None:
    """Limit the data of this process to `more` bytes beyond the current size; further allocations fail."""
    with suppress(OSError, ValueError):
        with open("/proc/self/status", encoding="ascii") as status:
            size = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData:"))
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        soft = size + more if hard == resource.RLIM_INFINITY else min(size + more, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
