"""Quiet: several judges check side by side, and one times alone, next to no child that computes or imports."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from opperf.domain.errors import HarnessError
from opperf.parent.measuring.judge.stands import Stands


class Quiet:
    """What the judges of one machine share. Who waits to time goes before those that would begin to check."""

    def __init__(self) -> None:
        """Know no judge yet."""
        self._turn = threading.Condition()
        self._checking = self._ahead = 0
        self._is_timing = self._is_stopped = False
        self._stands: list[Stands] = []

    def join(self, stands: Stands) -> None:
        """Have these stands wait as well when somebody times."""
        self._stands.append(stands)

    def leave(self, stands: Stands) -> None:
        """Forget these stands, when nobody times who may wait for them."""
        with self._turn:
            self._turn.wait_for(lambda: self._is_stopped or not self._is_timing)
            self._stands.remove(stands)

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Check, beside others that do; raises `HarnessError` when the judges were stopped."""
        with self._turn:
            self._wait(lambda: not self._is_timing and not self._ahead)
            self._checking += 1
        try:
            yield
        finally:
            with self._turn:
                self._checking -= 1
                self._turn.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Time, beside nothing; raises `HarnessError` when the judges were stopped."""
        with self._turn:
            self._ahead += 1
            try:
                self._wait(lambda: not self._is_timing and not self._checking)
            finally:
                self._ahead -= 1
            self._is_timing = True
        try:
            for stands in tuple(self._stands):  # their owners wait: nobody else uses them
                stands.settle()
            yield
        finally:
            with self._turn:
                self._is_timing = False
                self._turn.notify_all()

    def stop(self) -> None:
        """Have nobody wait any longer."""
        with self._turn:
            self._is_stopped = True
            self._turn.notify_all()

    def _wait(self, condition: Callable[[], bool]) -> None:
        self._turn.wait_for(lambda: self._is_stopped or condition())
        if self._is_stopped:
            raise HarnessError("the judge was stopped", slug="stopped")
