"""What bears company: how far work of one class slows down while other jobs run work of another class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Optional

from opperf.domain.codec import Count, Fields

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


def bearing(effects: Iterable[Effect], jobs: int, most: float) -> tuple[str, ...]:
    """Return the classes that may run side by side: none of them slows another down by more than `most`.

    >>> noted = [Effect(2, a, b, 0.2 if "streaming" in (a, b) else 0.0, "") for a in CLASSES for b in CLASSES]
    >>> bearing(noted, 2, 0.01)
    ('compute', 'cache')
    """
    slow = {(one.subject, one.neighbour) for one in effects if one.jobs == jobs and one.slowdown > most}
    for count in range(len(CLASSES), 0, -1):
        together = CLASSES[:count]
        if not any(subject in together and neighbour in together for subject, neighbour in slow):
            return together
    return ()
