"""From log-ratios of pairs of processes to verdicts.

Stage 1 looks at every operator after 5, 8 and 12 pairs, at those counts only and with the error spent over the looks:
a look after each pair took the coverage of the interval from 95 to 82-88 %. What stands out, by a paired t-test and
Benjamini and Hochberg's rule over the whole suite, is measured again. Stage 2 has fresh pairs, first as many as the
spread of stage 1 asks for, and the reported ratio and interval come from it alone: stage 1 was selected for being far
from one. Only where stage 1 is so clear that the selection cannot matter does it decide alone: after five pairs, or
after three that are all beyond three times, or of long calls 1.5 times.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from statistics import fmean, stdev

from opperf.domain.codec import Exact
from opperf.domain.dataclass import dataclass
from opperf.domain.stats.order import CONFIDENCE
from opperf.domain.stats.significance import PairedTest, discoveries, t_quantile
from opperf.parent.documents.comparison import WIDEST, Verdict
from opperf.parent.documents.floor import Floor
from opperf.parent.documents.tolerances import FIRST_PAIRS, TOLERANCE, Tolerances

#: Pairs at which stage 1 looks, relative to the first look, and the factor between later looks with `--settle`.
LOOKS = (1.0, 1.6, 2.4)
GROWTH = 1.6
#: Fewer pairs say nothing: their interval is wide, or there is none, and one of them is as far off as any.
LEAST_PAIRS = 3
#: Pairs at most, where a comparison is to go on until it is settled.
MOST_PAIRS = 64
#: The share of false discoveries that Benjamini and Hochberg's rule lets through to stage 2, over all looks.
DISCOVERY_RATE = 0.10
#: The confidence at which stage 1 decides alone, and the least number of pairs for it. Where no more than one
#: comparison in fifty of its kind stands out at all, an interval at 99.9 % still holds the truth in 95 % of those
#: that do.
ONE_STAGE = 0.999
ENOUGH_FOR_ONE = 5
#: Where all pairs are beyond this factor in the same direction, `LEAST_PAIRS` are enough: the farthest of 8,794
#: recorded pairs of identical code was off by 1.46.
MANIFOLD = 3.0
#: And of calls that take long beyond this one, if their interval of this confidence is beyond the tolerance, too. Five
#: of others cost little: code with two modes that lie so far apart shows the same one three times by chance.
SEVERAL, OF_SEVERAL = 1.5, 0.99
#: Of many comparisons that are decided one by one, the probability that any is called changed which is not: half of it
#: for those that one stage decides, half for those that two do. Stage 1 lets through what chance explains one time in
#: ten, and fresh pairs have to agree: the errors of the two multiply.
OF_FAMILY = 0.05
#: From this number of pairs on, this share at either end is left out of the mean: pairs of identical code have a few
#: that lie five times as far off as the others.
TRIMMED_FROM, TRIM = 8, 0.2


@dataclass(frozen=True)
class Rule(Exact):
    """The rule of a comparison. `tolerance` is the smallest ratio minus one worth reporting; `pairs` the first look.

    `floor` is the log-ratio that identical code is known to move by. With `most`, looks go on up to that many pairs.
    `family` is the number of comparisons that are decided one by one, and of which none may be wrong about a change.
    `own` are the tolerances of operators by name or pattern. `past` is the log-ratio that a series of builds moved by
    before, from one to the next. `sampling` are the seconds for which a pair takes samples of a case, None for as long
    as it gains by them: until its ratio is known within a share, the `precision`, or half of the tolerance.
    """

    tolerance: float = TOLERANCE
    pairs: int = FIRST_PAIRS
    floor: float = 0.0
    most: int | None = None
    family: int = 1
    own: Mapping[str, float] = field(default_factory=dict)
    past: float = 0.0
    sampling: float | None = None
    precision: float | None = None

    @property
    def tolerances(self) -> Tolerances:
        """The tolerance of each operator."""
        return Tolerances(self.tolerance, self.own)

    def for_operator(self, name: str) -> Rule:
        """Return the rule with the tolerance of an operator.

        >>> Rule(own={"conv*": 0.03}).for_operator("conv2d").tolerance
        0.03
        """
        return replace(self, tolerance=self.tolerances.of(name)) if self.own else self

    @property
    def error(self) -> float:
        """The error of the interval of stage 2 that a change is called by, over all of its looks.

        >>> round(Rule().error, 4), Rule(family=200).error
        (0.05, 0.0025)
        """
        return min(1 - CONFIDENCE, OF_FAMILY / 2 / self.family / (DISCOVERY_RATE / 2))

    @property
    def one_stage(self) -> float:
        """The confidence at which stage 1 decides alone.

        >>> Rule().one_stage, Rule(family=200).one_stage
        (0.999, 0.999875)
        """
        return max(ONE_STAGE, 1 - OF_FAMILY / 2 / self.family)

    @property
    def looks(self) -> tuple[int, ...]:
        """The numbers of pairs at which stage 1 looks.

        >>> Rule().looks, Rule(most=50).looks
        ((5, 8, 12), (5, 8, 12, 20, 32, 50))
        """
        looks = [math.ceil(self.pairs * share) for share in LOOKS]
        if self.most is None:
            return tuple(looks)
        while looks[-1] < self.most:
            looks.append(math.ceil(looks[-1] * GROWTH))
        return tuple(dict.fromkeys(min(look, max(self.most, self.pairs)) for look in looks))

    def second_looks(self, stage1: Sequence[float]) -> tuple[int, ...]:
        """Return the numbers of fresh pairs at which stage 2 looks.

        Fixed before the first of them is measured: what the spread of stage 1 asks for, then the looks that are left.
        The first is enough for an interval no wider on either side than the tolerance, or than half of what lies
        between the tolerance and the change that stage 1 saw.

        >>> Rule().second_looks([0.050, 0.052, 0.048, 0.051, 0.049]), Rule().second_looks([0.02, 0.08, 0.01, 0.09, 0.1])
        ((5, 8, 12), (12,))
        >>> Rule().second_looks([0.17, 0.23, 0.16, 0.24, 0.25])
        (5, 8, 12)
        """
        effect = abs(fmean(stage1)) - self.band
        first = self._enough(stdev(stage1), max(self.band, effect / 2))
        return (first, *(look for look in self.looks if look > first))

    def with_floor(self, floor: Floor | None) -> Rule:
        """Return the rule for an operator whose noise is known: more pairs where it is noisy, and its floor.

        >>> Rule().with_floor(None).looks
        (5, 8, 12)
        """
        if floor is None:
            return self
        return replace(self, pairs=self._enough(floor.spread, self.band), floor=floor.moved)

    def _enough(self, spread: float, width: float) -> int:
        """Return how many pairs of that spread make an interval as narrow as `width`, from first to third look."""
        most = self.looks[: len(LOOKS)][-1]
        counts = range(self.pairs, most)
        upper = 1 - self.error / 2
        return next((k for k in counts if t_quantile(upper, k - 1) * spread / math.sqrt(k) <= width), most)

    @property
    def band(self) -> float:
        """The tolerance as a log-ratio."""
        return math.log1p(self.tolerance)

    @property
    def change(self) -> float:
        """The log-ratio that a change must be beyond."""
        return max(self.band, self.floor, self.past)


def spending(looks: Sequence[int]) -> list[float]:
    """Return the share of the error that each look may spend.

    Lan and DeMets, Biometrika 70 (1983), 659-663, with their function after Pocock, by the share of all pairs.

    >>> [round(share, 2) for share in spending((5, 8, 12))]
    [0.54, 0.22, 0.24]
    """
    shares = [math.log1p((math.e - 1) * look / looks[-1]) for look in looks]
    return [after - before for before, after in zip([0.0, *shares], shares)]


def paired_test(ratios: Sequence[float]) -> PairedTest:
    """Return the test of the mean of log-ratios, without the ends where there are pairs enough."""
    return PairedTest.of_trimmed_mean(ratios, TRIM) if len(ratios) >= TRIMMED_FROM else PairedTest.of(ratios)


def screen(
    stage1: Mapping[int, Sequence[float]], look: int, rule: Rule, bands: Mapping[int, float] | None = None
) -> tuple[set[int], set[int]]:
    """Return which operators are flagged for stage 2, and which are the same, at a look.

    `stage1` holds the log-ratios of the operators that are still open. Every other one goes on to the next look.
    `bands` are the tolerances as log-ratios, where operators have their own.
    """
    bands = bands or dict.fromkeys(stage1, rule.band)
    tests = {key: paired_test(ratios) for key, ratios in stage1.items() if len(ratios) >= LEAST_PAIRS}
    share = spending(rule.looks)[look]
    places = discoveries([test.p_value() for test in tests.values()], DISCOVERY_RATE * share)
    flagged = {
        key for (key, test), stands_out in zip(tests.items(), places) if stands_out and abs(test.mean) > bands[key] / 2
    }
    confidence = 1 - (1 - CONFIDENCE) * share
    same = {key for key, test in tests.items() if key not in flagged and _inside(test.interval(confidence), bands[key])}
    return flagged, same


def decide_early(stage1: Sequence[float], rule: Rule) -> Verdict | None:
    """Return the verdict on an operator whose first stage needs no second; None where it does.

    Stage 1 is looked at because it stands out. Here that cannot matter: the interval at 99.9 % is beyond the tolerance,
    and beyond the floor of the operator, and so is each single pair. Of identical code, drawn from the pairs of
    `benchmarks/false_alarms.py`, one comparison in 75,000 is so.
    """
    if len(stage1) < ENOUGH_FOR_ONE:
        return None
    test = paired_test(stage1)
    sign = math.copysign(1.0, test.mean)
    interval = test.interval(rule.one_stage)
    nearer = min(sign * end for end in interval)
    if min(nearer, *(sign * ratio for ratio in stage1)) <= rule.change or _too_wide(interval, test.mean):
        return None
    percent = f"{100 * rule.one_stage:.5g}%"
    reason = f"the first pairs were enough: all {len(stage1)} pairs and their {percent} interval are beyond"
    word = "slower" if test.mean > 0 else "faster"
    return _verdict(word, test, stage1, f"{reason} {_share(rule.change)}", confidence=rule.one_stage)


def manifold(stage1: Sequence[float], rule: Rule, *, is_long: bool = False) -> Verdict | None:
    """Return the verdict on an operator whose pairs, three or more, are all far beyond the tolerance; None elsewhere.

    No look is spent on it: identical code has no such pairs (`benchmarks/three_pairs.py`). They are beyond 3 times, or
    where a call `is_long` beyond 1.5 times with little spread. The interval must be beyond the tolerance and the floor,
    too, and not span more than the change.

    >>> manifold([1.36, 1.38, 1.37], Rule()).reason
    'all 3 pairs are beyond 3 times'
    >>> manifold([0.65, 0.72, 0.67], Rule(), is_long=True).reason
    'all 3 pairs are beyond 1.5 times, and so is their 99% interval beyond ±2%'
    """
    if len(stage1) < LEAST_PAIRS:
        return None
    test = paired_test(stage1)
    sign = math.copysign(1.0, test.mean)
    nearest = min(sign * ratio for ratio in stage1)
    of_several = OF_SEVERAL if rule.family == 1 else max(OF_SEVERAL, rule.one_stage)
    for factor, confidence in ((MANIFOLD, CONFIDENCE), (SEVERAL, of_several))[: 1 + is_long]:
        if nearest <= math.log(factor):
            continue
        if (verdict := decide_early(stage1, rule)) is not None:
            return verdict
        interval = test.interval(confidence)
        if min(sign * end for end in interval) <= rule.change or _too_wide(interval, test.mean):
            continue
        beyond = f"{factor:g} times" if sign > 0 else f"1/{factor:g} of the base"
        reason = f"all {len(stage1)} pairs are beyond {beyond}"
        if confidence > CONFIDENCE:
            reason += f", and so is their {100 * confidence:.5g}% interval beyond {_share(rule.change)}"
        return _verdict("slower" if sign > 0 else "faster", test, stage1, reason, confidence=confidence)
    return None


def decide(ratios: Sequence[float], rule: Rule) -> Verdict:
    """Return the verdict on an operator that stage 1 did not flag."""
    if len(ratios) < LEAST_PAIRS:
        return interrupted(ratios, "too few pairs had enough undisturbed samples", _more(rule))
    test = paired_test(ratios)
    if _inside(test.interval(CONFIDENCE), rule.band):
        return _verdict("same", test, ratios, f"the interval lies within {_share(rule.band)}")
    return _inconclusive(test, ratios, f"the interval is wider than {_share(rule.band)}", rule)


def confirm(stage1: Sequence[float], stage2: Sequence[float], rule: Rule, share: float = 1.0) -> Verdict:
    """Return the verdict on an operator that stage 1 flagged, from the fresh pairs of stage 2.

    `share` is what the look may spend of the error.
    """
    if len(stage2) < LEAST_PAIRS:
        return interrupted(stage1, "too few pairs of the second stage were clean", _more(rule))
    first, test = paired_test(stage1), paired_test(stage2)
    if _inside(test.interval(1 - (1 - CONFIDENCE) * share), rule.band):
        return _verdict("same", test, stage2, "the second stage did not confirm the first")
    interval = test.interval(1 - rule.error * share)
    earlier = first.interval(CONFIDENCE)
    apart = max(interval[0] - earlier[1], earlier[0] - interval[1])
    agree = first.mean * test.mean > 0 and apart <= rule.band
    clear = interval[0] > 0 or interval[1] < 0
    if agree and _too_wide(interval, test.mean):
        return _inconclusive(test, stage2, f"the interval spans a factor of {_factor(interval):.2g}", rule)
    if agree and clear and abs(test.mean) > rule.change:
        word = "slower" if test.mean > 0 else "faster"
        return _verdict(word, test, stage2, "both stages agree")
    if not agree:
        ratios = f"{math.exp(first.mean):.3f} and {math.exp(test.mean):.3f}"
        return _inconclusive(test, stage2, f"the two stages disagree: {ratios}", rule)
    if not clear:
        return _inconclusive(test, stage2, "the second stage does not rule out no change", rule)
    return _inconclusive(test, stage2, _not_beyond(rule), rule)


def interrupted(ratios: Sequence[float], reason: str, settle: str | None) -> Verdict:
    """Return the verdict on an operator whose pairs ended too early, with the estimate so far where there is one."""
    if len(ratios) < LEAST_PAIRS:
        reason = f"{reason}; there is no ratio below {LEAST_PAIRS} usable pairs"
        return Verdict("inconclusive", None, None, reason, len(ratios), settle)
    return _verdict("inconclusive", paired_test(ratios), ratios, reason, settle)


def _not_beyond(rule: Rule) -> str:
    if rule.past > max(rule.floor, rule.band):
        return f"a change is seen, but this series moved by up to {math.expm1(rule.past):.1%} between builds before"
    if rule.floor > rule.band:
        return f"a change is seen, but identical code varies by {math.expm1(rule.floor):.1%} here"
    return f"a change is seen, but not beyond {_share(rule.band)}"


def _share(band: float) -> str:
    """Write a log-ratio as a share either way, as `±2%`."""
    return f"±{100 * math.expm1(band):.3g}%"


def _inside(interval: tuple[float, float], band: float) -> bool:
    return -band < interval[0] and interval[1] < band


def _factor(interval: tuple[float, float]) -> float:
    """Return the factor that an interval of log-ratios spans."""
    return math.exp(interval[1] - interval[0])


def _too_wide(interval: tuple[float, float], mean: float) -> bool:
    """Whether an interval of log-ratios says little more than which way a change goes.

    It spans more than the factor `WIDEST` and more than the change itself.
    """
    return interval[1] - interval[0] > max(math.log(WIDEST), abs(mean))


def _verdict(
    word: str,
    test: PairedTest,
    ratios: Sequence[float],
    reason: str,
    settle: str | None = None,
    confidence: float = CONFIDENCE,
) -> Verdict:
    low, high = test.interval(confidence)
    bounds = (math.exp(low), math.exp(high))
    return Verdict(word, math.exp(test.mean), bounds, reason, len(ratios), settle, confidence)


def _inconclusive(test: PairedTest, ratios: Sequence[float], reason: str, rule: Rule) -> Verdict:
    return _verdict("inconclusive", test, ratios, reason, _pairs_needed(test, ratios, rule))


def _pairs_needed(test: PairedTest, ratios: Sequence[float], rule: Rule) -> str:
    """Say how many pairs would make the interval narrow enough to tell this mean from the nearer bound."""
    margin = abs(abs(test.mean) - rule.band)
    spread = test.error * math.sqrt(len(ratios))
    count = len(ratios) * 2 if margin <= 0 else math.ceil((2.2 * spread / margin) ** 2) + 2
    count = max(count, len(ratios) + 1)
    if count > 20 * len(ratios):
        return "the change is as large as the tolerance: choose another `--tolerance`"
    return f"about {count} pairs instead of {len(ratios)}: `--settle --max-pairs {count}`"


def _more(rule: Rule) -> str:
    return f"a quieter machine, or `--pairs {2 * rule.pairs}`"


@dataclass(frozen=True)
class Progress:
    """How far one comparison came: the seconds of its pairs, how many they are, how many it lacks at most.

    A decided one needs no more pairs, and shows how long a pair takes.
    """

    seconds: float
    pairs: int
    missing: int


def sufficient(elapsed: float, progress: Sequence[Progress]) -> float | None:
    """Return the budget that brings every comparison to its end, in seconds; None where no pair has been timed.

    A comparison without a pair counts as one of the slowest.

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
