"""Before samples are taken: how many calls a block has, and for how long it is warmed up."""

from __future__ import annotations

from dataclasses import field

from opperf.child.measure.block import Block
from opperf.domain.dataclass import dataclass

#: Number of probes; the best decides the length of a block.
PROBES = 3
#: Factor by which probes grow, until they last this fraction of a block.
PROBE_STEP = 8
PROBE_SHARE = 8
#: A probe this long is a block of its own, even if it was disturbed; there is no second probe.
LONG_NS = 100_000_000
#: Warm-up blocks are shorter than samples by this factor: they show when times settle, not how long they are.
WARMUP_SHARE = 4
#: Times have settled when the best of the last blocks is no better than the best before them by more than this.
FALLING = 0.02
#: The blocks that are compared with the ones before.
WINDOW = 3
#: Maximum number of warm-up blocks, and the share of the trial's budget that warm-up may take.
MOST_BLOCKS = 200
MOST_OF_BUDGET = 0.3
#: Least calls after a switch of sides. A cache-sized add needs six calls to be within 3 %.
SETTLE_CALLS = 3
#: Calls that took this long have overwritten every cache, however few they were.
SETTLED_NS = 8_000_000


@dataclass
class Settling:
    """Watches the times of warm-up blocks.

    The minimum is watched, since it falls while caches, allocators and branch predictors learn and a disturbed block
    cannot lower it. `least` are the seconds that it takes in any case where the budget has room for them.
    """

    budget: float
    least: float = 0.0
    times: list[float] = field(default_factory=list)

    def add(self, seconds: float) -> None:
        """Take the time of one call in the next block."""
        self.times.append(seconds)

    def is_steady(self, elapsed: float) -> bool:
        """Whether to begin sampling."""
        if elapsed < min(self.least, MOST_OF_BUDGET * self.budget):
            return False
        if len(self.times) >= MOST_BLOCKS or elapsed >= MOST_OF_BUDGET * self.budget:
            return len(self.times) >= 1
        if len(self.times) < 2 * WINDOW:
            return False
        return min(self.times[-WINDOW:]) >= (1 - FALLING) * min(self.times[:-WINDOW])


def probe(block: Block, *, output_bytes: int, holds: bool) -> int:
    """Find the calls of a block by timing blocks that grow in length; also the first warm-up.

    With a cold cache, each call costs a sweep of memory, so a block is one call.
    """
    if block.cold:
        block.run(1)
        return 1
    calls = 1
    while True:
        first = block.run(calls)
        if calls == 1 and first >= LONG_NS:
            return 1
        least = min(first, *(block.run(calls) for _ in range(PROBES - 1)))
        target = block.lengths.calls(least / calls, output_bytes=output_bytes, holds=holds)
        # A short probe overstates the time of one call, so its answer is believed only once it is nearly as long.
        if target <= 2 * calls or least >= block.lengths.target_ns / PROBE_SHARE:
            return target
        calls = min(target, calls * PROBE_STEP)


def warm_up(block: Block, calls: int, budget: float) -> int:
    """Run uncounted blocks until times settle; return how many calls that took."""
    calls = max(1, calls // WARMUP_SHARE)
    rule = Settling(budget, block.lengths.warm_ns / 1e9)
    elapsed_ns = blocks = 0
    while True:
        wall_ns = block.run(calls)
        blocks += 1
        elapsed_ns += wall_ns
        rule.add(wall_ns / calls / 1e9)
        if rule.is_steady(elapsed_ns / 1e9):
            return blocks * calls


def settle(block: Block) -> None:
    """Make untimed calls after another process had the CPU, until its traces in the caches are overwritten."""
    calls = elapsed = 0
    while elapsed < block.lengths.settle_ns or (calls < SETTLE_CALLS and elapsed < SETTLED_NS):
        step = max(1, (block.calls or 1) // WARMUP_SHARE)
        elapsed += block.run(step)
        calls += step
