"""What rounds of comparisons say that know the truth: floors of identical code, and how often a change was called."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean, stdev

from opperf.domain.dataclass import dataclass
from opperf.domain.plan import EXTRA_CALLS, LAYOUT, MOST_LAYOUTS, Trial
from opperf.domain.stats.order import median
from opperf.domain.stats.significance import PairedTest
from opperf.parent.analysis.verdict import LEAST_PAIRS
from opperf.parent.documents.comparison import CHANGES, PairValue
from opperf.parent.documents.floor import Detection, Displacement, Floor, Suites
from opperf.parent.measuring.contest import Contest
from opperf.parent.measuring.parallel import facts_together


@dataclass(frozen=True)
class Kind:
    """One kind of comparison of a trial with itself: the new side makes extra calls, has another layout, or neither."""

    effect: float = 0.0
    elsewhere: bool = False

    def contest(self, trial: Trial, repeat: int) -> tuple[Trial, Trial]:
        """Return the base and the new side of a repetition, each of which has a layout of its own.

        >>> from opperf.domain.case import Case
        >>> from opperf.domain.plan import Side
        >>> trial = Trial(Case("add"), Side("torch"), "forward")
        >>> [kind.contest(trial, 0)[1].side.settings for kind in (Kind(0.05), Kind(elsewhere=True))]
        [{'extra_calls': '5%'}, {'layout': '1'}]
        """
        difference = {}
        if self.effect:
            difference[EXTRA_CALLS] = f"{100 * self.effect:.12g}%"
        if self.elsewhere:
            difference[LAYOUT] = str(1 + repeat % MOST_LAYOUTS)
        return trial, replace(trial, side=replace(trial.side, settings={**trial.side.settings, **difference}))

    def __str__(self) -> str:
        if self.effect:
            return f"{100 * self.effect:.4g} % of extra calls"
        return "identical code in another layout of memory" if self.elsewhere else "identical code"


@dataclass(frozen=True)
class Round:
    """The comparisons of every trial once, in the trials' order."""

    kind: Kind
    contests: tuple[Contest, ...]


def complete(contest: Contest) -> bool:
    """Whether a comparison came to its end: it has an interval, and neither a budget nor a stop has cut it short."""
    verdict = contest.verdict
    if contest.failure is not None or verdict is None or verdict.interval is None:
        return False
    return verdict.verdict != "inconclusive" or not contest.missing


def calls(contests: Sequence[Contest], words: Sequence[str] = CHANGES) -> int:
    """Return how many comparisons ended with one of these verdicts."""
    return sum(one.verdict is not None and one.verdict.verdict in words for one in contests)


def floor(rounds: Sequence[Round], place: int, moment: str) -> Floor | None:
    """Return the floor of the trial at a place by all rounds, None where its pairs of identical code are too few."""
    by_kind: dict[Kind, list[Contest]] = {}
    for one in rounds:
        by_kind.setdefault(one.kind, []).append(one.contests[place])
    identical = by_kind.get(Kind(), [])
    ended = [*filter(complete, identical)]
    result = floor_of(
        rounds[0].contests[place].key,
        [pair for one in identical for pair in (*one.stage1, *one.stage2)],
        alarms=calls(ended),
        comparisons=len(ended),
        moment=moment,
        facts=facts_together([one.facts for one in identical]),
    )
    if result is None:
        return None
    elsewhere = _displacement(by_kind.get(Kind(elsewhere=True), []))
    detections = (_detection(kind.effect, contests) for kind, contests in by_kind.items() if kind.effect)
    return replace(
        result,
        moved=max(result.moved, 0.0 if elsewhere is None else elsewhere.moved),
        seconds=fmean([one.seconds for one in ended]) if ended else None,
        detection=next(detections, None),
        displacement=elsewhere,
    )


def _detection(effect: float, contests: Sequence[Contest]) -> Detection | None:
    ended = [*filter(complete, contests)]
    if not ended:
        return None
    ratios = [ratio for one in ended for ratio in (*one.ratios1, *one.ratios2)]
    return Detection(
        effect=effect,
        detections=calls(ended, ("slower",)),
        inconclusive=calls(ended, ("inconclusive",)),
        comparisons=len(ended),
        ratio=math.exp(fmean(ratios)),
        seconds=fmean([one.seconds for one in ended]),
    )


def _displacement(contests: Sequence[Contest]) -> Displacement | None:
    """Return the displacement by other layouts; a layout counts that has as many pairs as a floor needs."""
    ended = [*filter(complete, contests)]
    several = [[*one.ratios1, *one.ratios2] for one in contests]
    means = [abs(fmean(ratios)) for ratios in several if len(ratios) >= LEAST_PAIRS]
    if not means:
        return None
    return Displacement(max(means), len(means), calls(ended), len(ended))


def suites(rounds: Sequence[Round]) -> Suites:
    """Return how often the suite was compared whole with itself, and how often it would have been called changed.

    A case that cannot be measured is none of it.
    """
    every = [[one for one in several.contests if one.failure is None] for several in rounds if several.kind == Kind()]
    whole = [contests for contests in every if contests and all(map(complete, contests))]
    cut = sum(one.failure is None and not complete(one) for several in rounds for one in several.contests)
    return Suites(max(map(len, whole), default=0), len(whole), sum(calls(contests) > 0 for contests in whole), cut)


def floor_of(
    trial: Trial,
    pairs: Sequence[PairValue],
    *,
    alarms: int,
    comparisons: int,
    moment: str,
    facts: Mapping[str, object] | None = None,
) -> Floor | None:
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
        measured=moment,
        facts=facts or {},
    )
