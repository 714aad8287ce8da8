"""What a profiler records, and the interface that opperf needs from each framework's profiler."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from time import time_ns
from typing import Protocol

from opperf.domain.dataclass import dataclass
from opperf.domain.profile.event import Event, Profile, Stretch

#: The frameworks whose operators can be watched, in the order in which they are looked for.
WATCHED = ("torch", "mxnet", "jax", "tensorflow")
#: How the class is called that watches a framework, in its own folder here or in the plugin that brings it.
WATCHER = "Watcher"
#: What MXNet reads when it runs a graph: without them it joins operators, and the profiler sees them as one.
ONE_BY_ONE = {"MXNET_EXEC_BULK_EXEC_INFERENCE": "0", "MXNET_EXEC_BULK_EXEC_TRAIN": "0"}
#: How a script runs that is profiled where nothing is said: as it does otherwise.
GRANULARITY, ALLOCATOR = "bulk", "default"

#: Ends the note on a program that paid for its memory page by page.
FRESH = "fresh pages of memory"


@dataclass(frozen=True)
class Watching:
    """What to record besides operators and their times.

    `modules` names the module or layer that called each operator; `api` are calls of the framework's own interface.
    Of MXNet, operators called one by one are `imperative`, those of a compiled graph `symbolic`. `record` is a file for
    the arguments of every operator, as far as the framework can write one. Before reading and writing the profile would
    take more than `memory_limit` bytes, what is recorded ends: of PyTorch alone.
    """

    memory: bool = False
    shapes: bool = False
    stacks: bool = False
    modules: bool = False
    api: bool = False
    imperative: bool = True
    symbolic: bool = True
    record: str = ""
    memory_limit: int | None = None


class Watcher(Protocol):
    """One framework's profiler. `backends/<framework>/watcher.py` has one each, called `Watcher`, made from `Watching`.

    `start` and `stop` come in turn, any number of times; recorded spans accumulate until `take` returns them. One that
    takes long to stop may have a `rest` besides, for a `stop` after which `start` is expected soon, or `stop` follows.
    """

    #: The framework's name.
    framework: str
    #: Whether a copy of this process, made by `os.fork`, can go on with the framework and be watched there.
    allows_copies: bool

    def start(self) -> None:
        """Start recording, after earlier asynchronous work has finished."""

    def stop(self) -> None:
        """Wait for outstanding work, then stop recording."""

    def take(self) -> Profile:
        """Return the profile of this process since the last time; only while stopped."""

    def step(self, name: str) -> None:
        """Mark where a step of the program ends; the span is called by its name."""


class Steps:
    """Marks the ends of steps; the clock is in nanoseconds, that of the watcher's other spans."""

    def __init__(self, clock: Callable[[], int] = time_ns) -> None:
        self._clock = clock
        self._since = 0
        self._beginning: int | None = None
        self._stretches: list[Stretch] = []
        self._steps: list[Event] = []

    def begin(self) -> None:
        """Begin the next step: the program is watched from now on."""
        self._since = self._beginning = self._clock()

    def end(self, name: str, thread: str) -> None:
        """End a step in a thread."""
        now = self._clock()
        self._steps.append(Event(name, "step", self._since, now - self._since, os.getpid(), thread))
        self._since = now

    def close(self) -> None:
        """Note that the program is watched no more, until the next `begin`."""
        if self._beginning is not None:
            self._stretches.append(Stretch(self._beginning, self._clock(), os.getpid()))
            self._beginning = None

    def take(self, facts: Mapping[str, object], notes: Sequence[str] = ()) -> Profile:
        """Return the steps since the last time, and when the program was watched, with what is known of it."""
        steps, stretches = tuple(self._steps), tuple(self._stretches)
        self._steps, self._stretches = [], []
        return Profile(steps, (), {os.getpid(): facts}, tuple(notes), stretches=stretches)
