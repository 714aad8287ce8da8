"""What the comparisons of a suite amount to: the ratio of the whole, which cases decide it, and cost that moved.

A case's part of the difference is what all its calls take more on the new side, as a share of what all calls of the
suite take on the base. The parts add up to the ratio of the whole minus one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from opperf.domain import code
from opperf.domain.codec import Fields
from opperf.domain.dataclass import dataclass
from opperf.domain.plan import Side
from opperf.domain.stats.significance import Estimate

if TYPE_CHECKING:
    from opperf.parent.documents.comparison import Comparison

#: The cases that decide a whole are the largest parts that are this share of all, and no more than so many.
DECISIVE, MOST_DECISIVE = 0.8, 5
#: Cost has moved where what one case gained is what others lost but for this share of it.
LEFT = 0.25


@dataclass(frozen=True)
class Part(Fields):
    """A case's part of the difference; `place` is that of its comparison in the document."""

    place: int
    part: float


@dataclass(frozen=True)
class Whole(Fields):
    """All calls of a suite measured on both a base and a new side: seconds, and new / base.

    `interval` is the 95 % interval of the ratio, the errors of different cases taken as independent (their variances
    add up, each with its share of the time); None where a case has none. `decisive` are the cases that decide it, the
    largest part first.
    """

    base: Side
    new: Side
    calls: int
    of: int
    base_time: float
    new_time: float
    interval: tuple[float, float] | None
    decisive: tuple[Part, ...] = ()

    beside = ("ratio",)

    @property
    def ratio(self) -> float:
        """New over base; above 1 is slower."""
        return self.new_time / self.base_time


def is_suite(comparisons: Sequence[Comparison]) -> bool:
    """Return whether cases occur more than once: only then do their times make a whole."""
    return any(one.count != 1 for one in comparisons)


def wholes(comparisons: Sequence[Comparison]) -> tuple[Whole, ...]:
    """Return the sums over a suite's calls, for each pair of sides; none where no case occurs more than once."""
    if not is_suite(comparisons):
        return ()
    result = (_whole(sides, comparisons, places) for sides, places in _by_sides(comparisons).items())
    return tuple(whole for whole in result if whole is not None)


def whole_of(comparisons: Sequence[Comparison]) -> Whole | None:
    """Return the sum over all calls on one pair of sides, whatever their counts; None where no case has a ratio."""
    for sides, places in _by_sides(comparisons).items():
        return _whole(sides, comparisons, places)
    return None


def parts(comparisons: Sequence[Comparison]) -> dict[int, float]:
    """Return the part of the difference of each comparison that has a ratio, by its place; none but in a suite."""
    if not is_suite(comparisons):
        return {}
    shares: dict[int, float] = {}
    for places in _by_sides(comparisons).values():
        totals = _totals(comparisons, places)
        whole = math.fsum(base for base, _ in totals.values())
        shares |= {place: (new - base) / whole for place, (base, new) in totals.items()}
    return shares


def totals(comparison: Comparison) -> tuple[float, float] | None:
    """Return the time of all calls of a case on base and on new, in seconds; None where it has no ratio.

    The new side's time is that of the paired ratio, which is what the verdict is about.
    """
    if comparison.base_time is None or comparison.verdict.ratio is None:
        return None
    base = comparison.count * comparison.base_time
    return base, base * comparison.verdict.ratio


def moved_costs(comparisons: Sequence[Comparison]) -> Iterator[tuple[Comparison, list[Comparison]]]:
    """Yield each case that got slower, with those that got faster by as much of the total together: cost moved.

    Only verdicts of `slower` and `faster` count. The sum of what is left is at most a quarter of what moved. Benchmarks
    of other tools' files are no parts of one program, so that nothing moves from one to another.
    """
    comparisons = [one for one in comparisons if not code.is_suite(one.base.implementation)]
    for places in _by_sides(comparisons).values():
        moves = {place: new - base for place, (base, new) in _totals(comparisons, places).items()}
        words = {place: comparisons[place].verdict.verdict for place in moves}
        slower = sorted((place for place in moves if words[place] == "slower"), key=lambda place: -moves[place])
        faster = sorted((place for place in moves if words[place] == "faster"), key=lambda place: moves[place])
        for place in slower:
            gains = _making_up(moves[place], [(other, -moves[other]) for other in faster])
            if gains:
                yield comparisons[place], [comparisons[other] for other in gains]
                faster = [other for other in faster if other not in gains]


def _making_up(loss: float, gains: Sequence[tuple[int, float]]) -> list[int]:
    """Return the places of the gains that make up a loss, largest first; none where they do not."""
    places, left = [], loss
    for place, gain in gains:
        if gain <= left + LEFT * loss:
            places.append(place)
            left -= gain
        if abs(left) <= LEFT * loss:
            return places
    return []


def _by_sides(comparisons: Sequence[Comparison]) -> dict[tuple[Side, Side], list[int]]:
    """Return the places of the comparisons of each pair of sides."""
    sides: dict[tuple[Side, Side], list[int]] = {}
    for place, one in enumerate(comparisons):
        pair = replace(one.base, implementation=None), replace(one.new, implementation=None)
        sides.setdefault(pair, []).append(place)
    return sides


def _totals(comparisons: Sequence[Comparison], places: Sequence[int]) -> dict[int, tuple[float, float]]:
    both = ((place, totals(comparisons[place])) for place in places)
    return {place: one for place, one in both if one is not None}


def _whole(sides: tuple[Side, Side], comparisons: Sequence[Comparison], places: Sequence[int]) -> Whole | None:
    both = _totals(comparisons, places)
    if not both:
        return None
    base, new = (math.fsum(total[side] for total in both.values()) for side in (0, 1))
    estimates = [
        None if one.interval is None or one.ratio is None else Estimate.of(one.ratio, one.interval, one.confidence)
        for one in (comparisons[place].verdict for place in both)
    ]
    errors = [estimate.error * total for estimate, (_, total) in zip(estimates, both.values()) if estimate is not None]
    is_known = len(errors) == len(both)
    interval = Estimate(math.log(new / base), math.hypot(*errors) / new).interval() if is_known else None
    calls, of = (sum(comparisons[place].count for place in several) for several in (both, places))
    shares = {place: (after - before) / base for place, (before, after) in both.items()}
    return Whole(*sides, calls, of, base, new, interval, _decisive(shares))


def _decisive(parts: dict[int, float]) -> tuple[Part, ...]:
    """Return the largest parts, until they are most of all that moved."""
    ordered, most = sorted(parts.items(), key=lambda one: -abs(one[1])), math.fsum(map(abs, parts.values()))
    decisive: list[Part] = []
    for place, part in ordered[:MOST_DECISIVE]:
        if math.fsum(abs(one.part) for one in decisive) >= DECISIVE * most:
            break
        decisive.append(Part(place, part))
    return tuple(decisive)
