"""How long the threads of a process waited for a processor while it was profiled.

A span lasts from beginning to end, whatever ran meanwhile: on a busy machine a profile's times hold the work of
others. Linux counts for each thread how long it could have run and did not. What a thread waited that ended before the
recording did is not known, so that the sum is the least that was waited.

When it was that threads waited is known by looking again and again, from a thread that Python's `threading` does not
list: the script may count its own.
"""

from __future__ import annotations

import _thread
import os
import threading
import time
from contextlib import suppress
from dataclasses import field
from pathlib import Path

from opperf.domain.dataclass import dataclass
from opperf.domain.profile.event import Slice

#: Where Linux lists the threads of this process.
TASKS = Path("/proc/self/task")
#: The share of the time that threads could have run from which waiting is told of. Threads that have the machine to
#: themselves stay below 1 %, as the samples of `opperf run` do.
SHARE = 0.05
#: Seconds of waiting that are never told of: a few slices of the scheduler, which any script may meet.
LEAST = 0.1
#: Seconds between two looks; after a look that takes long, the pause is this many times as long.
PERIOD, PAUSE = 0.02, 50
#: A stretch in which threads waited for less than this share is quiet; such are joined, up to this many nanoseconds.
QUIET, LONGEST = 0.02, 1_000_000_000
#: No more slices are kept: neighbours are joined then.
MOST = 20_000


@dataclass(frozen=True)
class Reading:
    """The counters at one moment: seconds of the clock and on a processor, nanoseconds that each thread waited and ran.

    `time` is nanoseconds since 1970.
    """

    passed: float = 0.0
    ran: float = 0.0
    waits: dict[str, int] = field(default_factory=dict)
    runs: dict[str, int] = field(default_factory=dict)
    time: int = 0

    @classmethod
    def now(cls) -> Reading:
        """Read the counters of this process; no threads where the system has no such file."""
        waits, runs = {}, {}
        with suppress(OSError):
            for task in os.listdir(TASKS):
                with suppress(OSError, IndexError, ValueError):  # a thread may end between the listing and the reading
                    # "time on the CPU, time in the run queue, time slices", both times in nanoseconds
                    ran, wait, _ = (TASKS / task / "schedstat").read_bytes().split()
                    waits[task], runs[task] = int(wait), int(ran)
        return cls(time.perf_counter(), time.process_time(), waits, runs, time.time_ns())


class Slices:
    """Slices of thread activity from consecutive readings of the counters; `own` is a thread left out."""

    def __init__(self) -> None:
        self.own = ""
        self._slices: list[Slice] = []

    def as_tuple(self) -> tuple[Slice, ...]:
        """Return the slices so far."""
        return tuple(self._slices)

    def add(self, since: Reading, now: Reading) -> None:
        """Add what was done between two moments.

        Linux counts a wait when it is over, so that one may be longer than the time since the last look.
        """
        length, ran, total_wait = now.time - since.time, 0, 0
        if length <= 0:  # the clock was set
            return
        for task in now.runs.keys() - {self.own}:
            wait = now.waits[task] - since.waits.get(task, 0)
            ran += now.runs[task] - since.runs.get(task, 0)
            if wait > length:
                self._slices.append(Slice(now.time - wait, now.time, os.getpid(), 0, wait))
            else:
                total_wait += wait
        self._append(Slice(since.time, now.time, os.getpid(), ran, total_wait))
        if len(self._slices) > MOST:
            pairs = zip(self._slices[::2], self._slices[1::2])
            self._slices = [_join(one, other) for one, other in pairs] + self._slices[len(self._slices) // 2 * 2 :]

    def _append(self, new: Slice) -> None:
        last = self._slices[-1] if self._slices else None
        if (
            last is not None
            and last.end == new.begin
            and new.end - last.begin < LONGEST
            and _quiet(last)
            and _quiet(new)
        ):
            self._slices[-1] = _join(last, new)
        else:
            self._slices.append(new)


def _quiet(piece: Slice) -> bool:
    return piece.waited <= QUIET * (piece.ran + piece.waited)


def _join(one: Slice, other: Slice) -> Slice:
    begin, end = min(one.begin, other.begin), max(one.end, other.end)
    return Slice(begin, end, one.process, one.ran + other.ran, one.waited + other.waited)


class Lookout:
    """Reads the counters from its own thread while it is active."""

    def __init__(self, slices: Slices) -> None:
        self._slices = slices
        self._ended = _thread.allocate_lock()
        self._done = _thread.allocate_lock()
        self._process = os.getpid()
        self._ended.acquire()
        self._done.acquire()
        _thread.start_new_thread(self._look, ())

    def end(self) -> None:
        """Read the counters a last time; a forked copy of the process has no such thread."""
        self._ended.release()
        if self._process == os.getpid():
            self._done.acquire()

    def _look(self) -> None:
        try:
            self._slices.own = str(threading.get_native_id())
            since, pause, ended = Reading.now(), PERIOD, False
            while not ended:
                ended = self._ended.acquire(timeout=pause)
                begin = time.perf_counter()
                now = Reading.now()
                self._slices.add(since, now)
                since, pause = now, max(PERIOD, PAUSE * (time.perf_counter() - begin))
        finally:
            self._done.release()


class Waiting:
    """Accumulates between alternating calls of `start` and `stop`."""

    def __init__(self) -> None:
        self._since = Reading()
        self._span = self._ran = 0.0
        self._waited: float | None = None
        self._slices = Slices()
        self._lookout: Lookout | None = None

    def start(self) -> None:
        """Begin to count."""
        self._since = Reading.now()
        if self._since.waits:
            self._lookout = Lookout(self._slices)

    def stop(self) -> None:
        """Count no more."""
        if self._lookout is not None:
            self._lookout.end()
            self._lookout = None
        now, since = Reading.now(), self._since
        self._span += now.passed - since.passed
        self._ran += now.ran - since.ran
        if now.waits:
            # A thread started since then began with zero.
            seconds = sum(after - since.waits.get(task, 0) for task, after in now.waits.items()) / 1e9
            self._waited = (self._waited or 0.0) + seconds

    def slices(self) -> tuple[Slice, ...]:
        """Return the slices of all threads' time."""
        return self._slices.as_tuple()

    def facts(self) -> dict[str, float]:
        """Return seconds that were profiled, that the threads ran and that they waited; nothing where none is known."""
        if self._waited is None:
            return {}
        return {"span": round(self._span, 6), "ran": round(self._ran, 6), "waited": round(self._waited, 6)}

    def notes(self) -> tuple[str, ...]:
        """Return a line for people where the threads waited for much of the time that they could have run."""
        seconds = self._waited or 0.0
        if seconds < LEAST or seconds < SHARE * (self._ran + seconds):
            return ()
        text = (
            f"in {self._span:.3g} profiled s, threads ran {self._ran:.3g} s and waited {seconds:.3g} s for a CPU: "
            "other processes ran, or there are more threads than CPUs; times include the waiting"
        )
        return (text,)
