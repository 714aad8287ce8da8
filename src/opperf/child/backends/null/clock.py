"""A clock that moves only when it is told to."""

from __future__ import annotations


class VirtualClock:
    """Wall and CPU time in nanoseconds, advanced by the scripted operators."""

    def __init__(self) -> None:
        self._now = 0

    def wall(self) -> int:
        """Return the virtual wall time."""
        return self._now

    def cpu(self) -> int:
        """Return the virtual CPU time."""
        return self._now

    def advance(self, nanoseconds: int) -> None:
        """Let time pass, which the CPU spends on the operator."""
        self._now += nanoseconds
