"""TensorFlow's profiler: what it saw of calls, what ran in them, and what they took of memory.

A recording goes to a folder, from which it is read and which is removed. Its planes hold, for each thread:

* `EagerExecute`, one for each operator that is called by itself, and within it `EagerKernelExecute`: its kernel;
* `name:Type` for an operator of a program, and events with `hlo_op` for an instruction that XLA compiled;
* `MemoryAllocation` and `MemoryDeallocation`, with the bytes that the allocator holds afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tensorflow as tf

from opperf.child.backends.common.launches import MARK
from opperf.child.backends.common.verbose import repeat
from opperf.domain.call import Work
from opperf.domain.dataclass import dataclass
from opperf.domain.explanation import Event, Explanation
from opperf.domain.measurement import Memory

#: An operator of a program: its name, and its type.
IN_PROGRAM = re.compile(r"^[^: ]+:(?P<type>_?[A-Z]\w*)$")
#: The plane of the task, and what it calls the beginning of the recording.
TASK, BEGINNING = "Task Environment", "profile_start_time"
SOURCE = "TensorFlow's profiler (the bytes that its allocator held, without blocks under 256 KiB)"
#: On a CPU, smaller blocks come from malloc directly, and the profiler does not see them.
SMALLEST_SEEN = 256 * 1024


@dataclass(frozen=True)
class Span:
    """Something that a thread did, in nanoseconds since 1970, with what the profiler says of it."""

    name: str
    thread: str
    start: int
    end: int
    facts: Mapping[str, Any]
    plane: str = ""

    @property
    def operator(self) -> str | None:
        """The type of the operator of a program, or the instruction of XLA, that this is; None for anything else."""
        if "hlo_op" in self.facts:
            return str(self.facts["hlo_op"])
        match = IN_PROGRAM.match(self.name)
        return match["type"] if match else None


@contextmanager
def profile_into(folder: str) -> Iterator[None]:
    """Have the profiler record until the end of the block."""
    start(folder)
    try:
        yield
    finally:
        tf.profiler.experimental.stop()


def start(folder: str) -> None:
    """Have the profiler record what TensorFlow does, and nothing of Python."""
    options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=2, python_tracer_level=0)
    tf.profiler.experimental.start(folder, options=options)


def spans(folder: str) -> list[Span]:
    """Return the spans recorded into a folder, in the order of time."""
    xplane_pb2 = _format()
    result = []
    for file in Path(folder).rglob("*.xplane.pb"):
        space = xplane_pb2.XSpace.FromString(file.read_bytes())
        beginning = next((_beginning(plane) for plane in space.planes if plane.name == TASK), 0)
        for plane in space.planes:
            names = {key: one.name for key, one in plane.stat_metadata.items()}
            for line in plane.lines:
                for event in line.events:
                    begin = beginning + line.timestamp_ns + event.offset_ps // 1000
                    facts = {names[stat.metadata_id]: _value(stat, names) for stat in event.stats}
                    name = plane.event_metadata[event.metadata_id].name
                    end = begin + event.duration_ps // 1000
                    result.append(Span(name, line.name or str(line.id), begin, end, facts, plane.name))
    return sorted(result, key=lambda span: span.start)


def _format() -> Any:
    """Return the format of recordings, imported when they are read, as it needs the whole of protobuf."""
    try:
        return import_module("tensorflow.tsl.profiler.protobuf.xplane_pb2")
    except ModuleNotFoundError:  # TensorFlow before 2.12
        return import_module("tensorflow.core.profiler.protobuf.xplane_pb2")


def _beginning(task: Any) -> int:
    """Return when a recording began, in nanoseconds since 1970, from which its times count."""
    names = {key: one.name for key, one in task.stat_metadata.items()}
    return next((int(_value(stat, names)) for stat in task.stats if names[stat.metadata_id] == BEGINNING), 0)


def _value(stat: Any, names: Mapping[int, str]) -> Any:
    kind = stat.WhichOneof("value")
    return names.get(stat.ref_value) if kind == "ref_value" else getattr(stat, kind or "int64_value")


def operators(record: list[Span]) -> Iterator[tuple[Span, str, str]]:
    """Yield the time of each operator, its name, and its kind: one called by itself, of a program, or compiled by XLA.

    An operator called by itself is its kernel; what the call of a program is, are the operators within.
    """
    calls: dict[str, Span] = {}
    for span in record:
        if span.name == "EagerExecute":
            calls[span.thread] = span
        elif span.name == "EagerKernelExecute" and span.thread in calls:
            call = calls[span.thread]
            if not call.facts.get("is_func"):
                yield span, str(call.facts.get("eager_op", "")), "operator"
        elif span.operator is not None and not span.operator.startswith("__"):
            yield span, span.operator, "kernel" if "hlo_op" in span.facts else "operator"


def explain(work: Work, calls: int, wait: Callable[[Any], None]) -> list[Explanation]:
    """Return the explanation of each of `calls` calls; the first that the profiler sees is slow, and not among them."""
    with TemporaryDirectory(prefix="opperf-tensorflow-") as folder:
        with profile_into(folder):
            repeat(work, calls + 1, wait, lambda: tf.profiler.experimental.Trace(MARK))
        record = spans(folder)
    events = list(operators(record))
    marks = [span for span in record if span.name == MARK][1:]
    return [
        Explanation(
            tuple(
                Event(name, kind, 1, (span.end - span.start) / 1e9)
                for span, name, kind in events
                if mark.start <= span.start <= mark.end
            )
        )
        for mark in marks
    ]


def memory(work: Work, device: str) -> Memory | None:
    """Make one call and return the most that the allocator held beyond what stood before it; None where it is silent.

    A device's allocator keeps the most that it held. On a CPU the profiler sees large allocations of oneDNN's
    allocator, which TensorFlow takes where the processor has AVX-512, and none of its own.
    """
    arguments = work.make_arguments()
    if device != "cpu":
        return _on_device(work, arguments)
    if not _sees_allocations():
        return None
    with TemporaryDirectory(prefix="opperf-tensorflow-") as folder:
        with profile_into(folder), tf.profiler.experimental.Trace(MARK):
            result = work.function(*arguments, **work.keywords)
        record = spans(folder)
    small = any(0 < _bytes(leaf) < SMALLEST_SEEN for leaf in tf.nest.flatten(result, expand_composites=True))
    del result
    mark = next((span for span in record if span.name == MARK), None)
    sizes = [
        (int(span.facts["requested_bytes"]), span.name == "MemoryAllocation")
        for span in record
        if span.name in ("MemoryAllocation", "MemoryDeallocation") and mark and mark.start <= span.start <= mark.end
    ]
    if mark is None or (small and not sizes):
        return None
    total = peak = allocated = 0
    for size, comes in sizes:
        total += size if comes else -size
        peak, allocated = max(peak, total), allocated + size * comes
    return Memory(peak, allocated, SOURCE)


@cache
def _sees_allocations() -> bool:
    """Whether the profiler sees what TensorFlow allocates on this CPU: a call with a large result shows it."""
    large = tf.ones((SMALLEST_SEEN,))
    with TemporaryDirectory(prefix="opperf-tensorflow-") as folder:
        with profile_into(folder):
            tf.add(large, large)
        return any(span.name == "MemoryAllocation" for span in spans(folder))


def _bytes(leaf: Any) -> int:
    return leaf.shape.num_elements() * leaf.dtype.size if isinstance(leaf, tf.Tensor) else 0


def live_bytes() -> int:
    """Return the bytes that the allocator of the only visible GPU has given out."""
    return int(tf.config.experimental.get_memory_info("GPU:0")["current"])


def _on_device(work: Work, arguments: tuple[Any, ...]) -> Memory:
    before = live_bytes()
    tf.config.experimental.reset_memory_stats("GPU:0")
    result = work.function(*arguments, **work.keywords)
    tf.test.experimental.sync_devices()
    peak = int(tf.config.experimental.get_memory_info("GPU:0")["peak"])
    del result
    return Memory(peak - before, None, "TensorFlow's allocator (the most that it held)")
