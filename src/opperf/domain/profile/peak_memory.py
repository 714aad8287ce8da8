"""What was alive when a device held the most memory, summed up by who allocated it and what it is."""

from __future__ import annotations

from collections import defaultdict
from typing import Optional

from opperf.domain.dataclass import dataclass
from opperf.domain.profile.event import Profile, highest_peaks
from opperf.domain.profile.module_tree import labels


@dataclass(frozen=True)
class PeakRow:
    """Blocks of one device that are alike: allocated by one operator in equal modules, of one shape. Bytes.

    `share` is the part of `size` in all that the device held at its peak.
    """

    device: str
    operator: str
    module: str
    phase: str
    shape: Optional[tuple[int, ...]]
    dtype: str
    blocks: int
    size: int
    share: float


def peak_rows(profile: Profile) -> tuple[PeakRow, ...]:
    """Return the rows of memory that was alive at the peak, the largest first.

    >>> from opperf.domain.profile.event import Block
    >>> blocks = [Block(1, "cpu/0", 9, 64, begin, "aten::mm", f"Net.layers.{begin}") for begin in (1, 2)]
    >>> [(row.module, row.blocks, row.size, row.share) for row in peak_rows(Profile(blocks=tuple(blocks)))]
    [('Net.layers.*', 2, 128, 1.0)]
    """
    blocks = highest_peaks(profile.blocks)
    names = labels(profile)
    totals: dict[str, int] = defaultdict(int)
    groups: dict[tuple[str, str, str, str, Optional[tuple[int, ...]], str], list[int]] = defaultdict(list)
    for block in blocks:
        totals[block.device] += block.size
        module = names.get(block.module, block.module)
        groups[block.device, block.operator, module, block.phase, block.shape, block.dtype].append(block.size)
    rows = [
        PeakRow(*key, blocks=len(sizes), size=sum(sizes), share=sum(sizes) / (totals[key[0]] or 1))
        for key, sizes in groups.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.size, row.operator, row.module)))
