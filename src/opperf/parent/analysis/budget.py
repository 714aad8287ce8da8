"""How long a command should have been given: told where its budget ended before its verdicts were there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """How far one comparison came: the seconds of its pairs, how many they are, how many it lacks at most.

    One that is decided lacks none, and tells how long a pair takes.
    """

    seconds: float
    pairs: int
    missing: int


def sufficient(elapsed: float, progress: Sequence[Progress]) -> float | None:
    """Return the budget that brings every comparison to its end, in seconds; None where no pair tells how long one is.

    A comparison without a pair is taken for one of the slowest.

    >>> sufficient(100.0, [Progress(50.0, 5, 7), Progress(0.0, 0, 12)])
    290.0
    """
    each = [one.seconds / one.pairs if one.pairs else None for one in progress]
    slowest = max((seconds for seconds in each if seconds is not None), default=None)
    if slowest is None:
        return None
    more = sum(one.missing * (slowest if seconds is None else seconds) for one, seconds in zip(progress, each))
    return _two_digits(elapsed + more)


def _two_digits(seconds: float) -> float:
    """Round up to two digits.

    >>> _two_digits(131.0), _two_digits(2.13)
    (140.0, 2.2)
    """
    step = 10.0 ** (math.floor(math.log10(seconds)) - 1) if seconds > 0 else 1.0
    return round(math.ceil(round(seconds / step, 6)) * step, 6)
