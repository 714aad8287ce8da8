"""Steps of a program: each lasts from the end of the one before, or from when it was first watched."""

from __future__ import annotations

import os
from collections.abc import Callable
from time import time_ns

from opperf.domain.profile.event import Event


class Steps:
    """Marks the ends of steps; the clock is in nanoseconds, that of the watcher's other spans."""

    def __init__(self, clock: Callable[[], int] = time_ns) -> None:
        self._clock = clock
        self._since = 0
        self._seen: list[Event] = []

    def begin(self) -> None:
        """Take that what comes now belongs to the next step."""
        self._since = self._clock()

    def end(self, name: str, thread: str) -> None:
        """Take that a step ends in a thread."""
        now = self._clock()
        self._seen.append(Event(name, "step", self._since, now - self._since, os.getpid(), thread))
        self._since = now

    def take(self) -> tuple[Event, ...]:
        """Return the steps since the last time."""
        steps, self._seen = tuple(self._seen), []
        return steps
