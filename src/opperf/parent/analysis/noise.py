"""From pairs of processes of identical code to the noise floor of an operator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import stdev

from opperf.domain.comparison import PairValue
from opperf.domain.floor import Floor
from opperf.domain.plan import Trial
from opperf.domain.stats.order import median
from opperf.domain.stats.significance import PairedTest

#: Pairs that a floor is made of at least.
LEAST_PAIRS = 3


def floor_of(trial: Trial, pairs: Sequence[PairValue], *, alarms: int, comparisons: int, measured: str) -> Floor | None:
    """Return the floor that pairs of identical code show, or None when too few of them said anything."""
    values = [pair for pair in pairs if pair.log_ratio is not None and pair.base is not None and pair.new is not None]
    ratios = [pair.log_ratio for pair in values if pair.log_ratio is not None]
    if len(ratios) < LEAST_PAIRS:
        return None
    minima = [side["min"] for pair in values for side in (pair.base, pair.new) if side is not None]
    test = PairedTest.of(ratios)
    return Floor(
        trial=trial,
        time=median(minima),
        pairs=len(ratios),
        spread=stdev(ratios),
        moved=max(map(abs, test.interval())),
        between=math.log(max(minima) / min(minima)),
        alarms=alarms,
        comparisons=comparisons,
        measured=measured,
    )
