"""Modes: processes of one build that take other times, and what they leave of a verdict.

A build may take 680 us in one process and 1.9 ms in the next, for minutes at a time: it depends on where its results
lie, and on whether their memory is mapped anew at each call. Pairs that fall into groups show it, and page faults do.
Then a change is certain only as far as it exceeds what the modes differ by: the next five pairs may meet another one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import fmean

from opperf.domain.dataclass import dataclass
from opperf.domain.metric import METRICS
from opperf.domain.plan import Trial
from opperf.domain.reason import Warning
from opperf.domain.stats.order import median
from opperf.parent.analysis.verdict import LEAST_PAIRS
from opperf.parent.documents.comparison import CHANGES, LATER, PairValue, Verdict

#: Groups lie this far apart at least, as a log-ratio: less is what identical code moves by from place to place.
GAP = math.log(1.1)
#: They lie this many times as far apart as the values within them scatter (standard deviation).
CLEAR = 6.0
#: Of more values than this, a lone one at either end that lies no further off than that is no group: pairs of identical
#: code have such, one in twenty of some operators.
MANY, FAR = 10, math.log(1.5)
#: Groups at most: two modes of either side make three or four.
MOST_GROUPS = 4
#: What a page fault takes at most, in seconds: 1.7 to 2.9 us were seen in virtual machines.
FAULT_SECONDS = 3e-6
#: Page faults of a call that both sides may differ by: one now and then comes from other work of the process.
FEW_FAULTS = 1.0
#: Page faults that may be this share of the time of a call make a side doubtful whose processes differ in them.
SHARE_OF_TIME = 0.1
#: Blocks from this size on are mapped at each call, whatever ran before: children fix the allocator's threshold there.
MAPPED_BYTES = 32 * 1024 * 1024
SIDES = ("base", "new")
#: What would settle a verdict that the resolution of readings leaves open: more pairs would not.
COARSE = "a wider `--tolerance`, or larger inputs"


@dataclass(frozen=True)
class Doubt:
    """Why a change is not certain. `apart` is the log-ratio that it may be off by; `interval` what the pairs leave."""

    reason: str
    apart: float
    interval: tuple[float, float] | None = None


def doubt(pairs: Sequence[PairValue], base: Trial, new: Trial, change: float, peak: float | None) -> Doubt | None:
    """Return why pairs do not make a change certain, None where nothing speaks against it.

    A change is beyond `change`, a log-ratio, in pairs of whichever mode. `peak` is the memory of a call in bytes, where
    it is known.
    """
    usable = [pair for pair in pairs if pair.log_ratio is not None and pair.base is not None and pair.new is not None]
    if len(usable) < LEAST_PAIRS:
        return None
    is_time = usable[0].metric == "time"
    by_faults = is_time and _maps_nothing(base, new, peak)
    return _of_modes(usable, change) or (_of_faults(usable, change) if by_faults else None)


def bound(verdict: Verdict, resolution: float, change: float) -> Verdict:
    """Return the verdict that readings leave which do not tell a share, the `resolution`, of what they read.

    No interval is narrower than that on either side, and a change must be beyond the log-ratio `change` by it.

    >>> bound(Verdict("slower", 2.0, (1.999, 2.001), "both stages agree", 5), 0.5, math.log(1.02)).interval
    (0.8888888888888888, 4.5)
    """
    if not resolution or verdict.interval is None or verdict.ratio is None:
        return verdict
    apart = (1 + resolution) ** 2  # each side may be off by it
    interval = min(verdict.interval[0], verdict.ratio / apart), max(verdict.interval[1], verdict.ratio * apart)
    low, high = map(math.log, interval)
    word = verdict.verdict
    holds = {"slower": low > 0, "faster": high < 0, "same": -change <= low and high <= change}.get(word, True)
    if holds:
        return replace(verdict, interval=interval)
    reason = f"the readings tell no more than ±{resolution:.1%} of each side ({word} by the pairs alone)"
    return replace(verdict, verdict="inconclusive", interval=interval, reason=reason, settle=COARSE)


def hold(verdict: Verdict, doubt: Doubt | None) -> Verdict:
    """Return the verdict that a doubt leaves: none that is certain of a change."""
    if doubt is None or verdict.verdict not in (*CHANGES, "inconclusive"):
        return verdict
    if verdict.verdict == "inconclusive":
        return replace(verdict, reason=f"{verdict.reason}; {doubt.reason}")
    interval = None
    if doubt.interval is not None and verdict.interval is not None:
        low, high = map(math.exp, doubt.interval)
        interval = min(verdict.interval[0], low), max(verdict.interval[1], high)
    return replace(verdict, verdict="inconclusive", interval=interval, reason=doubt.reason, settle=LATER)


def _of_modes(pairs: Sequence[PairValue], change: float) -> Doubt | None:
    """Return the doubt that groups of pairs leave."""
    ratios = [pair.log_ratio for pair in pairs if pair.log_ratio is not None]
    parts = groups(ratios)
    # Either side may be in a mode that no pair met yet: the pairs may all be off by as much as two modes differ.
    apart = max((fmean(above) - fmean(below) for below, above in pairwise(parts)), default=0.0)
    low, high = min(ratios), max(ratios)
    nearest = max(low, -high)  # below zero where pairs disagree
    if len(parts) == 1 or nearest - apart > change:
        return None
    sides = [text for place, name in enumerate(SIDES) if (text := _modes_of_side(pairs, place, name)) is not None]
    text = "; ".join(sides) or f"the pairs fall into groups: {', '.join(map(_group, parts))}"
    return Doubt(text, apart, (low - change, high + change))


def _modes_of_side(pairs: Sequence[PairValue], place: int, name: str) -> str | None:
    """Say which modes a side has, and how often each side was in the slow one."""
    levels = [pair.levels for pair in pairs if pair.levels is not None and min(pair.levels) > 0]
    sides = [[math.log(both[i]) for both in levels] for i in (place, 1 - place)]
    parts = groups(sides[0])
    if len(parts) == 1:
        return None
    slow = parts[-1]
    middle = (parts[0][-1] + slow[0]) / 2
    others = sum(time >= middle for time in sides[1])
    show = METRICS[pairs[0].metric].unit.show
    times = " and ".join(show(math.exp(fmean(part))) for part in parts)
    count = "two" if len(parts) == 2 else str(len(parts))
    often = f"it was in the slow one in {len(slow)} of {len(pairs)} processes, the other side in {others or 'none'}"
    return f"{name} has {count} modes: {times}; {often}"


def _group(part: Sequence[float]) -> str:
    return f"{math.exp(fmean(part)):.3g} in {len(part)}"


def _of_faults(pairs: Sequence[PairValue], change: float) -> Doubt | None:
    """Return the doubt that page faults leave: the slower side took more, and they may be half of the difference."""
    times, faults = (
        [median([one.get(name, 0.0) for one in _of_side(pairs, place)]) for place in (0, 1)]
        for name in ("turn", "faults")
    )
    more, longer = faults[1] - faults[0], times[1] - times[0]
    if more * longer <= 0 or abs(more) <= FEW_FAULTS or 2 * abs(more) * FAULT_SECONDS < abs(longer):
        return None
    words = [f"{name} {count:.0f}" for name, count in zip(SIDES, faults)]
    slower = SIDES[longer > 0]
    text = (
        f"the page faults of a call differ ({', '.join(words)}), although all that it takes fits into memory that is "
        f"retained: {slower} has its results mapped anew, which may be all of the difference and not its code"
    )
    return Doubt(text, abs(math.log(times[1] / times[0])))


def _maps_nothing(base: Trial, new: Trial, peak: float | None) -> bool:
    """Whether calls of both sides do the same by the same code, and by the allocator's thresholds map nothing anew."""
    first, second = base.side, new.side
    how = [(side.framework, side.spelling, side.mode, side.allocator, side.threads) for side in (first, second)]
    most = max(base.case.input_bytes, new.case.input_bytes) if peak is None else peak
    alike = base.case.id == new.case.id and how[0] == how[1]
    return alike and first.device == second.device == "cpu" and first.allocator == "fixed" and most < MAPPED_BYTES


