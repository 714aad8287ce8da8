"""The smallest change worth reporting: the usual one, and those of operators by name or pattern.

What every command and function compares by unless told otherwise has its one place here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from fnmatch import fnmatchcase

from opperf.domain.dataclass import dataclass

#: The smallest change worth reporting, as a share of the time: of a live comparison, and of a recorded expectation.
TOLERANCE, THRESHOLD = 0.02, 0.10
#: Pairs of processes at the first look.
FIRST_PAIRS = 5
#: Processes that measure a case which is held to an expectation.
EXPECTED_PROCESSES = 5


@dataclass(frozen=True)
class Tolerances:
    """Shares of the time: the `usual` one, and the `own` ones of operators by name or pattern (`conv*`)."""

    usual: float
    own: Mapping[str, float] = field(default_factory=dict)

    @property
    def least(self) -> float:
        """The smallest of them."""
        return min([self.usual, *self.own.values()])

    def of(self, operator: str) -> float:
        """Return the tolerance of an operator: by its name, else by the longest pattern, the first of those as long.

        >>> tolerances = Tolerances(0.02, {"conv*": 0.03, "conv*_transpose": 0.05, "conv1d": 0.01})
        >>> [tolerances.of(name) for name in ("conv1d", "conv2d", "conv2d_transpose", "add")]
        [0.01, 0.03, 0.05, 0.02]
        """
        if operator in self.own:
            return self.own[operator]
        pattern = max((one for one in self.own if fnmatchcase(operator, one)), key=len, default=None)
        return self.usual if pattern is None else self.own[pattern]

    def idle(self, operators: Collection[str]) -> list[str]:
        """Return the names and patterns that none of these operators has.

        >>> Tolerances(0.02, {"conv*": 0.03, "ad": 0.1}).idle(["add", "conv2d"])
        ['ad']
        """
        return [
            one for one in self.own if one not in operators and not any(fnmatchcase(name, one) for name in operators)
        ]
