"""What one call allocates in MXNet: the steps of its profiler's memory counter.

The profiler writes a counter event at each allocation and release while it runs. A dump holds the events since the one
before, so a call between two states makes a dump of its own. Releases while the profiler is stopped are not counted,
and so the counter creeps up: only the steps from its last known value mean anything. Scratch space that MXNet keeps
between calls is counted in the call that first needs it, which is not this one.
"""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any

import mxnet as mx

from opperf.backend import Work
from opperf.measurement import Memory

#: Time stamp and value of one counter event. A pattern, because from the second dump on the file is not JSON.
EVENT = r'"ph": "C",\s*"ts": (\d+),\s*"args": \{{ "Memory: {device}": (\d+) \}}'


class Counter:
    """The profiler's counter of a device (`cpu/0`), written to a file that is gone with the process."""

    def __init__(self, device: str) -> None:
        self._event = re.compile(EVENT.format(device=re.escape(device)))
        folder = tempfile.mkdtemp(prefix="opperf-mxnet-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        self._file = Path(folder) / "profile.json"
        self._last = self._seen = 0
        mx.profiler.set_config(
            filename=str(self._file),
            profile_memory=True,
            profile_imperative=False,
            profile_symbolic=False,
            profile_api=False,
            aggregate_stats=False,
            continuous_dump=False,
        )

    def steps(self, work: Work, arguments: tuple[Any, ...]) -> list[int]:
        """Return the bytes that each allocation (above zero) and release (below) of one call changed."""
        mx.profiler.set_state("run")
        try:
            result = work.function(*arguments, **work.keywords)
            mx.nd.waitall()
        finally:
            mx.profiler.set_state("stop")
            mx.profiler.dump(finished=False)
        del result  # its release comes after the profiler's end: the peak is while it lives
        events = [(int(time), int(value)) for time, value in self._event.findall(self._written())]
        found = []
        # A file that MXNet went on writing still holds the events of earlier calls.
        for time, value in sorted((event for event in events if event[0] > self._seen), key=itemgetter(0)):
            found.append(value - self._last)
            self._last, self._seen = value, time
        return found

    def _written(self) -> str:
        return self._file.read_text(errors="replace")


_counter = cache(Counter)


def of_call(work: Work, context: Any) -> Memory:
    """Make one call on the device of `context` and return what it took there."""
    counter = _counter(f"{context.device_type}/{context.device_id}")
    with work.scope():
        arguments = work.arguments if work.before is None else work.before()
        mx.nd.waitall()
        steps = counter.steps(work, arguments)
    live = peak = 0
    for step in steps:
        live += step
        peak = max(peak, live)
    return Memory(peak, sum(max(0, step) for step in steps), "profiler memory counter")
