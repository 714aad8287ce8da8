"""How long blocks are, and what goes ahead of them: a device beside the CPU needs more of both.

A block is long enough for the clock and short enough to slip between two disturbances. Beside a busy neighbour 87 % of
blocks of 0.55 ms came through undisturbed and 24 % of those of 22 ms.
"""

from __future__ import annotations

from opperf.domain.backend import Backend
from opperf.domain.dataclass import dataclass

#: Target length of a block. A wait for a device takes the host 10 to 20 us: only its own clock does not see them.
TARGET_NS, TARGET_OF_DEVICE_NS = 500_000, 5_000_000
#: Its limit unless a single call is longer, as a multiple of the target.
LONGEST = 4
LONGEST_NS = LONGEST * TARGET_NS
#: Least time after a switch of sides, and before the first sample. A device's clocks follow its load: `do_bench` of
#: Triton warms up for 25 ms, NVIDIA's nvbench measures for half a second.
SETTLE_NS, SETTLE_OF_DEVICE_NS, WARM_OF_DEVICE_NS = 2_000_000, 20_000_000, 50_000_000
#: Outputs that wait to be computed or freed hold memory; beyond this the block waits more often. On a device they are
#: a share of what is free there.
IN_FLIGHT_BYTES, IN_FLIGHT_SHARE = 64 * 1024 * 1024, 8


@dataclass(frozen=True)
class Lengths:
    """What blocks of a backend keep to: nanoseconds, and the bytes of results that one may hold."""

    target_ns: int = TARGET_NS
    settle_ns: int = SETTLE_NS
    warm_ns: int = 0
    in_flight: int = IN_FLIGHT_BYTES

    @classmethod
    def of(cls, backend: Backend) -> Lengths:
        """Return those of a backend, by its device."""
        if backend.side.device == "cpu":
            return cls()
        target = TARGET_OF_DEVICE_NS if backend.device_timer() is None else TARGET_NS
        room = max(IN_FLIGHT_BYTES, (backend.free_memory() or 0) // IN_FLIGHT_SHARE)
        return cls(target, SETTLE_OF_DEVICE_NS, WARM_OF_DEVICE_NS, room)

    def calls(self, nanoseconds_each: float, *, output_bytes: int, holds: bool) -> int:
        """Return the calls of a block, given what one call takes.

        >>> [Lengths().calls(each, output_bytes=0, holds=False) for each in (20_000, 5_000_000)]
        [25, 1]
        """
        calls = max(1, round(self.target_ns / max(nanoseconds_each, 1.0)))
        if calls * nanoseconds_each > LONGEST * self.target_ns:
            calls = 1
        if holds and output_bytes:
            calls = min(calls, max(1, self.in_flight // output_bytes))
        return calls
