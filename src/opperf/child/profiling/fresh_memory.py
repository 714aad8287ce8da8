"""What fresh pages of memory cost a process while it was profiled.

glibc has the system map what is large, and gives it back when it is freed, until it has learnt better: then each call
of an operator pays for the pages of its result. That depends on what the program freed before, and `opperf run` leaves
it out, so that a profile and an operator by itself differ by it.
"""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass

from opperf.domain.profile.watching import FRESH

#: From this share of the time on, the system's own work is told of, where it gave so many pages.
SHARE, PAGES = 0.1, 10_000


@dataclass(frozen=True)
class Usage:
    """Seconds that passed and that the system worked for this process, and pages that it gave it."""

    passed: float = 0.0
    system: float = 0.0
    pages: int = 0

    @classmethod
    def now(cls) -> Usage:
        """Read the counters of this process (getrusage(2))."""
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return cls(time.perf_counter(), usage.ru_stime, usage.ru_minflt)


class FreshMemory:
    """Adds up between `start` and `stop`, which come in turn."""

    def __init__(self) -> None:
        self._since = self._sum = Usage()

    def start(self) -> None:
        """Begin to count."""
        self._since = Usage.now()

    def stop(self) -> None:
        """Count no more."""
        now, since, total = Usage.now(), self._since, self._sum
        self._sum = Usage(
            total.passed + now.passed - since.passed,
            total.system + now.system - since.system,
            total.pages + now.pages - since.pages,
        )

    def notes(self) -> tuple[str, ...]:
        """Return a line for people where the system took much of the time, with many pages."""
        used = self._sum
        if used.system < SHARE * used.passed or used.pages < PAGES:
            return ()
        text = (
            f"the system worked {used.system:.3g} s of the {used.passed:.3g} s that were profiled, and gave "
            f"{used.pages} {FRESH}: times hold what mapping results afresh costs"
        )
        return (text,)
