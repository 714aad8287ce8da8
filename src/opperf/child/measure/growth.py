"""Memory that calls leave behind: what the process holds more of after the last timed call than before the first.

Most growth is no leak: caches fill, samples are kept, garbage waits for its collector, and what was freed stays with
the allocator. None of that grows again when as many calls are made once more, without samples. So growth is looked at
twice, and only what both looks show is what a call leaves.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence

from opperf.child.measure.block import Block
from opperf.domain.measurement import Quantity, Sample
from opperf.domain.reason import Warning
from opperf.domain.units import format_bytes

#: Growth that is looked into, in bytes: less is what samples take, and what the system counts late (it counts the pages
#: of each thread in batches of 64).
NOTABLE = 1 << 20
#: Growth of the second look that counts, which has no samples to keep, and growth at which that look ends: a leak is
#: plain by then, and memory may be short.
AGAIN, PLENTY = NOTABLE // 4, 64 * NOTABLE


class Growth:
    """The growth of some memory since this was made, before the first sample."""

    def __init__(self, read: Callable[[], int], source: str) -> None:
        """Take what reads the bytes, and the name of what they are."""
        self._read, self._source = read, source
        self._before = read()

    def after(self, block: Block, samples: Sequence[Sample], budget: float) -> tuple[Quantity, list[Warning]]:
        """Return the bytes that a call left, and the warning that they call for.

        Where memory has grown, as many calls are made again, but not for longer than the `budget` in seconds.
        """
        calls = sum(sample.calls for sample in samples)
        grown = self._read() - self._before
        left = self._left_again(block, samples, calls, budget) if grown >= NOTABLE else 0.0
        if left < grown / calls / 2:
            left = 0.0
        return Quantity(left, self._source), [_leak(left, grown, calls)] if left else []

    def _left_again(self, block: Block, samples: Sequence[Sample], calls: int, budget: float) -> float:
        """Return the bytes that each of further calls leaves."""
        gc.collect()
        before, spent, done, size = self._read(), 0, 0, samples[-1].calls
        while done < calls and spent < budget * 1e9 and self._read() - before < PLENTY:
            spent += block.run(size)
            done += size
        gc.collect()
        grown = self._read() - before
        return grown / done if grown >= AGAIN else 0.0


def _leak(left: float, grown: int, calls: int) -> Warning:
    return Warning(
        "leak",
        f"each call leaves about {format_bytes(left)} in memory: {calls:,} calls left {format_bytes(grown)}",
        "look for what keeps results or graphs: a list, a cache, a closure",
    )
