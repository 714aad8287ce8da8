"""TensorFlow's profiler as opperf watches a program with it.

* Python is not traced: that would slow the program down, and records no operators.
* Operators that are called by themselves and those of programs are told, and XLA's instructions; so are a device's
  kernels, and the allocator's bytes.
"""

from __future__ import annotations

import os

import tensorflow as tf

from opperf.child.backends.common.watching import Folder, FolderWatcher
from opperf.child.backends.tensorflow import recording
from opperf.child.backends.tensorflow.recording import Span
from opperf.domain.profile.event import Event, Profile, Reading
from opperf.domain.profile.watching import Watching

#: Notes on what cannot be recorded.
STACKS = "TensorFlow's profiler does not report the Python lines of operators"
SHAPES = "TensorFlow's profiler does not report the shapes of operators"
MODULES = "layers are the name scopes of operators in a program (`tf.function`); others have none"
#: The scopes that TensorFlow puts before those of what it computes the gradient of.
GRADIENTS = ("gradient_tape", "gradients")
#: How the planes of devices are called.
DEVICE = "/device:"


class Watcher(FolderWatcher[Folder]):
    """TensorFlow's profiler."""

    framework = "tensorflow"
    allows_copies = False  # its threads are not copied
    ender = "tf.profiler.experimental.stop"
    errors = (tf.errors.AlreadyExistsError, tf.errors.UnavailableError)

    def __init__(self, watching: Watching) -> None:
        gaps = {STACKS: watching.stacks, SHAPES: watching.shapes, MODULES: watching.modules}
        super().__init__(watching, tf.__version__, gaps, "TensorFlow's profiler")

    def start(self) -> None:
        """Start recording; raises `ProfilerError` if the program is using the profiler."""
        self._steps.begin()
        self._record(recording.start)

    def stop(self) -> None:
        """Wait for outstanding work, then stop recording."""
        if self._recording is not None:
            self._steps.close()
            self._finish(tf.profiler.experimental.stop, lambda folder: folder)

    def _read(self, window: Folder) -> Profile:
        with window as folder:
            spans = recording.spans(folder)
        return Profile(tuple(self._events(spans)), tuple(_readings(spans)) if self._watching.memory else ())

    def _events(self, spans: list[Span]) -> list[Event]:
        return [
            *(self._event(span, name, "operator") for span, name, _ in recording.operators(spans)),
            *(self._event(span, span.name, "kernel") for span in spans if _is_kernel(span)),
        ]

    def _event(self, span: Span, name: str, kind: str) -> Event:
        took = span.end - span.start
        return Event(
            name,
            kind,
            span.start,
            took,
            os.getpid(),
            self._threads.of(span.thread, span.thread.partition("/")[0] or "thread"),
            module="" if kind == "kernel" else _scope(span.name),
            backward=span.name.startswith(GRADIENTS) or "grad" in name.lower(),
            fused="hlo_op" in span.facts and "fusion" in name,
            device=took if kind == "kernel" else None,
        )


def _scope(name: str) -> str:
    """Return the scopes that an operator of a program stands in: `lenet.conv2d` of `lenet/conv2d/Conv2D:Conv2D`."""
    words = [word for word in name.partition(":")[0].split("/") if word not in GRADIENTS]
    return ".".join(words[:-1])


def _is_kernel(span: Span) -> bool:
    """Whether a device ran it; lines that are no streams repeat what they ran."""
    return span.plane.startswith(DEVICE) and span.thread.startswith("Stream")


def _readings(spans: list[Span]) -> list[Reading]:
    """Return the bytes that the CPU's allocator held after each allocation and release."""
    return [
        Reading(span.start, os.getpid(), "cpu/0", int(span.facts["bytes_allocated"]))
        for span in spans
        if span.name in ("MemoryAllocation", "MemoryDeallocation") and span.facts.get("bytes_allocated") is not None
    ]