def fault_warnings(pairs: Sequence[PairValue]) -> Iterator[Warning]:
    """Yield a warning for each side whose processes differ in page faults by what its times show."""
    usable = [pair for pair in pairs if pair.base is not None and pair.new is not None and pair.metric == "time"]
    for place, name in enumerate(SIDES):
        values = _of_side(usable, place)
        faults = [one["faults"] for one in values if "faults" in one]
        if len(faults) < 2:
            continue
        low, high, time = min(faults), max(faults), median([one["turn"] for one in values])
        if high - low > FEW_FAULTS and (high - low) * FAULT_SECONDS > SHARE_OF_TIME * time:
            text = f"{name}: its processes differ in page faults, from {low:.0f} to {high:.0f} a call"
            yield Warning("faults_differ", text, "its times depend on where its results lie: compare again later")


def _of_side(pairs: Sequence[PairValue], place: int) -> list[Mapping[str, float]]:
    """Return the values of the base (0) or of the new side (1) in pairs."""
    sides = ((pair.base, pair.new)[place] for pair in pairs)
    return [values for values in sides if values is not None]


def groups(values: Sequence[float]) -> list[list[float]]:
    """Return values in order, cut where they fall into groups.

    >>> groups([0.01, -1.0, 0.0, -1.01, 0.02])
    [[-1.01, -1.0], [0.0, 0.01, 0.02]]
    >>> len(groups([0.0, 0.1, 0.2, 0.3, 0.4]))
    1
    """
    ordered = _without_strays(sorted(values))
    gaps = sorted(((above - below, place) for place, (below, above) in enumerate(pairwise(ordered), 1)), reverse=True)
    for cuts in range(1, min(MOST_GROUPS - 1, (len(ordered) - 1) // 2) + 1):
        smallest = gaps[cuts - 1][0]
        if smallest <= GAP:
            break
        parts = _cut(ordered, sorted(place for _, place in gaps[:cuts]))
        if smallest > CLEAR * _scatter(parts):
            return parts
    return [[*ordered]]


def _without_strays(ordered: Sequence[float]) -> Sequence[float]:
    """Leave out a lone value at either end of many."""
    if len(ordered) <= MANY:
        return ordered
    first = GAP < ordered[1] - ordered[0] <= FAR
    last = GAP < ordered[-1] - ordered[-2] <= FAR
    return ordered[first : len(ordered) - last]


def _cut(ordered: Sequence[float], places: Sequence[int]) -> list[list[float]]:
    return [list(ordered[first:last]) for first, last in pairwise([0, *places, len(ordered)])]


def _scatter(parts: Sequence[Sequence[float]]) -> float:
    """Return the standard deviation within groups."""
    squares = math.fsum((value - fmean(part)) ** 2 for part in parts for value in part)
    return math.sqrt(squares / (sum(map(len, parts)) - len(parts)))
