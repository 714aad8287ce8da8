"""Names of a process's threads: what a profiler calls them may be a number, or the same for several."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import count


class ThreadNames:
    """Names that were given, each to one thread.

    >>> names = ThreadNames()
    >>> [names.of(1, "pool"), names.of(2, "pool"), names.of(1, "pool")]
    ['pool', 'pool 2', 'pool']
    """

    def __init__(self) -> None:
        self._names: dict[Hashable, str] = {}

    def of(self, key: Hashable, name: str) -> str:
        """Return the name of the thread that the profiler knows by `key`: `name`, with a number where that is taken."""
        if key not in self._names:
            others = set(self._names.values())
            numbered = (name if number == 1 else f"{name} {number}" for number in count(1))
            self._names[key] = next(one for one in numbered if one not in others)
        return self._names[key]
