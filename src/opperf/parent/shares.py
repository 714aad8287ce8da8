"""What each case of a suite is of the whole, while it is compared: the largest goes first, and the tail gets few pairs.

A case's share is what all its calls take on the base. Until a pair was measured, it is guessed from its formulas, which
is good enough for an order: a budget that ends in the first pair has then been spent on what matters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from opperf.domain.stats.order import median
from opperf.parent.analysis.verdict import LEAST_PAIRS, Rule, settle
from opperf.parent.contest import Contest
from opperf.parent.crew import BYTE_RATE, FLOP_RATE, amounts_of

#: What a call takes at least, in seconds: that of a framework to reach its kernel.
DISPATCH = 3e-6
#: The smallest cases that are together no more than this share of the whole get as few pairs as have a ratio.
TAIL = 0.01


def is_suite(contests: Sequence[Contest]) -> bool:
    """Return whether cases occur more than once: only then do their times make a whole."""
    return any(one.key.count != 1 for one in contests)


def total(contest: Contest) -> float:
    """Return the seconds of all calls on the base: as the pairs say, else as its formulas let guess."""
    times = [pair.base["turn"] for pair in (*contest.stage1, *contest.stage2) if pair.base is not None]
    if times:
        return contest.key.count * median(times)
    nbytes, flops = amounts_of(contest.base.case, contest.base.direction) or (contest.base.case.input_bytes, 0)
    return contest.key.count * max(DISPATCH, nbytes / BYTE_RATE, flops / FLOP_RATE)


def by_share(contests: Sequence[Contest]) -> list[Contest]:
    """Return contests in the order of their shares, the largest first."""
    return sorted(contests, key=total, reverse=True)


def tail(contests: Sequence[Contest]) -> list[tuple[Contest, float]]:
    """Return the smallest contests that are next to nothing of the whole together, each with its share."""
    whole = math.fsum(map(total, contests))
    small: list[tuple[Contest, float]] = []
    so_far = 0.0
    for contest in reversed(by_share(contests)):
        share = total(contest) / whole if whole else 0.0
        so_far += share
        if so_far > TAIL:
            break
        small.append((contest, share))
    return small


def settle_tail(contests: Sequence[Contest], rule_of: Callable[[Contest], Rule]) -> None:
    """Decide the smallest contests by the pairs that they have: they change next to nothing of the whole."""
    for contest, share in tail(contests):
        if contest.decided or len(contest.ratios1) < LEAST_PAIRS:
            continue
        verdict = settle(contest.ratios1, rule_of(contest))
        if verdict.verdict == "inconclusive":
            reason = f"{verdict.reason}; it is {share:.2%} of the whole, and gets no more pairs"
            verdict = replace(verdict, reason=reason, settle="`--settle`")
        contest.verdict = verdict
