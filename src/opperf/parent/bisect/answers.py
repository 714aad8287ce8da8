"""What is said of an operator: the posterior over the steps between builds, and the answer once it is clear."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import pairwise

from opperf.domain.bisection import Answer, Probe, Step
from opperf.domain.dataclass import dataclass
from opperf.domain.plan import Trial
from opperf.domain.stats.significance import PairedTest
from opperf.domain.stats.steps import FLOOR, Observation, Posterior
from opperf.parent.contest import Contest

#: The probability at which steps are named, and the one at which they are compared directly.
LIKELY_ENOUGH, DIRECT = 0.95, 0.9
#: How often one build, and a pair of neighbours, is measured at most.
MOST_LOOKS, MOST_DIRECT = 6, 3
#: Standard errors that a step must be from nothing in the direct comparisons of its neighbours.
SURE = 2.5
#: Share of the tolerance that builds without a change may lie apart: 0.6 to 0.9 % were seen, by where code lies.
SHARE_OF_BAND = 1 / 3


@dataclass
class Subject:
    """One case and direction, what was measured of it, and what is said of it."""

    trial: Trial
    observations: list[tuple[str, str, float, float, int]] = field(default_factory=list)
    answer: Answer | None = None
    steps: dict[tuple[str, str], Contest] = field(default_factory=dict)

    def pooled_test(self, base: str, new: str) -> PairedTest | None:
        """Return what all comparisons of two builds say together, None where there is none."""
        several = [one for one in self.observations if one[:2] == (base, new)]
        if not several:
            return None
        weights = [1 / max(error, 1e-6) ** 2 for *_, error, _ in several]
        mean = math.fsum(weight * one[2] for weight, one in zip(weights, several)) / math.fsum(weights)
        return PairedTest(mean, math.fsum(weights) ** -0.5, sum(one[4] for one in several) - 1)

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
            probes=self.probes,
        )

    @property
    def probes(self) -> tuple[Probe, ...]:
        """All that was measured of it."""
        return tuple(Probe(*one) for one in self.observations)


class Candidates:
    """The builds that are searched, from good to bad; what cannot be built is dropped."""

    def __init__(self, names: Sequence[str]) -> None:
        self._every, self.names = list(names), list(names)
        self.ends = self.names[0], self.names[-1]

    def drop(self, name: str) -> None:
        """Leave out a build; the ends stay."""
        if name not in self.ends:
            self.names.remove(name)

    def neighbours(self, step: int) -> tuple[str, str]:
        """Return the builds before and after a step."""
        return self.names[step - 1], self.names[step]

    def dropped_between(self, before: str, after: str) -> tuple[str, ...]:
        """Return what was dropped between two neighbours."""
        return tuple(self._every[self._every.index(before) + 1 : self._every.index(after)])


class Judge:
    """What is said of subjects, by all that was measured of them."""

    def __init__(
        self, candidates: Candidates, band: float, pairs: int, spent: Callable[[], bool], *, counts: bool
    ) -> None:
        """Hold changes within `band` for none; `counts` are of instructions, and `spent` tells whether time is over."""
        self._candidates, self._band, self._pairs, self._spent = candidates, band, pairs, spent
        self._counts = counts
        self.stopped = False
        self._posteriors: dict[tuple[int, int, int], Posterior] = {}

    def differs(self, subject: Subject) -> bool:
        """Whether the two ends differ clearly."""
        test = subject.pooled_test(*self._candidates.ends)
        return test is not None and abs(test.mean) > max(self._band, SURE * test.error)

    def unchanged_answer(self, subject: Subject, test: PairedTest, reason: str) -> Answer:
        """Return the answer that nothing has changed."""
        return replace(subject.plain(*self._candidates.ends), kind="same", reason=reason, ratio=math.exp(test.mean))

    def _posterior(self, subject: Subject) -> Posterior:
        # Observations are only added, and builds only left out, so their counts tell one posterior from another.
        key = id(subject), len(subject.observations), len(self._candidates.names)
        if key in self._posteriors:
            return self._posteriors[key]
        places = {name: place for place, name in enumerate(self._candidates.names)}
        observations = [
            Observation(places[base], places[new], log_ratio, error)
            for base, new, log_ratio, error, _ in subject.observations
            if base in places and new in places
        ]
        floor = max(FLOOR, SHARE_OF_BAND * self._band)
        self._posteriors[key] = Posterior(len(self._candidates.names), observations, floor)
        return self._posteriors[key]

    def direct(self, subject: Subject) -> list[tuple[str, str]]:
        """Return the neighbours of likely steps whose own comparison is not clear yet."""
        best = self._posterior(subject).best
        if best.probability < DIRECT or not best.steps:
            return []
        return [pair for pair in map(self._candidates.neighbours, best.steps) if not self._is_direct(subject, pair)]

    def _is_direct(self, subject: Subject, pair: tuple[str, str]) -> bool:
        """Whether neighbours were compared and differ, or were compared as often as they are at most."""
        count = sum(one[:2] == pair for one in subject.observations)
        test = subject.pooled_test(*pair)
        return test is not None and (abs(test.mean) > SURE * test.error or count >= MOST_DIRECT)

    def most_telling(self, subjects: Sequence[Subject], looks: Mapping[str, int]) -> str | None:
        """Return the build whose level is least certain over all subjects; None where all were measured enough."""
        posteriors = [self._posterior(subject) for subject in subjects]

        def variance(place: int) -> float:
            return math.fsum(one.uncertainty(place) for one in posteriors)

        names = self._candidates.names
        places = [i for i in range(1, len(names) - 1) if looks.get(names[i], 0) < MOST_LOOKS]
        return names[max(places, key=variance)] if places else None

    def answer(self, subject: Subject) -> Answer | None:
        """Return what is said of a subject, None while it is open."""
        if subject.answer is not None:
            return subject.answer
        best = self._posterior(subject).best
        pairs = [self._candidates.neighbours(step) for step in best.steps]
        if best.probability < LIKELY_ENOUGH or any(subject.pooled_test(*pair) is None for pair in pairs):
            return None
        plain = replace(subject.plain(*self._candidates.ends), probability=best.probability)
        if not best.steps:
            reason = "every build is a little different: no step stands out"
            return replace(plain, kind="slope", reason=reason, between=self._candidates.ends)
        steps = [self._step(subject, *pair) for pair in pairs]
        if None in steps:
            return None if not all(self._is_direct(subject, pair) for pair in pairs) else self.open(subject)
        # A change within the tolerance is not reported, however certain it is.
        culprits = tuple(one for one in steps if one is not None and abs(math.log(one.ratio)) > self._band)
        if not culprits:
            return self.open(subject)
        reason = "; ".join([*(_say(one, counts=self._counts) for one in culprits), *self._more(subject, culprits)])
        return replace(plain, kind="steps", reason=reason, steps=culprits)

    def _more(self, subject: Subject, steps: Sequence[Step]) -> Iterator[str]:
        """Say between which builds there is more than the steps that are named: beyond two, no model has it."""
        good, bad = self._candidates.ends
        stretches = pairwise([good, *(name for one in steps for name in (one.before, one.after)), bad])
        for first, last in [*stretches][::2]:
            ends = [subject.pooled_test(good, name) for name in (first, last) if name != good]
            if first == last or None in ends:
                continue
            tests = [one for one in ends if one is not None]
            change = tests[-1].mean - (tests[0].mean if len(tests) > 1 else 0.0)
            error = math.sqrt(math.fsum(one.error**2 for one in tests))
            if abs(change) > max(2 * self._band, 2 * SURE * error):
                yield f"from {first} to {last} it changes by {math.expm1(change):+.1%} more: bisect these two as well"

    def _step(self, subject: Subject, before: str, after: str) -> Step | None:
        """Return the step between two neighbours, None where their own comparison does not show it."""
        test = subject.pooled_test(before, after)
        if test is None or abs(test.mean) <= SURE * test.error:
            return None
        low, high = test.interval()
        between = self._candidates.dropped_between(before, after)
        return Step(before, after, math.exp(test.mean), (math.exp(low), math.exp(high)), test.freedom + 1, between)

    def open(self, subject: Subject) -> Answer:
        """Return what is said of a subject that no step is named of."""
        plain = subject.plain(*self._candidates.ends)
        if subject.pooled_test(*self._candidates.ends) is None:
            return replace(
                plain,
                kind="failed",
                reason="good and bad were not compared: the time was over, or too few pairs could be measured",
            )
        if not self.differs(subject):
            return replace(plain, reason="the two ends do not differ clearly; use more `--pairs` to decide")
        low, high = self.span(subject)
        place = (self._candidates.names[low], self._candidates.names[high])
        if self.stopped:
            advice = "it was stopped before it was decided"
        elif self._spent():
            advice = "the time was over before it was decided; use a longer `--budget`"
        else:
            advice = f"{self._pairs_needed(subject)} would decide it"
        reason = f"inconclusive between {place[0]} and {place[1]}: {advice}"
        return replace(plain, reason=reason, between=place)

    def _pairs_needed(self, subject: Subject) -> str:
        test = subject.pooled_test(*self._candidates.ends)
        assert test is not None
        share = SURE * test.error / max(abs(test.mean), 1e-6)
        return f"about `--pairs {math.ceil(share**2 * (test.freedom + 1) * 4) + self._pairs}`"

    def span(self, subject: Subject) -> tuple[int, int]:
        """Return the places between which the change is likely to be."""
        return self._posterior(subject).bracket(LIKELY_ENOUGH)


def _say(step: Step, *, counts: bool) -> str:
    share = step.ratio - 1 if step.ratio > 1 else 1 - step.ratio
    alternatives = f" (or one of {', '.join(step.between)}, which cannot be built)" if step.between else ""
    if counts:
        word = "more" if step.ratio > 1 else "fewer"
        return f"{step.after} executes {share:.1%} {word} instructions than {step.before}{alternatives}"
    word = "slower" if step.ratio > 1 else "faster"
    return f"{step.after} is {share:.1%} {word} than {step.before}{alternatives}"
