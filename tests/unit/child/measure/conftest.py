"""A backend whose every step is seen, on a clock that moves only when it is told to."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

from opperf.child.backends.null.runtime import NullBackend
from opperf.domain.call import Work
from opperf.domain.clock import DeviceTimer
from opperf.domain.measurement import Memory
from opperf.domain.plan import Side


class Watched(NullBackend):
    """The null backend; `events` holds what was asked of it, in order. A wait takes `wait_ns`."""

    def __init__(self, *, threads: int = 1, collects: bool = False, wait_ns: int = 0) -> None:
        super().__init__(Side("null", threads=threads))
        self.collects = collects
        self.wait_ns = wait_ns
        self.events: list[Any] = []
        self.waited: list[Any] = []
        self.timer: DeviceTimer | None = None

    def wait(self, outputs: Any) -> None:
        self.events.append("wait")
        self.waited.append(list(outputs))
        self.clock.advance(self.wait_ns)

    def device_timer(self) -> DeviceTimer | None:
        return self.timer

    def memory(self, work: Work) -> Memory | None:
        self.events.append("memory")
        return Memory(10, 20, "watched")

    def work(self, nanoseconds: int | Callable[[], int], **more: Any) -> Work:
        """Return work that takes so long, or as long as a function says."""

        def call(*_: Any) -> str:
            self.events.append("call")
            self.clock.advance(nanoseconds() if callable(nanoseconds) else nanoseconds)
            return "output"

        given: dict[str, Any] = {"function": call, "arguments": (1, 2), "keywords": {}, "scope": nullcontext}
        return Work(**given | more)


@pytest.fixture
def watched() -> type[Watched]:
    """The class of a backend that notes what is asked of it, on a virtual clock."""
    return Watched
