"""What is said of an operator: the posterior over the steps between builds, and the answer once it is clear."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from itertools import pairwise

from opperf.domain.dataclass import dataclass
from opperf.domain.metric import METRICS, Metric
from opperf.domain.plan import Trial
from opperf.domain.stats.significance import PairedTest
from opperf.domain.units import plural
from opperf.parent.analysis.steps import FLOOR, Observation, Posterior, Story
from opperf.parent.commands.bisect.sentences import tell_steps, tell_story
from opperf.parent.documents.bisection import Answer, Probe, Step
from opperf.parent.measuring.contest import Contest

#: The probability at which steps are named.
LIKELY_ENOUGH = 0.95
#: Standard errors that a step must be from nothing in the direct comparisons of its neighbours.
SURE = 2.5
#: Those by fewer pairs than a first look of `compare` has.
SURE_BY_FEW = 5.0
#: Share of the tolerance that builds without a change may lie apart: 0.6 to 0.9 % were seen, by where code lies.
SHARE_OF_BAND = 1 / 3
#: Good and bad are close if they differ by less than so many times the tolerance: something may lie between them that
#: is larger, and goes back.
CLOSE = 2.5
#: How many times the tolerance a build between good and bad must differ where they do not: one beyond it may be chance.
UNLIKE = 1.5
#: A step that is certain has the search for the others end sooner that are so many times smaller.
SMALL = 4
#: How often the ends are compared at most, where nothing between them stands out and they may be the same or not.
MOST_ENDS = 5
#: How much pairs of an operator scatter before it is measured, as the standard deviation of their log-ratios, and of
#: how many pairs' worth that is; and of how many at most what the other comparisons say is.
SCATTER, SCATTER_PAIRS, MOST_SCATTER_PAIRS = 0.03, 1, 4

#: The error of what is counted.
EXACT_ERROR = 1e-3
#: How many posteriors are remembered: those of the last comparisons.
MOST_POSTERIORS = 100


@dataclass
class Subject:
    """One case and direction, what was measured of it, and what is said of it.

    `unmeasurable` are builds that fail for it alone, and `scatter` the squares and the freedom of each comparison.
    """

    trial: Trial
    probes: list[Probe] = field(default_factory=list)
    answer: Answer | None = None
    steps: dict[tuple[str, str], Contest] = field(default_factory=dict)
    unmeasurable: set[str] = field(default_factory=set)
    scatter: list[tuple[float, int]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """How it is called where operators are told apart."""
        return f"{self.trial.case.operator} {self.trial.direction}"

    def between(self, base: str, new: str) -> list[Probe]:
        """Return all comparisons of two builds, whichever was the base, as of this base."""
        turned = [replace(one, base=one.new, new=one.base, log_ratio=-one.log_ratio) for one in self.probes]
        return [one for one in (*self.probes, *turned) if (one.base, one.new) == (base, new)]

    def pairs(self, base: str, new: str) -> int:
        """Return the pairs of processes by which two builds were compared."""
        return sum(one.pairs for one in self.between(base, new))

    def pooled_test(self, base: str, new: str) -> PairedTest | None:
        """Return one test of all comparisons of two builds, None where there is none.

        Pairs of other builds know the scatter of these, too: two pairs say little of their own.
        """
        observations = self.between(base, new)
        if not observations:
            return None
        weights = [1 / max(one.error, 1e-6) ** 2 for one in observations]
        mean = math.fsum(weight * one.log_ratio for weight, one in zip(weights, observations)) / math.fsum(weights)
        own = sum(one.pairs - 1 for one in observations)
        others = sum(one.pairs - 1 for one in self.probes) - own
        return PairedTest(mean, math.fsum(weights) ** -0.5, max(1, own + min(MOST_SCATTER_PAIRS, others)))

    @property
    def spread(self) -> tuple[float, int]:
        """What pairs of it scatter by, as a standard deviation, and of how many degrees of freedom that is."""
        squares = SCATTER_PAIRS * SCATTER**2 + math.fsum(one for one, _ in self.scatter)
        freedom = SCATTER_PAIRS + sum(freedom for _, freedom in self.scatter)
        return math.sqrt(squares / freedom), min(MOST_SCATTER_PAIRS, freedom)

    def plain(self, good: str, bad: str) -> Answer:
        """Return an answer that says nothing yet, but how far the two ends differ."""
        test = self.pooled_test(good, bad)
        interval = None if test is None else test.interval()
        return Answer(
            case=self.trial.case,
            direction=self.trial.direction,
            kind="inconclusive",
            reason="",
            ratio=None if test is None else math.exp(test.mean),
            interval=None if interval is None else (math.exp(interval[0]), math.exp(interval[1])),
            probes=tuple(self.probes),
        )


class Candidates:
    """The builds that are searched, from good to bad; what cannot be built is dropped."""

    def __init__(self, names: Sequence[str], parts: int) -> None:
        """Take the builds, and into how many parts those divide them that are looked at though the ends are close."""
        self.every, self._names = list(names), list(names)
        self.ends = self.every[0], self.every[-1]
        #: The most places that may lie between two builds that are looked at.
        self.stride = max(1, round((len(names) - 1) / parts))

    def drop(self, name: str) -> None:
        """Leave out a build; the ends stay."""
        if name in self._names and name not in self.ends:
            self._names.remove(name)

    def names(self, subject: Subject) -> list[str]:
        """Return the builds that a subject can be measured with, as far as is known."""
        return [name for name in self._names if name not in subject.unmeasurable]


class Judge:
    """What is said of subjects, by all that was measured of them."""

    def __init__(
        self,
        candidates: Candidates,
        band: float,
        pairs: int,
        spent: Callable[[], bool],
        metric: Metric = METRICS["time"],
    ) -> None:
        """Hold changes of a metric within `band` for none; `spent` tells whether time is over."""
        self._candidates, self.band, self._pairs, self._spent = candidates, band, pairs, spent
        self.metric, self._exact = metric, metric.compared == "exact"
        self.floor = SHARE_OF_BAND * band if self._exact else max(FLOOR, SHARE_OF_BAND * band)
        self.stopped = False
        self._posteriors: dict[tuple[object, ...], tuple[Posterior, list[Story]]] = {}

    def differs(self, subject: Subject) -> bool:
        """Whether the two ends differ clearly."""
        test = subject.pooled_test(*self._candidates.ends)
        return test is not None and abs(test.mean) > max(self.band, SURE * test.error)

    def same(self, subject: Subject) -> bool:
        """Whether the two ends are the same, as far as the tolerance goes."""
        test = subject.pooled_test(*self._candidates.ends)
        return test is not None and max(map(abs, test.interval())) < self.band

    def unclear_ends(self, subject: Subject) -> bool:
        """Whether more pairs may tell if the ends, between which nothing stands out, are the same.

        Where they seem to differ and nothing explains it, that is as unclear.
        """
        story = self.stories(subject)[0]
        if story.gaps or story.slope or self.same(subject):
            return False
        return len(subject.between(*self._candidates.ends)) < MOST_ENDS

    def expected_error(self, subject: Subject, pairs: int) -> float:
        """Return the standard error of a comparison to come."""
        return EXACT_ERROR if self._exact else subject.spread[0] / math.sqrt(pairs)

    def least(self, subject: Subject) -> float:
        """Return the bound that a step must be beyond: more than the tolerance where good and bad do not differ."""
        return self.band if self.differs(subject) else UNLIKE * self.band

    def posterior(self, subject: Subject, more: Probe | None = None) -> Posterior:
        """Return the posterior over the steps of a subject, also with one more comparison that may come."""
        return self._weigh(subject, more)[0]

    def stories(self, subject: Subject, more: Probe | None = None) -> list[Story]:
        """Return the stories of a subject, the most likely first."""
        return self._weigh(subject, more)[1]

    def _weigh(self, subject: Subject, more: Probe | None) -> tuple[Posterior, list[Story]]:
        # Probes are only added, and builds only left out, so their counts tell one posterior from another.
        names = self._candidates.names(subject)
        key = id(subject), len(subject.probes), len(names), more
        if key not in self._posteriors:
            if len(self._posteriors) > MOST_POSTERIORS:
                self._posteriors.clear()
            places = {name: place for place, name in enumerate(names)}
            observations = [
                Observation(places[one.base], places[one.new], one.log_ratio, one.error)
                for one in (*subject.probes, *([] if more is None else [more]))
                if one.base in places and one.new in places
            ]
            posterior = Posterior(len(names), observations, self.floor)
            self._posteriors[key] = posterior, posterior.stories(self.least(subject))
        return self._posteriors[key]

    def pair(self, subject: Subject, gap: range) -> tuple[str, str]:
        """Return the builds on either side of a gap."""
        names = self._candidates.names(subject)
        return names[gap[0] - 1], names[gap[-1]]

    def certain(self, subject: Subject, more: Probe | None = None) -> bool:
        """Whether the most likely story is likely enough, and each of its steps has one place."""
        story = self.stories(subject, more)[0]
        return story.placed and story.probability >= LIKELY_ENOUGH

    def likely_steps(self, subject: Subject, share: float) -> list[range]:
        """Return the places of one build at which there is a step in stories of so much probability, in order."""
        masses: dict[tuple[range, bool], float] = {}
        for story in self.stories(subject):
            for gap, height in set(zip(story.gaps, (height > 0 for height in story.heights))):
                if len(gap) == 1:
                    masses[gap, height] = masses.get((gap, height), 0.0) + story.probability
        return sorted((gap for (gap, _), mass in masses.items() if mass >= share), key=lambda gap: gap[0])

    def confirmed(self, subject: Subject, pair: tuple[str, str]) -> bool:
        """Whether neighbours were compared and differ."""
        test = subject.pooled_test(*pair)
        return test is not None and self.clear(test.mean, test.error, subject.pairs(*pair))

    def clear(self, mean: float, error: float, pairs: int) -> bool:
        """Whether a log-ratio is surely not that of no change; one that is not far off needs as many as a first look.

        Neighbours are compared because they are suspected: the first two pairs may have been what made them so.
        """
        return abs(mean) > (SURE if pairs >= self._pairs else SURE_BY_FEW) * error

    def small_rest(self, subject: Subject) -> bool:
        """Whether all that is not certain is small beside a step that is certain and confirmed."""
        certain = self.likely_steps(subject, LIKELY_ENOUGH)
        heights = [test.mean for gap in certain if (test := subject.pooled_test(*self.pair(subject, gap))) is not None]
        if len(heights) < len(certain) or not all(self.confirmed(subject, self.pair(subject, gap)) for gap in certain):
            return False
        rest = [
            abs(height)
            for story in self.stories(subject)
            if story.probability > 1 - LIKELY_ENOUGH
            for gap, height in zip(story.gaps, story.heights)
            if gap not in certain
        ]
        return max(map(abs, heights), default=0.0) > SMALL * max(rest, default=0.0)

    def unseen(self, subject: Subject) -> str | None:
        """Return a build that is to be looked at because good and bad are close, None where there is none left."""
        test = subject.pooled_test(*self._candidates.ends)
        if test is None or abs(test.mean) >= CLOSE * self.band:
            return None
        measured = self.posterior(subject).measured
        low, high = max(pairwise(measured), key=lambda gap: gap[1] - gap[0])
        return self._candidates.names(subject)[(low + high) // 2] if high - low > self._candidates.stride else None

    def answer(self, subject: Subject, *, last: bool = False) -> Answer | None:
        """Return the answer on a subject, None while it is open; with `last`, what there is to say."""
        if subject.answer is not None:
            return subject.answer
        if subject.pooled_test(*self._candidates.ends) is None:
            return self._open(subject) if last else None
        story, certain = self.stories(subject)[0], self.certain(subject)
        confirmed = all(self.confirmed(subject, self.pair(subject, gap)) for gap in story.gaps)
        over = self.unseen(subject) is None and not self.unclear_ends(subject)
        if not last and not (certain and confirmed and over):
            return None
        plain = replace(subject.plain(*self._candidates.ends), probability=min(1.0, story.probability))
        if steps := self._steps(subject):
            return replace(plain, kind="steps", reason="; ".join(self._reasons(subject, steps)), steps=steps)
        if certain and story.slope:
            reason = "every build is a little different: no step stands out"
            return replace(plain, kind="slope", reason=reason, between=self._candidates.ends)
        return self._unchanged(subject) or self._open(subject)

    def _reasons(self, subject: Subject, steps: Sequence[Step]) -> Iterator[str]:
        """Say what changes, and what else may, which is not certain."""
        yield from tell_steps(steps, self._candidates.every, self.band, self.metric)
        yield from self._more(subject, steps)
        if not self.certain(subject):
            yield f"this may not be all: {self.tell(subject)}"

    def _unchanged(self, subject: Subject) -> Answer | None:
        """Return the answer that nothing has changed, None where the ends do not say so."""
        test = subject.pooled_test(*self._candidates.ends)
        if test is None or self.differs(subject) or abs(test.mean) >= self.band:
            return None
        reason = "no change beyond the tolerance is certain"
        if self.same(subject):
            reason = "the interval lies within the tolerance"
        looks = len(self.posterior(subject).measured) - 2
        if self.stories(subject)[0].gaps:
            reason += f"; between good and bad, this is likely but not certain: {self.tell(subject)}"
        elif looks > 0:
            reason += f", and of {plural(looks, 'build')} between good and bad none stands out"
        return replace(subject.plain(*self._candidates.ends), kind="same", reason=reason)

    def _more(self, subject: Subject, steps: Sequence[Step]) -> Iterator[str]:
        """Say between which builds there is more than the steps that are named."""
        good, bad = self._candidates.ends
        stretches = pairwise([good, *(name for one in steps for name in (one.before, one.after)), bad])
        for first, last in [*stretches][::2]:
            ends = [subject.pooled_test(good, name) for name in (first, last) if name != good]
            if first == last or None in ends:
                continue
            tests = [one for one in ends if one is not None]
            change = tests[-1].mean - (tests[0].mean if len(tests) > 1 else 0.0)
            error = math.sqrt(math.fsum(one.error**2 for one in tests))
            if abs(change) > max(2 * self.band, 2 * SURE * error):
                yield f"from {first} to {last} it changes by {math.expm1(change):+.1%} more: bisect these two as well"

    def _steps(self, subject: Subject) -> tuple[Step, ...]:
        """Return the steps that are certain, confirmed by their neighbours, and beyond the tolerance."""
        pairs = [self.pair(subject, gap) for gap in self.likely_steps(subject, LIKELY_ENOUGH)]
        steps = [self._step(subject, *pair) for pair in pairs if self.confirmed(subject, pair)]
        return tuple(one for one in steps if abs(math.log(one.ratio)) > self.band)

    def _step(self, subject: Subject, before: str, after: str) -> Step:
        """Return the step between two neighbours that were compared."""
        test = subject.pooled_test(before, after)
        assert test is not None
        low, high = test.interval()
        every = self._candidates.every
        between = tuple(every[every.index(before) + 1 : every.index(after)])
        ratios = math.exp(low), math.exp(high)
        return Step(before, after, math.exp(test.mean), ratios, subject.pairs(before, after), between)

    def _open(self, subject: Subject) -> Answer:
        """Return the answer for a subject while no step of it is certain."""
        plain = subject.plain(*self._candidates.ends)
        test = subject.pooled_test(*self._candidates.ends)
        if test is None:
            return replace(
                plain,
                kind="failed",
                reason="good and bad were not compared: the time was over, or too few pairs could be measured",
            )
        if self.stopped:
            advice = "it was stopped before it was decided"
        elif self._spent():
            advice = "the time was over before it was decided; use a longer `--budget`"
        else:
            advice = f"{self._pairs_needed(test)} would decide it"
        story = self.stories(subject)[0]
        if not self.differs(subject) and not story.gaps:
            return replace(plain, reason=f"the two ends do not differ clearly: {advice}")
        names = self._candidates.names(subject)
        low, high = self.posterior(subject).bracket(LIKELY_ENOUGH, self.least(subject))
        place = names[low], names[high]
        reason = f"inconclusive between {place[0]} and {place[1]}: {advice}; most likely so far: {self.tell(subject)}"
        return replace(plain, reason=reason, between=place, probability=min(1.0, story.probability))

    def _pairs_needed(self, test: PairedTest) -> str:
        share = SURE * test.error / max(abs(test.mean), 1e-6)
        return f"about `--pairs {math.ceil(share**2 * (test.freedom + 1) * 4) + self._pairs}`"

    def tell(self, subject: Subject) -> str:
        """Return the most likely story and its probability as a sentence."""
        return tell_story(self.stories(subject)[0], self._candidates.names(subject), self.metric)
