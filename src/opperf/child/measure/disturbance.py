"""How the machine disturbed this process during a sample, and when that makes the sample unusable.

Everything is read for the whole process: MXNet and JAX work in other threads, and counters of the calling thread see
nothing of it. Of processes that a call started and waited for, the switches are read too. Reading costs a few
microseconds and stands outside the pair of wall clock readings.
"""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from typing import Protocol

from opperf.child.measure import host
from opperf.child.measure.host import HostReading
from opperf.domain.dataclass import dataclass
from opperf.domain.measurement import Sample

#: Share of a sample's wall time that its threads may wait in the run queue. On a quiet machine it is below 1 %.
MOST_WAITING = 0.05
#: Involuntary switches for each thread and millisecond: the scheduler's slices on a quiet machine are 3 ms and longer.
MOST_SWITCHES = 0.25


@dataclass(frozen=True)
class Reading:
    """The counters at one moment: involuntary switches, minor page faults, run-queue wait in ns, voluntary switches."""

    switches: int
    faults: int
    waiting_ns: int | None
    voluntary: int = 0

    def sample(self, after: Reading, calls: int, wall_ns: int, cpu_ns: int, device_ns: int | None = None) -> Sample:
        """Return the sample of calls between this moment and a later one: their times, and how they were disturbed."""
        return Sample(
            calls=calls,
            wall_ns=wall_ns,
            cpu_ns=cpu_ns,
            switches=after.switches - self.switches,
            faults=after.faults - self.faults,
            waiting_ns=None if self.waiting_ns is None else (after.waiting_ns or 0) - self.waiting_ns,
            device_ns=device_ns,
            voluntary=after.voluntary - self.voluntary,
        )


class Counters(Protocol):
    """What is read around each sample, and around all of them."""

    def read(self) -> Reading:
        """Return the counters of this process now."""

    def watch(self) -> None:
        """Look for threads again; called once for each trial, after its warm-up has started them."""

    def host(self) -> HostReading:
        """Return the counters of the machine now."""

    def memory(self) -> int:
        """Return the bytes in memory that are this process's own, libraries not counted; 0 where nobody tells."""


class ProcessCounters:
    """The counters of this process: `getrusage`, and `schedstat` of every thread with its files held open.

    A file is held for each thread that lives when `watch` is called; some kernels have none.
    """

    def __init__(self) -> None:
        self._files: list[int] = []
        self.watch()

    def watch(self) -> None:
        """Look for threads again; called once for each trial, after its warm-up has started them."""
        self.close()
        with suppress(OSError):
            for task in os.listdir("/proc/self/task"):
                with suppress(OSError):  # a thread may end between the listing and the opening
                    self._files.append(os.open(f"/proc/self/task/{task}/schedstat", os.O_RDONLY))

    def host(self) -> HostReading:
        """Return the counters of the machine now."""
        return host.read()

    def memory(self) -> int:
        """Return the bytes in memory that are this process's own; 0 where the system does not tell."""
        return host.private_bytes()

    def close(self) -> None:
        """Give the files back."""
        for file in self._files:
            os.close(file)
        self._files = []

    def read(self) -> Reading:
        """Return the counters now."""
        waiting = None
        if self._files:
            waiting = 0
            for file in self._files:
                with suppress(OSError, IndexError, ValueError):
                    # "time on the CPU, time in the run queue, time slices", both times in nanoseconds
                    waiting += int(os.pread(file, 96, 0).split()[1])
        usage = resource.getrusage(resource.RUSAGE_SELF)
        # A call that starts a process and waits for it is disturbed where that process is.
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return Reading(usage.ru_nivcsw + children.ru_nivcsw, usage.ru_minflt, waiting, usage.ru_nvcsw)


class NoCounters:
    """Counters that stand still, for a virtual clock."""

    def read(self) -> Reading:
        """Return zeros."""
        return Reading(0, 0, None)

    def watch(self) -> None:
        """There are no threads to look for."""

    def host(self) -> HostReading:
        """Return zeros."""
        return HostReading(0.0, 0, 0.0)

    def memory(self) -> int:
        """Return that nobody tells."""
        return 0


def clean(sample: Sample, threads: int) -> bool:
    """Whether a sample was left alone by the machine.

    One thread: no involuntary switch at all, and little waiting. Several threads: switches in proportion to the time,
    since a long call over many threads always meets the scheduler.

    >>> clean(Sample(calls=10, wall_ns=500_000, cpu_ns=500_000, switches=1), threads=1)
    False
    """
    if sample.waiting_ns is not None and sample.waiting_ns > MOST_WAITING * sample.wall_ns * threads:
        return False
    if threads == 1:
        return sample.switches == 0
    return sample.switches <= MOST_SWITCHES * threads * sample.wall_ns / 1e6
