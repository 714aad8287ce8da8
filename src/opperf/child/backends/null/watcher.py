"""What the null framework's profiler sees: scripted spans on a virtual clock, so that profiles are known exactly.

    with span("dense", shapes=((4, 8),)):
        spend(1000)
        with span("matmul"):
            spend(3000)

Spans are seen by every watcher that is on from their beginning to their end.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from opperf.child.backends.common.watching import WindowWatcher
from opperf.child.backends.null.scripts import VirtualClock
from opperf.domain.profile.event import Event, Profile, Reading
from opperf.domain.profile.watching import Watching

#: The clock of all scripts of the process.
clock = VirtualClock()
DEVICE = "cpu/0"

_on: list[Watcher] = []
_later: list[tuple[str, int]] = []


@contextmanager
def span(name: str, kind: str = "operator", **details: Any) -> Iterator[None]:
    """Run a scripted span that lasts as long as its block spends; `details` are those of an `Event`."""
    begin, watching = clock.wall(), tuple(_on)
    try:
        yield
    finally:
        event = Event(name, kind, begin, clock.wall() - begin, os.getpid(), threading.current_thread().name, **details)
        for one in watching:
            if one in _on:
                one.see(event)


def spend(nanoseconds: int) -> None:
    """Let virtual time pass."""
    clock.advance(nanoseconds)


def hold(change: int) -> None:
    """Allocate bytes, or let some go."""
    for one in _on:
        one.note_memory(change)


def later(name: str, nanoseconds: int) -> None:
    """Queue an operator that runs at the next wait, as in asynchronous frameworks."""
    _later.append((name, nanoseconds))


def wait() -> None:
    """Run everything in the queue."""
    while _later:
        name, nanoseconds = _later.pop(0)
        with span(name):
            spend(nanoseconds)


class Watcher(WindowWatcher[Profile]):
    """Records scripted spans, and the requested details."""

    framework = "null"
    allows_copies = True

    def __init__(self, watching: Watching) -> None:
        super().__init__(watching, "1", {}, clock.wall)
        self._events: list[Event] = []
        self._readings: list[Reading] = []
        self._bytes = 0

    def start(self) -> None:
        """Start recording, after the queue has run."""
        wait()
        self._bytes = 0
        self._note_bytes()
        self._steps.begin()
        _on.append(self)

    def stop(self) -> None:
        """Stop recording, after the queue has run."""
        wait()
        self._steps.close()
        _on.remove(self)
        self._windows.append(Profile(tuple(self._events), tuple(self._readings)))
        self._events, self._readings = [], []

    def see(self, event: Event) -> None:
        """Take a span that has ended."""
        watching = self._watching
        if event.kind in ("api", "module") and not (watching.api if event.kind == "api" else watching.modules):
            return
        hidden: dict[str, Any] = {}
        hidden |= {} if watching.memory else {"allocated": None, "peak": None}
        hidden |= {} if watching.shapes else {"shapes": (), "flops": None}
        hidden |= {} if watching.stacks else {"stack": ()}
        hidden |= {} if watching.modules else {"module": ""}
        self._events.append(replace(event, **hidden))

    def note_memory(self, change: int) -> None:
        """Note that bytes were allocated or freed."""
        self._bytes += change
        self._note_bytes()

    def _note_bytes(self) -> None:
        if self._watching.memory:
            self._readings.append(Reading(clock.wall(), os.getpid(), DEVICE, self._bytes))

    def _read(self, window: Profile) -> Profile:
        return window
