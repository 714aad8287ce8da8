"""What one call allocates in MXNet: the steps of its profiler's memory counter.

A dump holds the events since the one before, so a call between two states makes a dump of its own. Scratch space that
MXNet keeps between calls is counted in the call that first needs it, which is not this one.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import mxnet as mx

from opperf.child.backends.mxnet.allocations import allocated_bytes, peak, steps
from opperf.child.backends.mxnet.profile import SWITCHES, configure, original, scratch_file
from opperf.domain.call import Work
from opperf.domain.measurement import Memory


class Counter:
    """The profiler's memory counters, written to a file that is gone with the process."""

    def __init__(self) -> None:
        self._file = scratch_file()

    def steps(self, work: Work, arguments: tuple[Any, ...]) -> dict[str, list[int]]:
        """Return the change by each allocation and release of one call, by device."""
        # The process has one profiler, and others may have used it since.
        configure({"filename": str(self._file), **SWITCHES, "profile_memory": True})
        for state in ("run", "stop"):  # it writes nothing before it has run
            original.set_state(state)
        self._read()  # what a script's own use of the profiler has left
        original.set_state("run")
        try:
            result = work.function(*arguments, **work.keywords)
            mx.nd.waitall()
        finally:
            original.set_state("stop")
        steps = self._read()
        del result  # its release comes after the profiler's end: the peak is while it lives
        return steps

    def _read(self) -> dict[str, list[int]]:
        """Have the profiler write its events down, and return those that are new."""
        original.dump(finished=False)
        return steps(self._file.read_text(errors="replace"))


_counter = cache(Counter)


def of_call(work: Work, context: Any) -> Memory:
    """Make one call on the device of `context` and return what it took there."""
    with work.scope():
        arguments = work.make_arguments()
        mx.nd.waitall()
        changes = _counter().steps(work, arguments).get(f"{context.device_type}/{context.device_id}", [])
    return Memory(peak(changes), allocated_bytes(changes), "profiler memory counter")
