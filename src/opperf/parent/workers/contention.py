"""Contention: how far work of one class slows down while other jobs run work of another class."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Optional

from opperf.domain.codec import Fields
from opperf.domain.dataclass import dataclass
from opperf.domain.type_hint import Count

#: The classes of work, from the least that it shares with other cores to the most: it stays in a core's own caches, in
#: the cache that cores share, or it streams from memory.
CLASSES = ("compute", "cache", "streaming")


@dataclass(frozen=True)
class Effect(Fields):
    """How much longer a canary of the class `subject` takes while the other of `jobs` jobs run the class `neighbour`.

    `slowdown` is a share of its time alone, `rate` the bytes that it copies each second next to them, None where it
    copies none.
    """

    jobs: Count
    subject: str
    neighbour: str
    slowdown: float
    measured: str
    rate: Optional[float] = None

    @property
    def key(self) -> tuple[object, ...]:
        """The number of jobs and both classes."""
        return (self.jobs, self.subject, self.neighbour)


def peaceful_pairs(effects: Iterable[Effect], jobs: int, most: float) -> frozenset[tuple[str, str]]:
    """Return the pairs of classes that may run side by side, each in both orders: neither slows the other by `most`.

    >>> noted = [Effect(2, "streaming", "streaming", 0.2, ""), Effect(2, "compute", "streaming", 0.01, "")]
    >>> ("compute", "streaming") in peaceful_pairs(noted, 2, 0.03), ("streaming",) * 2 in peaceful_pairs(noted, 2, 0.03)
    (True, False)
    """
    slow = {(one.subject, one.neighbour) for one in effects if one.jobs == jobs and one.slowdown > most}
    return frozenset(pair for pair in product(CLASSES, CLASSES) if slow.isdisjoint((pair, pair[::-1])))
