"""What takes the time of a block: the clocks of a process and of a device, and the count of instructions."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """The clocks of a process, in nanoseconds. The null backend's are virtual, so that tests are exact."""

    def wall(self) -> int:
        """Return wall time."""

    def cpu(self) -> int:
        """Return the CPU time of all threads of this process."""


class InstructionClock(Clock, Protocol):
    """Counts what this process executes, where a clock counts nanoseconds."""

    def instruction_set(self) -> str:
        """Return the widest vectors that are executed, as `avx2`."""

    def start(self) -> None:
        """Count from now on."""

    def stop(self) -> None:
        """Do not count any more."""


class EnergyMeter(Protocol):
    """A counter of energy, which moves by steps; `source` says whose it is and `unit` is the least that it tells."""

    source: str
    unit: float

    def joules(self) -> float:
        """Read the energy since some moment, in joules."""


class DeviceTimer(Protocol):
    """A device's own clock around a block."""

    def start(self) -> None:
        """Mark the beginning in the device's queue."""

    def stop(self) -> None:
        """Mark the end in the device's queue, behind the calls and ahead of the host's wait for them."""

    def elapsed(self) -> int:
        """Return the nanoseconds between both marks, for which the host has waited."""
