"""What a device did for a call: kernels, copies and fills, and how long it was busy with them."""

from __future__ import annotations

from collections.abc import Iterable

from opperf.domain.dataclass import dataclass

#: What decides a comparison of sides that both show their kernels, as `wall` and `cpu` do elsewhere.
KERNELS = "kernels"
#: `copy` moves bytes to, from or on the device, `set` fills them.
KINDS = ("kernel", "copy", "set")


@dataclass(frozen=True)
class Activity:
    """Something that ran on a device, in nanoseconds of the host's clock; `launch` links it to what launched it."""

    name: str
    kind: str
    begin: int
    end: int
    launch: int = 0


@dataclass(frozen=True)
class CallActivity:
    """What a device did for one call, and how long that call took with its wait, in nanoseconds."""

    wall_ns: int
    activities: tuple[Activity, ...]

    @property
    def busy_ns(self) -> int:
        """How long the device was busy: what ran at the same time on several streams counts once.

        >>> CallActivity(90, (Activity("a", "kernel", 0, 30), Activity("b", "kernel", 20, 50))).busy_ns
        50
        """
        return busy(self.activities)


def busy(activities: Iterable[Activity]) -> int:
    """Return the length of the union of their spans."""
    total, until = 0, 0
    for one in sorted(activities, key=lambda one: one.begin):
        total += max(0, one.end - max(one.begin, until))
        until = max(until, one.end)
    return total
