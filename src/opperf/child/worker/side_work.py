"""Work that a function has done elsewhere: by threads and processes of its own, or after it has returned.

The time of a call is what the side's own threads take. A function that starts others, or returns before it is done, is
faster on a machine with idle CPUs and slower on a full one; where both sides share CPUs, it only disturbs the samples.
So this looks at CPU time: of the process, of what descends from it, and of threads that its function has started.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Collection
from contextlib import suppress
from time import perf_counter_ns, process_time_ns, sleep, thread_time_ns

from opperf.child.measure.doubts import MOST_OVER
from opperf.domain.backend import Backend
from opperf.domain.dataclass import dataclass

#: The least time that is judged, in nanoseconds: a tick of the kernel's clock may be wrong by one.
LEAST_NS = 5_000_000
#: The share of a process's CPU time that threads of its function may take on a side of one thread.
MOST_BY_THREADS = 0.2
#: How long nothing is asked, in seconds, and the CPU time in it that tells of work: a share of what the calls before it
#: took, and nanoseconds at least.
IDLE_SECONDS, IDLE_SHARE, IDLE_NS = 0.01, 0.2, 400_000
#: Frameworks that compute in the thread that calls them, on a side of one thread.
CALLING_THREAD = ("numpy", "torch", "mxnet", "null")
TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


class Unfair(Exception):
    """A function is fast by what a program would not give it: CPUs that its side has not, or the same values again."""

    def __init__(self, message: str, *, slug: str, hint: str) -> None:
        super().__init__(message)
        self.slug = slug
        self.hint = hint


@dataclass(frozen=True)
class Times:
    """Wall time, CPU time of the process and its descendants, of that the first threads', and the asking one's."""

    wall: int = 0
    cpu: int = 0
    own: int = 0
    asking: int = 0

    def __sub__(self, other: Times) -> Times:
        return Times(*(mine - its for mine, its in zip(self._all, other._all)))

    def __add__(self, other: Times) -> Times:
        return Times(*map(sum, zip(self._all, other._all)))

    @property
    def _all(self) -> tuple[int, ...]:
        return self.wall, self.cpu, self.own, self.asking


class Overseer:
    """Looks at the CPU time of one process; made before a function is loaded, so it knows which threads are whose."""

    def __init__(self, backend: Backend) -> None:
        self._threads = backend.side.threads
        # Those that other frameworks start when they like cannot be told from a function's.
        own = backend.name in CALLING_THREAD and backend.side.engine == "naive"
        self._tells_threads = own and self._threads == 1
        self._allowed = MOST_OVER * max(self._threads, backend.threads_seen or 0.0)
        self._first: Collection[str] = _threads()
        self._has_started = False
        self._watched = Times()
        self._begin: Times | None = None

    def start(self) -> None:
        """Start with another function: threads that live now are not its own."""
        self._first = {*self._first, *_threads()} if self._has_started else self._first
        self._has_started = True
        self._watched = Times()

    def begin(self) -> None:
        """Look for the first time before calls."""
        self._begin = self._read()

    def end(self) -> None:
        """Look again behind them; raises `Unfair`."""
        if self._begin is None:
            return
        self._watched += self._read() - self._begin
        self._begin = None
        times = self._watched
        if times.wall < LEAST_NS:
            return
        cpus = times.cpu / times.wall
        if cpus > self._allowed:
            raise self._extra(f"used {cpus:.1f} CPUs of {self._threads}")
        others = 1 - times.own / max(1, times.cpu)
        if self._tells_threads and others > MOST_BY_THREADS and times.cpu > LEAST_NS:
            raise self._extra(
                f"used threads of its own on a side of one thread: they took {others:.0%} of the CPU time"
            )

    def idle(self, call: Callable[[], None]) -> None:
        """Make calls, then ask nothing for a while; raises `Unfair` where CPU time goes on."""
        if not self._tells_threads:
            return  # the framework's own threads may go on for a while
        shares = [self._late_share(call)]
        if shares[0]:
            shares.append(self._late_share(call))
        if all(shares):
            share = min(shares)
            raise Unfair(
                f"works on after it has returned: {share:.0%} of the CPU time of its calls came later",
                slug="works_after_return",
                hint="wait for the work before you return, or measure it anyway with `--no-check`",
            )

    def _late_share(self, call: Callable[[], None]) -> float:
        """Return how much CPU time went on after calls, as a share of all; zero where that is too little to tell.

        The thread that asks sleeps meanwhile. What it takes to look is not counted: where a hypervisor gives the CPU
        away, that may be milliseconds.
        """
        before = self._read()
        call()
        between = self._read()
        sleep(IDLE_SECONDS)
        after = self._read() - between
        during, later = (between - before).cpu, after.cpu - after.asking
        return later / (during + later) if later > IDLE_NS and later > IDLE_SHARE * (during + later) else 0.0

    def _extra(self, what: str) -> Unfair:
        more = self._threads + 1
        hint = f"give the side as many threads as it uses, as in `threads={more}`, or measure it with `--no-check`"
        return Unfair(what, slug="extra_cpu", hint=hint)

    def _read(self) -> Times:
        waited = resource.getrusage(resource.RUSAGE_CHILDREN)
        descendants = round((waited.ru_utime + waited.ru_stime) * 1e9) + sum(map(_cpu_ns, _descendants()))
        first = sum(map(_thread_ns, self._first)) if self._tells_threads else 0
        asking = thread_time_ns()
        return Times(perf_counter_ns(), process_time_ns() + descendants, first + asking + descendants, asking)


def _threads() -> tuple[str, ...]:
    """Return the threads of this process but for the one that asks."""
    own = str(os.getpid())
    with suppress(OSError):
        return tuple(task for task in os.listdir("/proc/self/task") if task != own)
    return ()


def _thread_ns(task: str) -> int:
    with suppress(OSError, IndexError, ValueError), open(f"/proc/self/task/{task}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0])
    return 0


def _descendants() -> set[int]:
    """Return the processes that descend from this one, and those that have lost their parent to its supervisor."""
    own = os.getpid()
    result: set[int] = set()
    # A child leads a session where its supervisor has no other child (`supervision.py`).
    ahead = [*_children(own), *(_children(os.getppid()) if os.getsid(0) == own else ())]
    while ahead:
        pid = ahead.pop()
        if pid != own and pid not in result:
            result.add(pid)
            ahead += _children(pid)
    return result


def _children(pid: int) -> list[int]:
    """Return the children of a process; source: proc(5), `/proc/PID/task/TID/children`."""
    result: list[int] = []
    with suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError, ValueError), open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                result += map(int, file.read().split())
    return result


def _cpu_ns(pid: int) -> int:
    """Return the CPU time of a process and of what it has waited for, by the kernel's clock."""
    with suppress(OSError, IndexError, ValueError), open(f"/proc/{pid}/stat", "rb") as file:
        return sum(map(int, file.read().rpartition(b")")[2].split()[11:15])) * TICK_NS
    return 0
