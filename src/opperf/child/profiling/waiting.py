"""How long the threads of a process waited for a processor while it was profiled.

A span lasts from its beginning to its end, whoever ran meanwhile: on a busy machine a profile's times hold the work of
others. Linux counts for each thread how long it could have run and did not. What a thread waited that ended before the
recording did is not known, so that the sum is the least that was waited.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

#: Where Linux tells of the threads of this process.
TASKS = Path("/proc/self/task")
#: The share of the time that threads could have run from which waiting is told of. Threads that have the machine to
#: themselves stay below 1 %, as the samples of `opperf run` do.
SHARE = 0.05
#: Seconds of waiting that are never told of: a few slices of the scheduler, which any script may meet.
LEAST = 0.1


@dataclass(frozen=True)
class Reading:
    """The counters at one moment: seconds of the clock and on a processor, nanoseconds that each thread waited."""

    passed: float = 0.0
    ran: float = 0.0
    waits: dict[str, int] = field(default_factory=dict)

    @classmethod
    def now(cls) -> Reading:
        """Read the counters of this process; no thread is told of where the system has no such file."""
        waits = {}
        with suppress(OSError):
            for task in os.listdir(TASKS):
                with suppress(OSError, IndexError, ValueError):  # a thread may end between the listing and the reading
                    # "time on the CPU, time in the run queue, time slices", both times in nanoseconds
                    waits[task] = int((TASKS / task / "schedstat").read_bytes().split()[1])
        return cls(time.perf_counter(), time.process_time(), waits)


class Waiting:
    """Adds up between `start` and `stop`, which come in turn."""

    def __init__(self) -> None:
        self._since = Reading()
        self._span = self._ran = 0.0
        self._waited: float | None = None

    def start(self) -> None:
        """Begin to count."""
        self._since = Reading.now()

    def stop(self) -> None:
        """Count no more."""
        now, since = Reading.now(), self._since
        self._span += now.passed - since.passed
        self._ran += now.ran - since.ran
        if now.waits:
            # A thread that began meanwhile began with zero.
            waited = sum(after - since.waits.get(task, 0) for task, after in now.waits.items()) / 1e9
            self._waited = (self._waited or 0.0) + waited

    def facts(self) -> dict[str, float]:
        """Return seconds that were profiled, that the threads ran and that they waited; nothing where none is known."""
        if self._waited is None:
            return {}
        return {"span": round(self._span, 6), "ran": round(self._ran, 6), "waited": round(self._waited, 6)}

    def notes(self) -> tuple[str, ...]:
        """Return a line for people where the threads waited for much of the time that they could have run."""
        waited = self._waited or 0.0
        if waited < LEAST or waited < SHARE * (self._ran + waited):
            return ()
        told = (
            f"threads waited {waited:.3g} s for a processor and ran {self._ran:.3g} s, in {self._span:.3g} s that were "
            "profiled: other processes ran, or more threads than processors; times are longer than the work"
        )
        return (told,)
