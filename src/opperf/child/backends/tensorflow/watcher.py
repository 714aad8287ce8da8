"""TensorFlow's profiler as opperf watches a program with it.

* It records into a folder, from which it is read and which is removed. Python is not traced: that would slow the
  program down, and records no operators.
* Operators that are called by themselves and those of programs are told, and XLA's instructions; so are a device's
  kernels, and the allocator's bytes.
* The process has one profiler. A program that starts it during a recording gets an error from TensorFlow.
"""

from __future__ import annotations

import os
import threading
from tempfile import TemporaryDirectory

import tensorflow as tf

from opperf.child.backends.common.threads import ThreadNames
from opperf.child.backends.tensorflow import recording
from opperf.child.backends.tensorflow.recording import Span
from opperf.domain.errors import ProfilerError
from opperf.domain.profile.event import Event, Profile, Reading, merge
from opperf.domain.profile.watching import Steps, Watching

#: Notes on what cannot be recorded.
STACKS = "TensorFlow's profiler does not report the Python lines of operators"
SHAPES = "TensorFlow's profiler does not report the shapes of operators"
MODULES = "layers are the name scopes of operators in a program (`tf.function`); others have none"
ENDED = "the program stopped TensorFlow's profiler itself, so the rest was not recorded"
#: The scopes that TensorFlow puts before those of what it computes the gradient of.
GRADIENTS = ("gradient_tape", "gradients")
#: How the planes of devices are called.
DEVICE = "/device:"


class Watcher:
    """TensorFlow's profiler."""

    framework = "tensorflow"
    allows_copies = False  # its threads are not copied

    def __init__(self, watching: Watching) -> None:
        self._watching = watching
        self._folder = TemporaryDirectory(prefix="opperf-tensorflow-", ignore_cleanup_errors=True)
        self._threads = ThreadNames()
        self._steps = Steps()
        self._recording: TemporaryDirectory[str] | None = None
        self._folders: list[TemporaryDirectory[str]] = []
        self._notes: dict[str, None] = {}
        gaps = {STACKS: watching.stacks, SHAPES: watching.shapes, MODULES: watching.modules}
        self._untold = tuple(note for note, is_on in gaps.items() if is_on)

    def start(self) -> None:
        """Start recording; raises `ProfilerError` if the program is using the profiler."""
        self._steps.begin()
        folder = TemporaryDirectory(dir=self._folder.name, ignore_cleanup_errors=True)
        try:
            recording.start(folder.name)
        except tf.errors.AlreadyExistsError as problem:
            folder.cleanup()
            raise ProfilerError(
                f"TensorFlow's profiler cannot be started: {problem.message}",
                hint="stop the program's own recording first (`tf.profiler.experimental.stop`); a process can only "
                "have one",
                slug="profiler_taken",
            ) from problem
        self._recording = folder

    def stop(self) -> None:
        """Wait for outstanding work, then stop recording."""
        if self._recording is None:
            return
        self._steps.close()
        try:
            tf.profiler.experimental.stop()
        except tf.errors.UnavailableError:
            self._notes[ENDED] = None
        self._folders.append(self._recording)
        self._recording = None

    def take(self) -> Profile:
        """Return what was seen since the last time, of this process; only while stopped."""
        folders, self._folders = self._folders, []
        events: list[Event] = []
        readings: list[Reading] = []
        for folder in folders:
            with folder as name:
                spans = recording.spans(name)
            events += self._events(spans)
            if self._watching.memory:
                readings += _readings(spans)
        notes, self._notes = (*self._untold * bool(events), *self._notes), {}
        facts = {"framework": self.framework, "version": tf.__version__}
        return merge([Profile(tuple(events), tuple(readings)), self._steps.take(facts, notes)])

    def step(self, name: str) -> None:
        """Mark where a step of the program ends; the span is called by its name."""
        self._steps.end(name, threading.current_thread().name)

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
