"""What JAX's profiler recorded, as spans: planes of lines of events, as `jax.profiler.ProfileData` gives them.

* A plane is the host or a device. A line of the host is a thread, and its events are all that the runtime marks;
  operators are those that name an instruction of a compiled program (`hlo_op`) and the program (`hlo_module`).
* An operator that runs on while its thread does other things is over when a mark says so, on whatever thread (`end: `).
* A line of a device is a queue of kernels. What fills the queue is no operator of the host, so that an instruction's
  kernels stand for it.
* Times count from the beginning of the recording, which the plane of the task tells in nanoseconds since 1970.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

from opperf.child.backends.common.launches import MARK, join, unseen
from opperf.child.backends.common.threads import ThreadNames
from opperf.domain.dataclass import dataclass
from opperf.domain.kernels import Activity, CallActivity
from opperf.domain.profile.event import Event


@dataclass(frozen=True)
class Instruction:
    """What a program's text says of an instruction: the shapes of its operands, the scope it comes from."""

    shapes: tuple[tuple[int, ...], ...] = ()
    scope: str = ""
    backward: bool = False


#: The plane of the task, and what it calls the beginning of the recording.
TASK, BEGINNING = "Task Environment", "profile_start_time"
#: The plane of the host, and how those of devices are called.
HOST, DEVICE = "/host:CPU", "/device:"
#: Lines of a device that hold what really ran there: the first kind that it has.
QUEUES = ("Stream", "XLA Ops")
#: Statistics of an event: the instruction, its program, and numbers that link a mark to its operator.
INSTRUCTION, PROGRAM, PRODUCED, CONSUMED = "hlo_op", "hlo_module", "_p", "_c"
#: Said of the steps that a program marks by `jax.profiler.StepTraceAnnotation`, and which one it is.
STEP, NUMBER = "_r", "step_num"
#: The statistic that links a launch on the host to what it launched.
LINK = "correlation_id"
#: The mark at an operator's end.
END_MARK = "end: "
#: A call of a jitted function.
CALL = "PjitFunction("
#: What JAX puts before the name of a jitted function.
JITTED = "jit_"
#: What XLA puts behind an instruction's name to tell it from others of the name.
NUMBER_SUFFIX = re.compile(r"(?:\.\d+|\.clone|\.remat\d*)+$")


