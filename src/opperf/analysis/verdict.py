"""From log-ratios of pairs of processes to verdicts.

Stage 1 looks at every operator after 5, 8 and 12 pairs, at those counts only and with the error spent over the looks:
a look after each pair took the coverage of the interval from 95 to 82-88 %. What stands out, by a paired t-test and
Benjamini and Hochberg's rule over the whole suite, is measured again. Stage 2 has fresh pairs, as many as the spread of
stage 1 asks for, and the reported ratio and interval come from it alone: stage 1 was selected for being far from one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev

from opperf.comparison import Verdict
from opperf.floor import Floor
from opperf.stats.significance import PairedTest, discoveries
from opperf.stats.student import t_quantile

#: Pairs at which stage 1 looks, relative to the first, and the share of the error that each look may spend.
LOOKS = (1.0, 1.6, 2.4)
SPENDING = (0.5, 0.25, 0.25)
FIRST_PAIRS = 5
#: The share of false discoveries that Benjamini and Hochberg's rule lets through to stage 2, over all looks.
DISCOVERY_RATE = 0.10
CONFIDENCE = 0.95
UPPER = (1 + CONFIDENCE) / 2


@dataclass(frozen=True)
class Rule:
    """The rule of a comparison. `tolerance` is the ratio minus one that nobody minds; `pairs` the first look.

    `floor` is the log-ratio that identical code is known to move by.
    """

    tolerance: float = 0.02
    pairs: int = FIRST_PAIRS
    floor: float = 0.0

    @property
    def looks(self) -> tuple[int, ...]:
        """The numbers of pairs at which stage 1 looks."""
        return tuple(math.ceil(self.pairs * share) for share in LOOKS)

    def second_stage(self, stage1: Sequence[float]) -> int:
        """Return the number of fresh pairs of stage 2: what the spread of stage 1 asks for, within its looks.

        Fixed before the first of them is measured: enough for an interval no wider on either side than the tolerance,
        or than half of what lies between the tolerance and the change that stage 1 saw.

        >>> Rule().second_stage([0.050, 0.052, 0.048, 0.051, 0.049]), Rule().second_stage([0.02, 0.08, 0.01, 0.09, 0.1])
        (5, 12)
        >>> Rule().second_stage([0.17, 0.23, 0.16, 0.24, 0.25])
        5
        """
        seen = abs(fmean(stage1)) - self.band
        return self._enough(stdev(stage1), max(self.band, seen / 2))

    def knowing(self, floor: Floor | None) -> Rule:
        """Return the rule for an operator whose noise is known: more pairs where it is noisy, and its floor.

        >>> Rule().knowing(None).looks
        (5, 8, 12)
        """
        if floor is None:
            return self
        return replace(self, pairs=self._enough(floor.spread, self.band), floor=floor.moved)

    def _enough(self, spread: float, width: float) -> int:
        """Return how many pairs of that spread make an interval as narrow as `width`, from first to last look."""
        most = self.looks[-1]
        counts = range(self.pairs, most)
        return next((k for k in counts if t_quantile(UPPER, k - 1) * spread / math.sqrt(k) <= width), most)

    @property
    def band(self) -> float:
        """The tolerance as a log-ratio."""
        return math.log1p(self.tolerance)

    @property
    def change(self) -> float:
        """The log-ratio that a change must be beyond."""
        return max(self.band, self.floor)


def sort_out(stage1: Mapping[int, Sequence[float]], look: int, rule: Rule) -> tuple[set[int], set[int]]:
    """Return which operators are flagged for stage 2, and which are the same, at a look.

    `stage1` holds the log-ratios of the operators that are still open. Every other one goes on to the next look.
    """
    tests = {key: PairedTest.of(ratios) for key, ratios in stage1.items() if len(ratios) >= 2}
    share = SPENDING[look]
    believed = discoveries([test.p_value() for test in tests.values()], DISCOVERY_RATE * share)
    flagged = {
        key for (key, test), stands_out in zip(tests.items(), believed) if stands_out and abs(test.mean) > rule.band / 2
    }
    confidence = 1 - (1 - CONFIDENCE) * share
    same = {key for key, test in tests.items() if key not in flagged and _inside(test.interval(confidence), rule.band)}
    return flagged, same


def settled(ratios: Sequence[float], rule: Rule, confidence: float = CONFIDENCE) -> Verdict:
    """Return the verdict on an operator that stage 1 did not flag."""
    if len(ratios) < 2:
        return Verdict(
            "inconclusive", None, None, "too few pairs had enough undisturbed samples", len(ratios), _more(rule)
        )
    test = PairedTest.of(ratios)
    interval = test.interval(confidence)
    if _inside(interval, rule.band):
        return _verdict("same", test, interval, f"the interval lies within ±{rule.tolerance:.0%}")
    settle = _needed(test, ratios, rule)
    return _verdict("inconclusive", test, interval, f"the interval is wider than ±{rule.tolerance:.0%}", settle)


def confirmed(stage1: Sequence[float], stage2: Sequence[float], rule: Rule) -> Verdict:
    """Return the verdict on an operator that stage 1 flagged, from the fresh pairs of stage 2."""
    if len(stage2) < 2:
        return Verdict(
            "inconclusive", None, None, "too few pairs of the second stage were clean", len(stage2), _more(rule)
        )
    first, test = PairedTest.of(stage1), PairedTest.of(stage2)
    interval = test.interval(CONFIDENCE)
    if _inside(interval, rule.band):
        return _verdict("same", test, interval, "the second stage did not confirm the first")
    agree = first.mean * test.mean > 0
    clear = interval[0] > 0 or interval[1] < 0
    if agree and clear and abs(test.mean) > rule.change:
        word = "slower" if test.mean > 0 else "faster"
        return _verdict(word, test, interval, "both stages agree")
    reason = (
        "the two stages disagree"
        if not agree
        else "the second stage is not clear of no change"
        if not clear
        else _not_beyond(rule)
    )
    return _verdict("inconclusive", test, interval, reason, _needed(test, stage2, rule))


def _not_beyond(rule: Rule) -> str:
    if rule.floor > rule.band:
        return f"a change is seen, but identical code moves by {math.expm1(rule.floor):.1%} here"
    return f"a change is seen, but not beyond ±{rule.tolerance:.0%}"


def _inside(interval: tuple[float, float], band: float) -> bool:
    return -band < interval[0] and interval[1] < band


def _verdict(
    word: str, test: PairedTest, interval: tuple[float, float], reason: str, settle: str | None = None
) -> Verdict:
    bounds = (math.exp(interval[0]), math.exp(interval[1]))
    return Verdict(word, math.exp(test.mean), bounds, reason, test.freedom + 1, settle)


def _needed(test: PairedTest, ratios: Sequence[float], rule: Rule) -> str:
    """Say how many pairs would make the interval narrow enough to tell this mean from the nearer bound."""
    margin = abs(abs(test.mean) - rule.band)
    spread = test.error * math.sqrt(len(ratios))
    wanted = len(ratios) * 2 if margin <= 0 else math.ceil((2.2 * spread / margin) ** 2) + 2
    if wanted > 20 * len(ratios):
        return "the change is as large as the tolerance: choose another `--tolerance`"
    return (
        f"about {max(wanted, len(ratios) + 1)} pairs instead of {len(ratios)}: `--pairs {max(wanted, len(ratios) + 1)}`"
    )


def _more(rule: Rule) -> str:
    return f"a quieter machine, or `--pairs {2 * rule.pairs}`"
