"""What each case of a suite is of the whole, while it is compared: the largest goes first, and the tail gets few pairs.

A case's share is what all its calls take on the base. Until a pair was measured, it is guessed from its formulas, which
is good enough for an order: a budget that ends in the first pair has then been spent on what matters.

Once the whole is decided, only the largest cases go on until they are decided themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean

from opperf.domain.peaks import BYTE_RATE
from opperf.domain.plan import Side, Trial
from opperf.domain.stats.order import median
from opperf.domain.stats.significance import PairedTest
from opperf.domain.units import format_ratios
from opperf.parent.analysis.verdict import LEAST_PAIRS, Rule, decide
from opperf.parent.measuring.contest import Contest
from opperf.parent.measuring.parallel import FLOP_RATE, amounts_of

#: What a call takes at least, in seconds: that of a framework to reach its kernel.
DISPATCH = 3e-6
#: The smallest cases that are together no more than this share of the whole get as few pairs as have a ratio.
TAIL = 0.01
#: The largest cases of a whole, which are decided whatever the whole says.
LARGEST = 10
#: The rounds of a pair for the others: one more than an estimate needs. How far a case is off counts by its share.
FEW_ROUNDS = 6


def is_suite(contests: Sequence[Contest]) -> bool:
    """Return whether cases occur more than once: only then do their times make a whole."""
    return any(one.key.count != 1 for one in contests)


def total(contest: Contest) -> float:
    """Return the seconds of all calls on the base: as the pairs say, else as its formulas let guess."""
    times = [pair.base["turn"] for pair in (*contest.stage1, *contest.stage2) if pair.base is not None]
    if times:
        return contest.key.count * median(times)
    return contest.key.count * guess(contest.base)


def guess(trial: Trial) -> float:
    """Guess the seconds of a call by its formulas."""
    nbytes, flops = amounts_of(trial.case, trial.direction) or (trial.case.input_bytes, 0)
    return max(DISPATCH, nbytes / BYTE_RATE, flops / FLOP_RATE)


def by_share(contests: Sequence[Contest]) -> list[Contest]:
    """Return contests in the order of their shares, the largest first."""
    return sorted(contests, key=total, reverse=True)


def tail(contests: Sequence[Contest]) -> list[tuple[Contest, float]]:
    """Return the smallest contests that are next to nothing of the whole together, each with its share."""
    total_time = math.fsum(map(total, contests))
    small: list[tuple[Contest, float]] = []
    so_far = 0.0
    for contest in reversed(by_share(contests)):
        share = total(contest) / total_time if total_time else 0.0
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
        verdict = decide(contest.ratios1, rule_of(contest))
        if verdict.verdict == "inconclusive":
            reason = f"{verdict.reason}; it is {share:.2%} of the whole, and gets no more pairs"
            verdict = replace(verdict, reason=reason, settle="`--settle`")
        contest.verdict = verdict


def each_whole(contests: Sequence[Contest]) -> list[list[Contest]]:
    """Return the contests of each two sides, by share: their times make a whole."""
    by_sides: dict[tuple[Side, ...], list[Contest]] = {}
    for one in by_share(contests):
        sides = tuple(replace(trial.side, implementation=None) for trial in (one.base, one.new))
        by_sides.setdefault(sides, []).append(one)
    return [*by_sides.values()]


def small(contests: Sequence[Contest]) -> set[int]:
    """Return the identities of all but the largest contests of each whole."""
    return {id(one) for whole in each_whole(contests) for one in whole[LARGEST:]}


def leave_small(
    contests: Sequence[Contest],
    rule_of: Callable[[Contest], Rule],
    rule: Rule,
    error: float,
    tell: Callable[[str], None],
) -> None:
    """Decide all but the largest contests of wholes that are decided, by the pairs that they have, and tell so.

    `rule` is that of a whole, and `error` how often its verdict may be wrong.
    """
    for group in each_whole(contests):
        left = [one for one in group[LARGEST:] if not one.decided]
        if not left or (sums := whole_interval(group, error)) is None:
            continue
        (low, high), pairs = sums
        if (word := word_of_whole((low, high), rule)) is None:
            continue
        for one in left:
            _leave(one, group, rule_of(one))
        ends = format_ratios((math.exp(low), math.exp(high)))
        tell(f"note: {pairs} pairs decide the whole: {word}, {ends}; its {LARGEST} largest cases may go on")


def _leave(contest: Contest, group: Sequence[Contest], rule: Rule) -> None:
    verdict = decide(contest.ratios1, rule)
    if verdict.verdict == "inconclusive":
        reason = f"more pairs are not needed for the whole, of which it is {total(contest) / _sum(group):.2%}"
        verdict = replace(verdict, reason=reason, settle="`--settle`")
    contest.verdict = verdict


def _sum(contests: Sequence[Contest]) -> float:
    return math.fsum(map(total, contests))


def whole_interval(contests: Sequence[Contest], error: float) -> tuple[tuple[float, float], int] | None:
    """Return the interval of the log-ratio of all calls of contests, and the pairs that it is from; None without any.

    Pairs of processes say how far the sum scatters, since what a process meets is common to its cases; the cases how
    far each of them does. The larger of both errors counts. What has no ratio may take half or twice the time.
    """
    usable = [one for one in contests if one.failure is None]
    parts = [(total(one), one.ratios1) for one in usable if len(one.ratios1) >= LEAST_PAIRS]
    base = math.fsum(time for time, _ in parts)
    if not base:
        return None
    new = [time * math.exp(fmean(ratios)) for time, ratios in parts]
    alone = math.hypot(*(time * PairedTest.of(ratios).error for time, (_, ratios) in zip(new, parts))) / math.fsum(new)
    # A case that was decided before the others goes on as it was on average.
    sums = [
        math.fsum(
            time * math.exp(ratios[place]) if place < len(ratios) else after
            for (time, ratios), after in zip(parts, new)
        )
        for place in range(max(len(ratios) for _, ratios in parts))
    ]
    test = PairedTest.of([math.log(after / base) for after in sums])
    low, high = replace(test, error=max(test.error, alone)).interval(1 - error)
    left = 1 - base / _sum(usable)
    ends = (math.log((1 - left) * math.exp(end) + left * other) for end, other in ((low, 0.5), (high, 2.0)))
    return (next(ends), next(ends)), len(sums)


def word_of_whole(interval: tuple[float, float], rule: Rule) -> str | None:
    """Return the verdict on a whole by the interval of its log-ratio, None while it is open."""
    low, high = interval
    if -rule.band < low and high < rule.band:
        return "same"
    if low > rule.change:
        return "slower"
    return "faster" if high < -rule.change else None
