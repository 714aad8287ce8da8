"""Verdicts from counted instructions, beside what the clock says.

A count is the same in every process with the same layout of memory, so there is nothing to average: pairs differ only
where the layout does (a bin of the allocator more to look through, a collision more in a table), and the range of a few
of them is the interval. If it does not decide, more are counted, and one of them may stand apart on either side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from opperf.catalog import catalog
from opperf.domain.errors import InputError
from opperf.domain.plan import Trial
from opperf.domain.reason import Warning
from opperf.domain.stats.order import median
from opperf.parent.analysis.verdict import Rule, decide
from opperf.parent.documents.comparison import Verdict

#: Pairs of processes that are counted at each look, each with another layout of memory.
LAYOUTS = (3, 7)
#: Counts do not spread as times do, so their tolerance is this share of that for times.
OF_TOLERANCE = 0.25
#: What counts of identical code may lie apart, as a share: two processes differ in more than the layout that they
#: share, and do so in each of them. Of 240 comparisons the farthest was 0.33 %. No interval is narrower on either side,
#: and nothing smaller is a change.
FLOOR = 0.0035
#: What one instruction of AVX2 moves at most, in bytes, and computes: a fused multiply-add in eight lanes.
VECTOR_BYTES, VECTOR_FLOPS = 32, 16
#: What a warning about a count that says little is called.
VECTORISED = "vectorised"
#: From this share of instructions on that data needs at least, a count says little of time.
MOST_OF_DATA = 0.1

_MORE = {"slower": "more", "faster": "less", "same": "same"}
_TIME = {"slower": "more time", "faster": "less time", "same": "same time"}


def counting(rule: Rule) -> Rule:
    """Return the rule that counts are judged by, given that for times.

    >>> counting(Rule(tolerance=0.02)).tolerance
    0.005
    """
    return replace(rule, tolerance=rule.tolerance * OF_TOLERANCE, floor=0.0)


def by_counts(ratios: Sequence[float], rule: Rule) -> Verdict:
    """Return the verdict on log-ratios of counts, one for each layout; `rule` is that for counts.

    The range of n values holds the median of all layouts with a probability of 1 - 2 ** (1 - n), and that without the
    lowest and the highest with one of 1 - (n + 1) * 2 ** (1 - n). At the second look the latter is the interval, which
    holds what lies within `FLOOR` of the middle too.

    >>> rule = counting(Rule())
    >>> by_counts([0.01, 0.01, 0.01], rule).verdict, by_counts([0.0, 0.001, -0.001], rule).verdict
    ('slower', 'same')
    >>> by_counts([0.001, 0.02, 0.03], rule).verdict
    'inconclusive'
    >>> by_counts([0.001, 0.02, 0.03, 0.02, 0.02, 0.02, 0.02], rule).verdict
    'slower'
    """
    apart = int(len(ratios) >= LAYOUTS[-1])
    ordered = sorted(ratios)
    floor, low, high = math.log1p(FLOOR), ordered[apart], ordered[-1 - apart]
    band = max(rule.band, floor)
    tolerance = f"±{100 * math.expm1(band):.3g}%"
    counts = f"all but the lowest and the highest of {len(ratios)} counts are" if apart else "every count is"
    if low > band or high < -band:
        word, reason = ("slower" if low > band else "faster"), f"{counts} beyond {tolerance}"
    elif -band <= low and high <= band:
        word, reason = "same", f"{counts} within {tolerance}"
    else:
        word, reason = "inconclusive", f"counts of different layouts of memory lie on both sides of {tolerance}"
    share = 1 - (1 + apart * len(ratios)) * 2.0 ** (1 - len(ratios))
    wider = "another `--tolerance`" if word == "inconclusive" else None
    middle = median(ratios)
    bounds = (math.exp(min(low, middle - floor)), math.exp(max(high, middle + floor)))
    return Verdict(word, math.exp(middle), bounds, reason, len(ratios), wider, share)


def by_clock(ratios: Sequence[float], rule: Rule) -> Verdict:
    """Return the verdict of the clock beside counts, from the pairs of one look."""
    verdict = decide(ratios, rule)
    if verdict.verdict == "same" or verdict.interval is None:
        return verdict
    low, high = map(math.log, verdict.interval)
    if low > rule.band or high < -rule.band:
        word = "slower" if low > rule.band else "faster"
        return replace(verdict, verdict=word, reason="the interval is beyond the tolerance", settle=None)
    return verdict


def together(work: Verdict, time: Verdict | None, noun: str = "work") -> str:
    """Say what counts and clock say together; `noun` is what is counted.

    >>> same, more = (Verdict(word, 1.0, None, "", 3) for word in ("same", "slower"))
    >>> together(same, more), together(more, same), together(more, more), together(same, None)
    ('same work, other time', 'more work, same time', 'more work, more time', 'same work')
    """
    if work.verdict not in _MORE:
        return f"{noun} not clear"
    words = [f"{_MORE[work.verdict]} {noun}"]
    if time is not None and time.verdict not in _TIME:
        words.append("time not clear")
    elif time is not None:
        changed_alone = work.verdict == "same" and time.verdict != "same"
        words.append("other time" if changed_alone else _TIME[time.verdict])
    return ", ".join(words)


def data_share(trial: Trial, count: float) -> float | None:
    """Return which share of the instructions of a call its data needs at least, by the operator's formulas."""
    definition = catalog().get(trial.case.operator)
    flops, nbytes = 0, trial.case.input_bytes
    if definition is not None:
        try:
            flops = definition.flop_count(trial.case, trial.direction) or 0
            nbytes = definition.byte_count(trial.case, trial.direction) or nbytes
        except (InputError, LookupError, TypeError, ValueError, ArithmeticError):
            return None
    return max(nbytes / VECTOR_BYTES, flops / VECTOR_FLOPS) / count if count > 0 else None


def vector_warnings(trial: Trial, count: float) -> tuple[Warning, ...]:
    """Return a warning where a count says little of time, since the work is done in vectors."""
    share = data_share(trial, count)
    if share is None or share < MOST_OF_DATA:
        return ()
    text = (
        f"{min(share, 1):.0%} or more of the instructions work on data in vectors: their count says little of time, "
        "and wider vectors than Valgrind's may run another kernel"
    )
    return (Warning(VECTORISED, text, "judge this case by its time: leave out `--clock instructions`"),)
