"""Two suites in pairs of fresh processes: one measures the first suite, the other the second, by turns.

Each case of a suite takes its turns beside one of the other suite that is as much like it as there is, so that both
meet the same machine. What all calls of either suite take in a pair makes one ratio, and those ratios are decided by
the rule, the looks and the second stage of every comparison. A case that both suites have on the same side is measured
for both at once: it moves neither the ratio of its row nor that of the whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, geometric_mean
from typing import TypeAlias

from opperf.domain.dataclass import dataclass
from opperf.domain.operator_group import group_of
from opperf.domain.plan import Settings, Trial
from opperf.domain.reason import Reason
from opperf.domain.record import Record, Statistics
from opperf.domain.stats.order import median
from opperf.domain.stats.significance import PairedTest, log_interval
from opperf.parent.analysis.verdict import LEAST_PAIRS, Rule
from opperf.parent.documents.comparison import PairValue, Verdict
from opperf.parent.documents.suite_change import AFTER, BEFORE, Part, Row, Unmeasured
from opperf.parent.measuring.comparing import Comparing
from opperf.parent.measuring.contest import Contest
from opperf.parent.measuring.shares import LARGEST, guess
from opperf.parent.workers.duel import Duel
from opperf.parent.workers.pair import Pair

#: What makes a trial; and the pairs of a contest in one of its stages.
Key: TypeAlias = tuple[object, ...]
Stage: TypeAlias = Callable[[Contest], list[PairValue]]
#: Why a case has no time whose process gave no reason.
TOO_FEW = "too few undisturbed samples, or no time left"
NO_PARTNER = "nothing of the other suite could be measured beside it"


@dataclass(frozen=True)
class Calls:
    """Calls of a suite in one module: how many, of which group, and the trials that each of them is."""

    module: str
    group: str
    count: int
    trials: tuple[Trial, ...]


class SuitePairs(Comparing):
    """A comparison of two suites: `decide` it, and read the verdict, the rows and the records."""

    def __init__(
        self,
        suites: tuple[Sequence[Calls], Sequence[Calls]],
        settings: Settings,
        rule: Rule,
        note: Callable[[str], None],
        *,
        plugins: Sequence[Path] = (),
        duel: Callable[..., Pair] = Duel,
    ) -> None:
        """Start nothing yet; each suite has a call at least."""
        super().__init__(settings, rule, note, plugins=plugins, duel=duel)
        self._suites = suites
        self._trials = tuple({trial.key: trial for calls in suite for trial in calls.trials} for suite in suites)
        self._counts = tuple(map(_counts, suites))
        self._failures: dict[Key, str] = {}
        #: The contest that measures a trial, and on which of its sides.
        self._seats: dict[Key, tuple[Contest, int]] = {}
        first, second = (list(trials.values()) for trials in self._trials)
        self._parts: list[Contest] = []
        for pair in partners(first, second):
            self._add(*pair)
        largest = self._parts[0]
        self._whole = Contest(largest.base, largest.new, largest.key)

    def _add(self, base: Trial, new: Trial) -> None:
        """Let two trials take turns; one that is measured elsewhere already keeps the other company."""
        part = Contest(base, new, base)
        self._parts.append(part)
        for place, trial in enumerate((base, new)):
            self._seats.setdefault(trial.key, (part, place))

    def decide(self) -> None:
        """Measure pairs until there is a verdict on the whole, or no time is left."""
        self.run([self._whole])

    @property
    def verdict(self) -> Verdict:
        """The verdict on all calls that could be measured."""
        return self._whole.verdict or Verdict("inconclusive", None, None, "nothing was measured", 0)

    @property
    def log_ratios(self) -> tuple[tuple[float, ...], ...]:
        """What each pair of both stages said of the whole."""
        return tuple(self._whole.ratios1), tuple(self._whole.ratios2)

    def _rule_of(self, contest: Contest) -> Rule:
        return self._rule  # tolerances of single operators say nothing of a whole

    def _prepare(self, contests: Sequence[Contest]) -> None:
        super()._prepare(self._parts)

    def _in_turn(self, contests: Sequence[Contest]) -> list[Contest]:
        """Put what takes most first, on either side; all but the largest get few rounds."""
        ordered = sorted(contests, key=self._cost, reverse=True)
        self._small = {id(part) for part in ordered[LARGEST:]}
        return ordered

    def _cost(self, part: Contest) -> float:
        """Return the seconds of all calls of a contest in the suite that spends more: measured, else guessed."""
        costs = []
        for place, trial in enumerate((part.base, part.new)):
            pairs = (pair.levels for pair in (*part.stage1, *part.stage2))
            times = [levels[place] for levels in pairs if levels is not None]
            calls = max(counts.get(trial.key, 0) for counts in self._counts)
            costs.append(calls * (median(times) if times else guess(trial)))
        return max(costs)

    def _pairs(self, looks: Sequence[tuple[Contest, int]], stage: Stage, *, counted: bool = False) -> None:
        """Measure all cases of both suites in as many pairs of processes as the whole is to have."""
        ((suites, pairs),) = looks
        is_complete = False
        while not is_complete and not self.spent():
            live = [part for part in self._parts if part.failure is None]
            for part in live:
                part.planned = suites.planned
            super()._pairs([(part, pairs) for part in live], stage, counted=counted)
            is_complete = not self._find_partners()
        suites.seconds = math.fsum(part.seconds for part in self._parts)
        stage(suites)[:] = self._sums(stage)
        if not self.spent() and not stage(suites):
            suites.failure = next(iter(self._failures.values()), TOO_FEW)

    def _find_partners(self) -> bool:
        """Give trials another contest whose partner failed; return whether there are any."""
        count = len(self._parts)
        broken = [part for part in self._parts if part.failure is not None]
        for part in broken:
            for place, trial in enumerate((part.base, part.new)):
                if part.at_fault in (place, None):
                    self._failures.setdefault(trial.key, str(part.failure))
        for part in broken:
            for place, trial in enumerate((part.base, part.new)):
                if trial.key in self._failures or self._seats[trial.key][0] is not part:
                    continue
                del self._seats[trial.key]
                others = [one for key, one in self._trials[1 - place].items() if key not in self._failures]
                if others:
                    partner = nearest(trial, others)
                    self._add(*((trial, partner) if place == 0 else (partner, trial)))
                else:
                    self._failures[trial.key] = NO_PARTNER
                    self._seats[trial.key] = part, place
        return len(self._parts) > count

    def _times(self, stage: Stage) -> dict[Key, list[float]]:
        """Return the seconds of a call of each trial in each pair; a pair that lacks one has the mean of the others."""
        live = [stage(part) for part in self._parts if part.failure is None and stage(part)]
        pairs = min(map(len, live), default=0)
        times: dict[Key, list[float]] = {}
        for key, (part, place) in self._seats.items():
            levels = [pair.levels for pair in stage(part)[:pairs]] if part.failure is None else []
            usual = [both[place] for both in levels if both is not None]
            if usual:
                mean = geometric_mean(usual)
                times[key] = [mean if both is None else both[place] for both in levels]
        return times

    def _sums(self, stage: Stage) -> list[PairValue]:
        """Return the values of the whole by each pair; none where one of the suites has no time."""
        times = self._times(stage)
        before, after = (total(suite, times) for suite in self._suites)
        return [
            PairValue(math.log(new / base), {"turn": base}, {"turn": new})
            for base, new in zip(before, after)
            if base and new
        ]

    @property
    def _decisive(self) -> dict[Key, list[float]]:
        """The times of the pairs behind the verdict."""
        is_second = self._whole.stage2 and self._whole.decisive is self._whole.stage2
        return self._times((lambda part: part.stage2) if is_second else (lambda part: part.stage1))

    def rows(self) -> tuple[Row, ...]:
        """Return a row for each group of operators in each module, the largest difference first."""
        times = self._decisive
        places: dict[tuple[str, str], tuple[list[Calls], list[Calls]]] = {}
        for side, suite in enumerate(self._suites):
            for calls in suite:
                places.setdefault((calls.module, calls.group), ([], []))[side].append(calls)
        rows = [
            Row(module, group, _part(both[0], times), _part(both[1], times), _interval(both, times))
            for (module, group), both in places.items()
        ]
        return tuple(sorted(rows, key=lambda row: -abs(row.difference)))

    def unmeasured(self) -> Iterator[Unmeasured]:
        """Yield the calls that are in no sum."""
        times = self._decisive
        for name, suite in zip((BEFORE, AFTER), self._suites):
            missing: dict[tuple[str, str], int] = {}
            for calls in suite:
                lost = [trial for trial in calls.trials if trial.key not in times]
                if lost:
                    place = lost[0].case.operator, self._failures.get(lost[0].key, TOO_FEW)
                    missing[place] = missing.get(place, 0) + calls.count
            for (operator, reason), count in missing.items():
                yield Unmeasured(name, operator, count, reason)

    def records(self) -> tuple[Record, ...]:
        """Return a record of each case on its side, of the processes that measured it."""
        return tuple(self._record(key, *seat) for key, seat in self._seats.items())

    def _record(self, key: Key, part: Contest, place: int) -> Record:
        trial, version = (part.base, part.new)[place], part.versions[place]
        facts: dict[str, object] = {} if version is None else {"version": version}
        pairs = (*part.stage1, *part.stage2)
        values = [side for pair in pairs if (side := (pair.base, pair.new)[place]) is not None]
        if part.failure is not None or not values:
            return Record(trial, "failed", Reason("not_measured", self._failures.get(key, TOO_FEW)), facts=facts)
        clocks = {pair.clock for pair in pairs}
        time = _statistics(values, self.settings.cache, "cpu" if "cpu" in clocks else "wall")
        return Record(trial, "ok", metrics={"time": time}, facts=facts)


def _statistics(values: Sequence[Mapping[str, float]], cache: str, clock: str) -> Statistics:
    """Summarise the processes of a case: each is its median, and the smallest is that of all."""
    medians = [value["median"] for value in values]
    interval = log_interval(medians)
    return Statistics(
        mean=None,
        median=geometric_mean(medians),
        p90=geometric_mean([value["p90"] for value in values]),
        p99=None,
        min=min(value["min"] for value in values),
        max=None,
        stdev=None,
        interval=interval,
        interval_reason=None if interval else f"{len(values)} of the {LEAST_PAIRS} processes that an interval needs",
        precision=None,
        samples=None,
        calls_per_sample=None,
        discarded=None,
        processes=len(values),
        sync="block",
        cache=cache,
        clock=clock,
    )


def partners(first: Sequence[Trial], second: Sequence[Trial]) -> Iterator[tuple[Trial, Trial]]:
    """Yield pairs of trials until each of both has been in one; one that both have is measured on the first side."""
    shared = {trial.key for trial in first}
    left = {trial.key: trial for trial in second if trial.key not in shared}
    for trial in sorted(first, key=guess, reverse=True):
        partner = nearest(trial, [*left.values()] or second)
        left.pop(partner.key, None)
        yield trial, partner
    for trial in left.values():
        yield nearest(trial, first), trial


def nearest(trial: Trial, others: Iterable[Trial]) -> Trial:
    """Return the trial that is most like another: itself, else of the same group and size."""
    group, size = group_of(trial.case.operator), math.log(guess(trial))

    def apart(other: Trial) -> tuple[bool, bool, float]:
        is_other_group = group_of(other.case.operator) != group
        return other.key != trial.key, is_other_group, abs(math.log(guess(other)) - size)

    return min(others, key=apart)


def _counts(suite: Sequence[Calls]) -> dict[Key, int]:
    counts: dict[Key, int] = {}
    for calls in suite:
        for trial in calls.trials:
            counts[trial.key] = counts.get(trial.key, 0) + calls.count
    return counts


def total(suite: Sequence[Calls], times: Mapping[Key, Sequence[float]]) -> list[float]:
    """Return the seconds of all measured calls in each pair."""
    each = [
        [calls.count * math.fsum(pair) for pair in zip(*(times[trial.key] for trial in calls.trials))]
        for calls in suite
        if all(trial.key in times for trial in calls.trials)
    ]
    return [math.fsum(pair) for pair in zip(*each)]


def _part(suite: Sequence[Calls], times: Mapping[Key, Sequence[float]]) -> Part:
    sums = total(suite, times)
    measured = sum(calls.count for calls in suite if all(trial.key in times for trial in calls.trials))
    return Part(sum(calls.count for calls in suite), measured, fmean(sums) if sums else 0.0)


def _interval(
    both: tuple[Sequence[Calls], Sequence[Calls]], times: Mapping[Key, Sequence[float]]
) -> tuple[float, float] | None:
    """Return the interval of the ratio of a row; None where one suite has no such calls, or pairs are too few."""
    ratios = [math.log(after / before) for before, after in zip(*(total(suite, times) for suite in both))]
    if len(ratios) < LEAST_PAIRS:
        return None
    low, high = PairedTest.of(ratios).interval()
    return math.exp(low), math.exp(high)
