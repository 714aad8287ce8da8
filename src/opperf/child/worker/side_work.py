"""Work that a function has done elsewhere: by threads and processes of its own, or after it has returned.

The time of a call is what the side's own threads take. A function that starts others, or returns before it is done, is
faster on a machine with idle CPUs and slower on a full one; where both sides share CPUs, it only disturbs the samples.
So this looks at CPU time: of the process, of what descends from it, and of threads that its function has started.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from contextlib import suppress
from time import clock_gettime_ns, perf_counter_ns, process_time_ns, sleep, thread_time_ns

from opperf.child.measure.doubts import MOST_OVER
from opperf.domain.backend import Backend
from opperf.domain.dataclass import dataclass

#: The least time that is judged, in nanoseconds.
LEAST_NS = 5_000_000
#: The share of a process's CPU time that threads of its function may take on a side of one thread.
MOST_BY_THREADS = 0.2
#: How long nothing is asked, in seconds, and the CPU time in it that tells of work: a share of what the calls before it
#: took, and nanoseconds at least.
IDLE_SECONDS, IDLE_SHARE, IDLE_NS = 0.01, 0.2, 400_000
#: Frameworks that compute in the thread that calls them, on a side of one thread.
CALLING_THREAD = ("numpy", "torch", "mxnet", "null")
TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
#: The kind of another process's clock that counts its CPU time. Source: the kernel's posix-timers.h.
SCHEDULED = 2


class Unfair(Exception):
    """A function is fast by what a program would not give it: CPUs that its side has not, or the same values again."""

    def __init__(self, message: str, *, slug: str, hint: str) -> None:
        super().__init__(message)
        self.slug = slug
        self.hint = hint


@dataclass(frozen=True)
class Times:
    """Wall time, CPU time of the process, of that the first threads' and the asking one's, and its descendants'."""

    wall: int = 0
    cpu: int = 0
    own: int = 0
    asking: int = 0
    descendants: int = 0

    def __sub__(self, earlier: Times) -> Times:
        """Take off what had gone by before.

        Descendants that have ended, and those that count in ticks, can seem to have taken less than none. That says
        nothing of the process's own threads, so it must not hide what they took.
        """
        wall, cpu, own, asking, descendants = (mine - its for mine, its in zip(self._all, earlier._all))
        return Times(wall, cpu, own, asking, max(0, descendants))

    def __add__(self, other: Times) -> Times:
        return Times(*map(sum, zip(self._all, other._all)))

    @property
    def _all(self) -> tuple[int, ...]:
        return self.wall, self.cpu, self.own, self.asking, self.descendants

    @property
    def all_cpu(self) -> int:
        """CPU time of the process and its descendants."""
        return self.cpu + self.descendants


class Overseer:
    """Looks at the CPU time of one process; made before a function is loaded, so it knows which threads are whose."""

    def __init__(self, backend: Backend) -> None:
        self._threads = backend.side.threads
        # Those that other frameworks start when they like cannot be told from a function's.
        own = backend.name in CALLING_THREAD and backend.side.engine == "naive"
        self._tells_threads = own and self._threads == 1
        self._allowed = MOST_OVER * max(self._threads, backend.threads_seen or 0.0)
        #: The threads that are no function's own, and what they had taken when they were last seen.
        self._first: dict[str, int] = dict.fromkeys(_threads(), 0)
        self._has_started = False
        self._watched = Times()
        self._begin: Times | None = None

    def start(self) -> None:
        """Start with another function: threads that live now are not its own."""
        if self._has_started:
            self._first = {**dict.fromkeys(_threads(), 0), **self._first}
        self._has_started = True
        self._watched = Times()

    def begin(self) -> None:
        """Look for the first time before calls."""
        self._begin = self._read()

    def end(self) -> None:
        """Look again behind them; raises `Unfair`."""
        if self._begin is None:
            return
        self._watched += self._read(closes=True) - self._begin
        self._begin = None
        times = self._watched
        if times.wall < LEAST_NS:
            return
        cpus = times.all_cpu / times.wall
        if cpus > self._allowed:
            raise self._extra(f"used {cpus:.1f} CPUs of {self._threads}")
        others = (times.cpu - times.own) / max(1, times.all_cpu)
        if self._tells_threads and others > MOST_BY_THREADS and times.all_cpu > LEAST_NS:
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

        The thread that asks sleeps meanwhile, so what it takes to look is not counted.
        """
        before = self._read()
        call()
        between = self._read()
        sleep(IDLE_SECONDS)
        after = self._read(closes=True) - between
        during, later = (between - before).all_cpu, after.all_cpu - after.asking
        return later / (during + later) if later > IDLE_NS and later > IDLE_SHARE * (during + later) else 0.0

    def _extra(self, what: str) -> Unfair:
        more = self._threads + 1
        hint = f"give the side as many threads as it uses, as in `threads={more}`, or measure it with `--no-check`"
        return Unfair(what, slug="extra_cpu", hint=hint)

    def _read(self, *, closes: bool = False) -> Times:
        """Return the times now, those that open a span or those that close it.

        To look takes milliseconds where a hypervisor gives the CPU away, and the kernel may count them as CPU time. So
        a span closes in the reverse order: it is longest by the wall, next by the threads that are no function's own,
        and shortest by the process. What looking takes is then nowhere CPU time of anybody else.
        """
        if closes:
            cpu, asking, first = process_time_ns(), thread_time_ns(), self._first_ns()
            descendants, wall = _descendants_ns(closes), perf_counter_ns()
        else:
            wall, descendants = perf_counter_ns(), _descendants_ns(closes)
            first, asking, cpu = self._first_ns(), thread_time_ns(), process_time_ns()
        return Times(wall, cpu, first + asking, asking, descendants)

    def _first_ns(self) -> int:
        """Return the CPU time of the first threads; those that have ended keep theirs."""
        if self._tells_threads:
            for task, ns in self._first.items():
                self._first[task] = max(ns, _thread_ns(task))
        return sum(self._first.values())


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


def _descendants_ns(closes: bool) -> int:
    """Return the CPU time of all that descends from this process.

    Who is waited for between the two readings counts twice where a span begins, and not where it closes.
    """
    readings = [_waited_ns, _living_ns] if closes else [_living_ns, _waited_ns]
    return sum(read(closes) for read in readings)


def _living_ns(closes: bool) -> int:
    return sum(_cpu_ns(pid, closes) for pid in _descendants())


def _waited_ns(_: bool) -> int:
    waited = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round((waited.ru_utime + waited.ru_stime) * 1e9)


def _descendants() -> set[int]:
    """Return the processes that descend from this one, and those that have lost their parent to its supervisor."""
    process = os.getpid()
    result: set[int] = set()
    # A child leads a session where its supervisor has no other child (`supervision.py`).
    ahead = [*_children(process), *(_children(os.getppid()) if os.getsid(0) == process else ())]
    while ahead:
        pid = ahead.pop()
        if pid != process and pid not in result:
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


def _cpu_ns(pid: int, closes: bool) -> int:
    """Return the CPU time of a process and of what it has waited for.

    What is counted in ticks is two numbers, each of which leaves out what is less than one: where a span closes as much
    is taken off. A function whose calls take less than a tick would else seem to use CPUs that it does not.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            user, system, *collected = map(int, file.read().rpartition(b")")[2].split()[11:15])
    except (OSError, ValueError):
        return 0
    exact, ticks = 0, sum(collected)
    try:
        exact = clock_gettime_ns((~pid << 3) | SCHEDULED)
    except OSError:
        ticks += user + system
    return exact + (max(0, ticks - 2) if closes else ticks) * TICK_NS