@dataclass(frozen=True)
class Reader:
    """Reads recordings of one process.

    `instructions` has what is known of them, by program and instruction. An operator's module is the scope that it
    comes from, as flax names its modules, or else the jitted function. With `api` calls of jitted functions are told
    as well.
    """

    process: int
    threads: ThreadNames
    instructions: Mapping[tuple[str, str], Instruction] = field(default_factory=dict)
    api: bool = False

    def spans(self, planes: Iterable[Any]) -> list[Event]:
        """Return the spans of a recording."""
        planes = list(planes)
        tasks = (stat for plane in planes if plane.name == TASK for stat in plane.stats)
        beginning = next((int(value) for name, value in tasks if name == BEGINNING), 0)
        events: list[Event] = []
        for plane in planes:
            if plane.name == HOST:
                events.extend(self._of_host(plane, beginning))
            elif plane.name.startswith(DEVICE):
                events.extend(self._of_device(plane, beginning))
        return events

    def _of_host(self, plane: Any, beginning: int) -> Iterator[Event]:
        lines = [(thread, list(_spans(line, beginning))) for thread, line in self._with_thread_names(plane.lines)]
        ends = {
            event.stats[CONSUMED]: event.end
            for _, events in lines
            for event in events
            if event.name.startswith(END_MARK) and CONSUMED in event.stats
        }
        for thread, events in lines:
            last_call = ("", 0)
            for event in events:
                if INSTRUCTION in event.stats:
                    yield self._operator(event, thread, max(event.end, ends.get(event.stats.get(PRODUCED), 0)))
                elif STEP in event.stats:
                    name = f"{event.name} {event.stats.get(NUMBER, '')}".rstrip()
                    yield Event(name, "step", event.begin, event.end - event.begin, self.process, thread)
                elif (
                    self.api
                    and event.name.startswith(CALL)
                    and (event.name != last_call[0] or event.begin >= last_call[1])
                ):
                    last_call = event.name, event.end  # it is marked twice, one right within the other
                    yield Event(event.name, "api", event.begin, event.end - event.begin, self.process, thread)

    def _of_device(self, plane: Any, beginning: int) -> Iterator[Event]:
        """Return the kernels, and for each that names an instruction an operator of the same time."""
        for line in queues(plane.lines):
            thread = f"{plane.name.removeprefix(DEVICE)} {line.name}"
            for event in _spans(line, beginning):
                took = event.end - event.begin
                module = _module(event)
                yield Event(event.name, "kernel", event.begin, took, self.process, thread, module=module, device=took)
                if INSTRUCTION in event.stats:
                    yield self._operator(event, thread, event.end, device=took)

    def _operator(self, event: _Span, thread: str, end: int, device: int | None = None) -> Event:
        instruction = str(event.stats[INSTRUCTION])
        facts = self.instructions.get((str(event.stats.get(PROGRAM, "")), instruction), Instruction())
        return Event(
            NUMBER_SUFFIX.sub("", instruction) or instruction,
            "operator",
            event.begin,
            end - event.begin,
            self.process,
            thread,
            shapes=facts.shapes,
            module=facts.scope or _module(event),
            backward=facts.backward,
            fused="fusion" in instruction,
            device=device,
        )

    def _with_thread_names(self, lines: Iterable[Any]) -> Iterator[tuple[str, Any]]:
        """Return the lines with the names of their threads; a pool gives all of its own the same, or a long number."""
        counts: Counter[str] = Counter()
        for line in lines:
            counts[line.name] += 1
            name = line.name.partition("/")[0] or "thread"
            yield self.threads.of((line.name, counts[line.name]), name), line


@dataclass(frozen=True)
class _Span:
    """An event as it was recorded, in nanoseconds since 1970."""

    name: str
    begin: int
    end: int
    stats: Mapping[str, Any]


def queues(lines: Iterable[Any]) -> list[Any]:
    """Return the lines of a device that hold what really ran there."""
    every = [*lines]
    kinds = ([line for line in every if line.name.startswith(kind)] for kind in QUEUES)
    return next(filter(None, kinds), [])


def _spans(line: Any, beginning: int) -> Iterator[_Span]:
    for event in line.events:
        begin = beginning + round(event.start_ns)
        yield _Span(event.name, begin, begin + round(event.duration_ns), dict(event.stats))


def _module(event: _Span) -> str:
    """Return the name of the jitted function."""
    return str(event.stats.get(PROGRAM, "")).removeprefix(JITTED)


def calls_of(planes: Iterable[Any]) -> list[CallActivity]:
    """Return the activities of each marked call of a recording; raises `Unsupported` where no device is in it."""
    windows: list[tuple[int, int]] = []
    launches: dict[int, int] = {}
    activities: list[Activity] = []
    for plane in planes:
        on_device = plane.name.startswith(DEVICE)
        for line in queues(plane.lines) if on_device else plane.lines:
            for event in line.events:
                begin = round(event.start_ns)
                end = begin + round(event.duration_ns)
                launch = dict(event.stats).get(LINK, 0)
                if on_device:
                    activities.append(Activity(event.name, _kind(event.name), begin, end, launch))
                elif event.name == MARK:
                    windows.append((begin, end))
                elif launch:
                    launches[launch] = begin
    if not activities:
        raise unseen()
    return join(windows, launches, activities)


def _kind(name: str) -> str:
    """Return the kind of an activity, by CUPTI's own names.

    >>> _kind("MemcpyH2D"), _kind("Memset"), _kind("loop_add_fusion")
    ('copy', 'set', 'kernel')
    """
    lower_case = name.lower()
    return "copy" if lower_case.startswith("memcpy") else "set" if lower_case.startswith("memset") else "kernel"
