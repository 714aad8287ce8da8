"""What runs in a call in PyTorch: operators and kernels from its profiler, oneDNN and MKL calls from their output.

The two are looked at in calls of their own: printing takes time that the profiler would count. The profiler's first
call is slow and not counted. All calls are in one session, each under a mark: to start and end a session between them
would leave the caches cold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile, record_function

from opperf.child.backends.common import verbose
from opperf.child.backends.common.launches import MARK
from opperf.child.backends.common.verbose import OutputCapture, repeat
from opperf.child.backends.torch.spans import NO_OPERATORS, plain
from opperf.domain.call import Work
from opperf.domain.explanation import Event, Explanation


def of_calls(work: Work, calls: int, activity: Any, wait: Callable[[Any], None]) -> list[Explanation]:
    """Return the explanation of each of `calls` calls; kernels are those of a Kineto `activity`, if any."""
    events = zip(_profile(work, calls, activity, wait), _print(work, calls, wait), strict=True)
    return [Explanation((*operators, *primitives)) for operators, primitives in events]


def _profile(work: Work, calls: int, activity: Any, wait: Callable[[Any], None]) -> list[list[Event]]:
    activities = [ProfilerActivity.CPU, *filter(None, [activity])]
    with _levels(on=False), profile(activities=activities) as session:
        repeat(work, calls + 1, wait, lambda: record_function(MARK))
    raw_events = sorted(session.events(), key=lambda one: one.time_range.start)
    marks = [one.time_range for one in raw_events if one.name == MARK and one.device_type == DeviceType.CPU]
    pairs = [(one.time_range.start, event) for one in raw_events if (event := _event(one)) is not None]
    return [[event for at, event in pairs if mark.start <= at <= mark.end] for mark in marks[1:]]


def _event(raw_event: Any) -> Event | None:
    if raw_event.name == MARK:
        return None
    if raw_event.device_type != DeviceType.CPU:
        return Event(raw_event.name, "kernel", 1, raw_event.time_range.elapsed_us() / 1e6)
    if raw_event.name.startswith(NO_OPERATORS):
        return None
    return Event(plain(raw_event.name), "operator", 1, max(0.0, raw_event.self_cpu_time_total) / 1e6)


def _print(work: Work, calls: int, wait: Callable[[Any], None]) -> list[list[Event]]:
    output = OutputCapture()

    @contextmanager
    def watch() -> Iterator[None]:
        with output.catch(), _levels(on=True):
            yield

    repeat(work, calls, wait, watch)
    return [verbose.read(text) for text in output.texts]


def _levels(*, on: bool) -> AbstractContextManager[Any]:
    """Have oneDNN and MKL print what they run or not, where this build has them and a way to ask."""
    stack = ExitStack()
    for name, there in (("mkldnn", torch.backends.mkldnn.is_available()), ("mkl", torch.backends.mkl.is_available())):
        library = getattr(torch.backends, name)
        if there and hasattr(library, "verbose"):
            stack.enter_context(library.verbose(library.VERBOSE_ON if on else library.VERBOSE_OFF))
    return stack
