"""What runs in a call in MXNet: operators as its profiler sums them up, and what oneDNN prints.

oneDNN decides by a variable whether it prints, when it first runs; the parent sets that for a child that is asked to
explain. The profiler's first call is not counted: it holds what is set up once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from opperf.child.backends.common import verbose
from opperf.child.backends.common.verbose import OutputCapture, repeat
from opperf.child.backends.mxnet.profile import window
from opperf.domain.call import Work
from opperf.domain.explanation import Event, Explanation

#: oneDNN's switch, by the name of each generation.
SWITCHES = ("DNNL_VERBOSE", "MKLDNN_VERBOSE")


def of_calls(work: Work, calls: int, wait: Callable[[Any], None]) -> list[Explanation]:
    """Return the explanation of each of `calls` calls."""
    output = OutputCapture()
    repeat(work, calls, wait, output.catch)
    notes = () if any(name in os.environ for name in SWITCHES) else ("oneDNN was not told to print what it runs",)
    events = zip(_profile(work, calls, wait), map(verbose.read, output.texts), strict=True)
    return [Explanation((*operators, *primitives), notes) for operators, primitives in events]


def _profile(work: Work, calls: int, wait: Callable[[Any], None]) -> list[list[Event]]:
    events_by_call: list[list[Event]] = []
    with window() as profiler:

        @contextmanager
        def running() -> Iterator[None]:
            with profiler.open():
                yield
            events_by_call.append(profiler.read())

        repeat(work, calls + 1, wait, running)
    return events_by_call[1:]
