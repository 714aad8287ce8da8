"""Thread control that the frameworks share: what is set before an import, and a look at whether it was honoured."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Hashable
from time import perf_counter_ns, process_time_ns
from typing import Any

from opperf.domain.plan import COUNTING, Side

#: What OpenMP, MKL, OpenBLAS and BLIS read when they are loaded.
VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS")
#: A matrix product is watched for this long; shorter, and the CPU clock's steps show.
WATCHED_NS = 20_000_000


def set_variables(threads: int) -> None:
    """Tell the numerical libraries how many threads to start; to be called before any of them is loaded."""
    for name in VARIABLES:
        os.environ[name] = str(threads)


def default() -> int:
    """Return how many threads a library takes that nobody has told."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    setting = os.environ.get("OMP_NUM_THREADS", "")
    return int(setting) if setting.isdecimal() and int(setting) > 0 else usable


def square(side: Side) -> tuple[int, int]:
    """Return rows and columns of the matrices whose product is counted.

    Where the allocator is left alone, they are below 128 KiB: a larger block that is freed raises glibc's thresholds.
    """
    extent = 384 if side.allocator == "fixed" else 160
    return extent, extent


def count(call: Callable[[], Any]) -> float | None:
    """Return the CPU time over the wall time of a call that keeps every thread busy.

    The best of three looks counts: a neighbour makes the ratio smaller, never larger. None in a child that counts
    instructions: Valgrind runs one thread at a time, and a matrix product takes long.
    """
    if COUNTING in os.environ:
        return None
    call()
    ratios = []
    for _ in range(3):
        wall, cpu = perf_counter_ns(), process_time_ns()
        while perf_counter_ns() - wall < WATCHED_NS:
            call()
        ratios.append((process_time_ns() - cpu) / (perf_counter_ns() - wall))
    return round(max(ratios), 2)


class ThreadNames:
    """Unique names of threads.

    >>> names = ThreadNames()
    >>> [names.of(1, "pool"), names.of(2, "pool"), names.of(1, "pool")]
    ['pool', 'pool 2', 'pool']
    """

    def __init__(self) -> None:
        self._names: dict[Hashable, str] = {}

    def of(self, key: Hashable, name: str) -> str:
        """Return the name of the thread that the profiler knows by `key`: `name`, with a number where that is taken."""
        if key not in self._names:
            others = set(self._names.values())
            candidates = (name if number == 1 else f"{name} {number}" for number in itertools.count(1))
            self._names[key] = next(one for one in candidates if one not in others)
        return self._names[key]
