"""The real clocks of a process."""

from __future__ import annotations

from time import perf_counter_ns, process_time_ns


class ProcessClock:
    """Wall time by the monotonic clock, CPU time of every thread of this process, both in nanoseconds.

    The functions of `time` are attributes themselves: a method around them would stand in the timed region.
    """

    wall = staticmethod(perf_counter_ns)
    cpu = staticmethod(process_time_ns)
