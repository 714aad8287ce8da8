"""A clock that moves only when it is told to."""

from __future__ import annotations


class VirtualClock:
    """Wall and CPU time in nanoseconds, advanced by the scripted operators."""

    def __init__(self) -> None:
        self._wall = 0
        self._cpu = 0

    def wall(self) -> int:
        """Return the virtual wall time."""
        return self._wall

    def cpu(self) -> int:
        """Return the virtual CPU time."""
        return self._cpu

    def advance(self, wall_ns: int, cpu_ns: int | None = None) -> None:
        """Let time pass; CPU time passes alike unless it is given."""
        self._wall += wall_ns
        self._cpu += wall_ns if cpu_ns is None else cpu_ns
