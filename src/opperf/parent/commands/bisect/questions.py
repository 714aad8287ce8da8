"""Which two builds to compare next: those whose answer tells most per second, by as few pairs as may do.

What a comparison tells is the information in it, as of two normal variables: half the log of one plus the variance of
the build's level over all stories, in those of the comparison. Two pairs are enough where builds differ threefold, so
each comparison starts with two. The same two builds are compared a second time where that still tells something, and
from the third time on only if the answer may be another by that, each time by as many pairs as they had.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from opperf.domain.dataclass import dataclass
from opperf.parent.commands.bisect.answers import Candidates, Judge, Subject
from opperf.parent.documents.bisection import Probe

#: The pairs of a first comparison, and the most of any by those of a first look of `compare`.
FEWEST_PAIRS, MOST_LOOKS = 2, 4
#: How often two builds are compared without a doubt that it matters, and how often at most.
FREE, MOST = 2, 5
#: How many of the best questions are looked at for one that matters.
TRIED = 8
#: The probability at which the neighbours of a step are compared.
DIRECT = 0.9
#: What a comparison has to tell at least, in nats; and what one counts for that confirms a step, that looks at a build
#: because good and bad are close, and that makes sure of the ends where nothing is seen between them.
WORTH, CONFIRMING, LOOKING, CLOSING = 0.02, 0.3, 0.5, 0.03


@dataclass(frozen=True)
class Question:
    """Two builds to compare for some subjects, by so many pairs."""

    base: str
    new: str
    pairs: int
    subjects: tuple[Subject, ...]


class Questions:
    """Finds the next question to ask of builds."""

    def __init__(self, candidates: Candidates, judge: Judge, pairs: int, seconds: Callable[[str, int], float]) -> None:
        """Take what a first look of `compare` has as pairs, and what pairs of a build are likely to cost."""
        self._candidates, self._judge, self._pairs, self._seconds = candidates, judge, pairs, seconds

    def choose(self, subjects: Sequence[Subject]) -> Question | None:
        """Return the question that tells most per second over all subjects, None where none tells anything more."""
        gains: dict[tuple[str, str], list[tuple[Subject, float]]] = defaultdict(list)
        for subject in subjects:
            for pair, gain in self._wishes(subject):
                gains[pair].append((subject, gain))

        def rate(pair: tuple[str, str]) -> float:
            whole = math.fsum(gain for _, gain in gains[pair])
            return whole / self._seconds(pair[1], self._due(gains[pair][0][0], *pair))

        for pair in sorted(gains, key=lambda pair: -rate(pair))[:TRIED]:
            concerned = tuple(one for one, _ in gains[pair] if self.matters(one, *pair))
            if concerned:
                return Question(*pair, max(self._due(one, *pair) for one in concerned), concerned)
        return None

    def _wishes(self, subject: Subject) -> Iterator[tuple[tuple[str, str], float]]:
        """Yield two builds and what their comparison would tell of a subject, for all that would tell enough."""
        judge, names = self._judge, self._candidates.names(subject)
        wishes: dict[tuple[str, str], float] = {}
        if not judge.certain(subject):
            posterior = judge.posterior(subject)
            for place in posterior.telling:
                pair = self._with_end(subject, names[place])
                error = math.hypot(judge.expected_error(subject, self._due(subject, *pair)), judge.floor)
                wishes[pair] = math.log1p(posterior.uncertainty(place, judge.least(subject)) / error**2) / 2
        for gap in judge.likely_steps(subject, DIRECT):
            pair = judge.pair(subject, gap)
            if not judge.confirmed(subject, pair):
                wishes[pair] = max(CONFIRMING, wishes.get(pair, 0.0))
        if (build := judge.unseen(subject)) is not None:
            pair = self._with_end(subject, build)
            wishes[pair] = max(LOOKING, wishes.get(pair, 0.0))
        elif judge.unclear_ends(subject):
            wishes[self._candidates.ends] = CLOSING
        return ((pair, gain) for pair, gain in wishes.items() if gain >= WORTH)

    def _with_end(self, subject: Subject, build: str) -> tuple[str, str]:
        """Return a build with the end that it was compared with less often: with good, if with neither."""
        base = min(self._candidates.ends, key=lambda end: len(subject.between(end, build)))
        return base, build

    def _due(self, subject: Subject, base: str, new: str) -> int:
        """Return by how many pairs two builds are compared next: by two, then by as many as they had."""
        return max(FEWEST_PAIRS, min(subject.pairs(base, new), MOST_LOOKS * self._pairs))

    def matters(self, subject: Subject, base: str, new: str) -> bool:
        """Whether comparing two builds once more may make the story another one, or certain, or no more so."""
        observations = subject.between(base, new)
        if not observations or (base, new) == self._candidates.ends:
            return True
        if self._judge.small_rest(subject):
            return False
        if len(observations) < FREE:
            return True
        if len(observations) >= MOST:
            return False
        test = subject.pooled_test(base, new)
        assert test is not None
        error = self._judge.expected_error(subject, self._due(subject, base, new))
        reach = 2 * math.hypot(error, test.error)
        now = self._outcome(subject, base, new, 0.0, 0.0)
        return any(self._outcome(subject, base, new, test.mean + sign * reach, error) != now for sign in (-1.0, 1.0))

    def _outcome(self, subject: Subject, base: str, new: str, log_ratio: float, error: float) -> tuple[object, ...]:
        """Return the answer if two builds were compared once more with this result; no error is no comparison."""
        judge = self._judge
        more = Probe(base, new, log_ratio, error, FEWEST_PAIRS) if error else None
        story = judge.stories(subject, more)[0]
        test = subject.pooled_test(base, new)
        assert test is not None
        mean, combined, pairs = test.mean, test.error, subject.pairs(base, new)
        if error:
            pairs += self._due(subject, base, new)
            weights = combined**-2, error**-2
            mean, combined = (weights[0] * mean + weights[1] * log_ratio) / sum(weights), sum(weights) ** -0.5
        steps = tuple((gap, height > 0) for gap, height in zip(story.gaps, story.heights))
        return steps, judge.certain(subject, more), judge.clear(mean, combined, pairs)
