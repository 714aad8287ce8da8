"""Stop a whole tree of processes at once, for sure, and read their memory and their CPU time meanwhile.

Where the tree has a control group of version 2 (`confinement/groups.py` makes one), the kernel freezes it: nobody in
it can be missed, nor let anybody else go on. Elsewhere each process gets SIGSTOP, again and again, until a listing that
was begun when all had stopped shows no other.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress

from opperf.confinement import groups
from opperf.domain.errors import WorkerFailure

#: How long a tree may take to stop, in seconds: a process that waits for a disk stops after that.
LIMIT = 30.0
#: How long to wait before the next look at a group that is to freeze, in seconds: about as long as it takes.
LOOK = 5e-5
#: What a thread is when it cannot run any more: stopped, traced, a zombie. One that is gone may have left another.
STILL = frozenset("TtZ")
TICK = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
#: Kinds of a clock of another process: its CPU time, by what the scheduler counts. Source: the kernel's posix-timers.h.
SCHEDULED = 2
#: What the scheduler says of a thread that is gone.
NEVER = [b"0", b"0", b"0"]


class Freezer:
    """The tree of one child. It must not be used after the child has ended but to close it."""

    def __init__(self, pid: int, top: int | None = None, *, alone: bool = False) -> None:
        """Take the child's process id, as this process sees it; raises `WorkerFailure` where there is no such child.

        `top` is the process above it from which on the tree is its own: the one that this process has started. `alone`,
        what is below the child is no part of the tree.
        """
        self._alone = alone
        try:
            self._line = tuple(_line(pid, top))
            folder = "" if alone else groups.folders(pid).get("", "")
        except OSError as problem:
            raise WorkerFailure(f"there is no process {pid} to freeze: {problem.strerror}", slug="freeze") from problem
        self.pid = pid
        #: What had run how often when all had stopped.
        self._runs: frozenset[tuple[int, bytes]] | None = None
        self._files: list[int] = []
        self.mechanism = "signals"
        if os.path.basename(folder).startswith(groups.PREFIX):
            with suppress(OSError):
                self._switch = self._open(f"{folder}/cgroup.freeze", os.O_WRONLY)
                self._events = self._open(f"{folder}/cgroup.events")
                self._times = self._open(f"{folder}/cpu.stat")
                self._processes = self._open(f"{folder}/cgroup.procs")
                self.mechanism = "group"

    def _open(self, path: str, mode: int = os.O_RDONLY) -> int:
        self._files.append(os.open(path, mode | os.O_CLOEXEC))
        return self._files[-1]

    def __enter__(self) -> Freezer:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def freeze(self) -> None:
        """Stop every process of the tree; when this returns, none of them runs. Raises `WorkerFailure` in vain."""
        deadline = time.monotonic() + LIMIT
        if self.mechanism == "group":
            os.pwrite(self._switch, b"1", 0)
            # Those that are to stop may need this CPU for it. The kernel tells of a change by itself, but no more often
            # than every 10 ms, and it has just told of the thaw.
            while b"frozen 1" not in os.pread(self._events, 256, 0):
                self._check(deadline)
                time.sleep(LOOK)
        else:
            calm = False  # whether a listing was begun when all had stopped
            while not ((still := self._stop_all()) and calm):
                self._check(deadline)
                calm = still
                os.sched_yield()
            self._runs = self._count_runs()

    def _check(self, deadline: float) -> None:
        if time.monotonic() > deadline:
            self.thaw()
            raise WorkerFailure(f"the processes of child {self.pid} did not stop within {LIMIT:g} s", slug="freeze")

    def _stop_all(self) -> bool:
        """Send SIGSTOP to all that can run, and return whether there was none."""
        moving = self._moving()
        for pid in moving:
            _send(pid, signal.SIGSTOP)
        return not moving

    def _moving(self) -> list[int]:
        return [pid for pid in self._tree() if not _is_still(pid)]

    def has_run(self) -> bool:
        """Whether anything of the tree has run since it was frozen, as it must not have.

        SIGCONT lets a stopped process go on, and the kernel itself sends it to who has asked for that: when a timer
        is over, or something can be read. A control group stays frozen.
        """
        return self.mechanism == "signals" and self._runs not in (None, self._count_runs())

    def _count_runs(self) -> frozenset[tuple[int, bytes]]:
        """Return how often each thread was given a CPU. Source: `schedstat`, as below."""
        return frozenset((thread, _schedule(pid, thread)[2]) for pid in self._tree() for thread in _threads(pid))

    def thaw(self) -> None:
        """Let the tree go on."""
        self._runs = None
        if self.mechanism == "group":
            os.pwrite(self._switch, b"0", 0)
        else:
            for pid in self._tree():
                _send(pid, signal.SIGCONT)

    def cpu_ns(self) -> int:
        """Return the CPU time that the tree has taken, in nanoseconds, with those that have died in it.

        In a control group it is exact to a microsecond. Elsewhere the dead count from when their parent has collected
        them, in ticks of the clock (10 ms); those that nobody collects count while they live.
        """
        if self.mechanism == "group":
            first = os.pread(self._times, 256, 0).split(b"\n", 1)[0]
            return int(first.removeprefix(b"usage_usec ")) * 1000
        return sum(map(_cpu_ns, self._tree()))

    def waiting_ns(self) -> int:
        """Return how long the threads that live in the tree have stood ready to run without a CPU, in nanoseconds."""
        return sum(_waiting_ns(pid, thread) for pid in self.processes() for thread in _threads(pid))

    def processes(self) -> tuple[int, ...]:
        """Return the ids of the child and of all that it has started and that lives, in ascending order."""
        if self.mechanism == "group":
            pids: Iterator[int] | list[int] = list(map(int, os.pread(self._processes, 1 << 20, 0).split()))
        else:
            pids = self._tree()
        return tuple(sorted(pid for pid in pids if pid not in self._line[1:] and _state(f"/proc/{pid}") not in "ZX"))

    def threads(self) -> tuple[int, ...]:
        """Return the ids of the threads of all these processes, in ascending order."""
        return tuple(sorted(thread for pid in self.processes() for thread in _threads(pid)))

    def close(self) -> None:
        """Let the tree go on, and give back what was open; twice does no harm."""
        if self._files or self.mechanism == "signals":
            with suppress(OSError):
                self.thaw()
        self.mechanism = "none"
        while self._files:
            os.close(self._files.pop())

    def _tree(self) -> Iterator[int]:
        """Yield the child and all below the process that supervises it: who loses its parent is found there."""
        top = self._line[-1]
        if top == self.pid or self._alone:
            yield self.pid
        below = [] if self._alone else [top]
        while below:
            for child in _children(below.pop()):
                yield child
                below.append(child)


def of_start(top: int, *, alone: bool = False) -> Freezer:
    """Return a freezer of a child before its hello, with those that start it; raises `WorkerFailure` where none lives.

    `top` is the process that runs the child, or what it is still to be forked from, which is stopped `alone`: others
    that were forked from that are not this one's. Once the child is in its room, the room's group stops it.
    """
    below = top
    while (child := next(_children(below), None)) is not None:
        below = child
        if alone:
            break
    return Freezer(below, top, alone=alone)


def read_memory(pid: int, address: int, size: int) -> bytes:
    """Return bytes of a process's memory; raises `WorkerFailure` where there are none, or fewer.

    What the process has protected from itself is read as well. Freeze it first: what runs, changes.
    """
    place = f"{size} bytes at {address:#x} in the memory of process {pid}"
    try:
        memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            parts: list[bytes] = []
            while size > 0 and (part := os.pread(memory, size, address)):
                parts.append(part)
                address, size = address + len(part), size - len(part)
        finally:
            os.close(memory)
    except (OSError, OverflowError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "no such address"
        raise WorkerFailure(f"cannot read {place}: {reason}", slug="unreadable") from problem
    if size:
        raise WorkerFailure(f"cannot read {place}: it has ended, or runs another program", slug="unreadable")
    return b"".join(parts)


def _line(pid: int, top: int | None = None) -> Iterator[int]:
    """Yield a process and those above it, up to the one that this process has started, or to `top`."""
    while pid > 1:
        yield pid
        above = int(_fields(f"/proc/{pid}")[1])
        if top in (pid, None) and (pid == top or above == os.getpid()):
            return
        pid = above


def _children(pid: int) -> Iterator[int]:
    for thread in _threads(pid):
        with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb", buffering=0) as file:
            yield from map(int, file.read().split())


def _threads(pid: int) -> list[int]:
    with suppress(OSError):
        return list(map(int, os.listdir(f"/proc/{pid}/task")))
    return []


def _is_still(pid: int) -> bool:
    """Whether no thread of a process can run; False for one that is gone: who knows what it has started before."""
    threads = _threads(pid)
    return bool(threads) and all(_state(f"/proc/{pid}/task/{thread}") in STILL for thread in threads)


def _fields(folder: str) -> list[bytes]:
    """Return the fields of a process or thread from its state on. Source: proc(5), `/proc/PID/stat`."""
    with open(f"{folder}/stat", "rb", buffering=0) as file:
        return file.read().rpartition(b") ")[2].split()


def _state(folder: str) -> str:
    with suppress(OSError, IndexError):
        return _fields(folder)[0].decode()
    return "X"


def _send(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _waiting_ns(pid: int, thread: int) -> int:
    return int(_schedule(pid, thread)[1])


def _schedule(pid: int, thread: int) -> list[bytes]:
    """Return how long a thread has run and stood ready to, in nanoseconds, and how often it was given a CPU.

    Source: the kernel's Documentation/scheduler/sched-stats, `/proc/PID/schedstat`.
    """
    with suppress(OSError), open(f"/proc/{pid}/task/{thread}/schedstat", "rb", buffering=0) as file:
        return file.read().split() or NEVER
    return NEVER


def _cpu_ns(pid: int) -> int:
    """Return the CPU time of a process and of its children that it has collected."""
    with suppress(OSError, IndexError):
        children = sum(map(int, _fields(f"/proc/{pid}")[13:15])) * TICK
        return time.clock_gettime_ns((~pid << 3) | SCHEDULED) + children
    return 0
