"""Measure builds: make their environments, compare two of them, and keep in a journal what was said."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Annotated, TypeAlias

from opperf.domain.errors import InputError, OpperfError
from opperf.domain.plan import Side
from opperf.domain.type_hint import Amount, AtLeast
from opperf.parent.analysis.verdict import paired_test
from opperf.parent.commands.bisect.answers import Candidates, Subject
from opperf.parent.commands.bisect.builds import Builds
from opperf.parent.documents.bisection import LeftOut, Probe
from opperf.parent.measuring.comparing import Comparing
from opperf.parent.measuring.contest import Contest
from opperf.parent.planning.implementations import trial_on
from opperf.parent.planning.side_text import SideText
from opperf.parent.store.search_journal import SearchJournal, check_shares, read_rows

#: The largest log-ratio of two builds, and error of one, that a journal may state: a factor of 22,000.
LARGEST = 10.0
#: The most pairs of processes behind one comparison.
MOST_PAIRS = 1_000_000
#: The fewest pairs that a comparison can be read from: how they scatter is known from the others, too.
LEAST_PAIRS = 2
#: The error of a comparison of builds that are the same to the byte.
SAME_ERROR = 1e-4
#: What a pair of processes costs at least, in seconds, and what one is taken to cost before any was measured.
LEAST_SECONDS, SECONDS = 0.5, 5.0
#: A line of a journal: what was compared, the log-ratio, its standard error, and the number of pairs.
_Entry: TypeAlias = tuple[str, float, Amount, Annotated[float, AtLeast(1)]]


class Journal:
    """Comparisons of a search in a file beside its results, line by line, where there is one."""

    def __init__(
        self, path: Path | None = None, resume: Path | None = None, lasting: Callable[[str], str] = str
    ) -> None:
        """Write to `path`; begin with what `resume` holds. Raises `InputError` for a file that is no journal.

        `lasting` returns the name of a build by which a later search finds it again: a branch goes on meanwhile.
        """
        self._resume, self._lasting = resume, lasting
        self._answers = {} if resume is None else _read(resume)
        rows = ([key, *values] for key, answers in self._answers.items() for values in answers)
        self._file = SearchJournal(path, rows)

    def check(self, subjects: Sequence[Subject]) -> None:
        """Raise `InputError` for the journal of a search that shares nothing with this one."""
        keys = tuple(f"{one.trial.case.id} {one.trial.direction} " for one in subjects)
        check_shares(not self._answers or any(key.startswith(keys) for key in self._answers), self._resume)

    def recall(self, subject: Subject, base: str, new: str) -> bool:
        """Give a subject a comparison of the search that was stopped, each once; return False where there is none."""
        answer = self._answers.get(self._key(subject, base, new))
        if not answer:
            return False
        log_ratio, error, pairs = answer.pop(0)
        if pairs >= LEAST_PAIRS and error > SAME_ERROR:
            subject.scatter.append(_scatter_behind(error, int(pairs), subject.spread))
        subject.probes.append(Probe(base, new, log_ratio, error, int(pairs)))
        return True

    def write(self, subject: Subject) -> None:
        """Add the latest comparison of a subject."""
        last = subject.probes[-1]
        self._file.add([self._key(subject, last.base, last.new), last.log_ratio, last.error, float(last.pairs)])

    def _key(self, subject: Subject, base: str, new: str) -> str:
        return f"{subject.trial.case.id} {subject.trial.direction} {self._lasting(base)} {self._lasting(new)}"


class Bench:
    """Compares builds of some candidates by a metric; those that cannot be built or measured are left out."""

    def __init__(
        self,
        builds: Builds,
        candidates: Candidates,
        plain: Side,
        metric: str,
        change: float,
        journal: Journal,
        note: Callable[[str], None],
        begin: Callable[[], Comparing],
    ) -> None:
        """Start nothing yet; `begin` does. `plain` is what all sides share, `change` the log-ratio that counts."""
        self._builds, self._candidates, self._plain = builds, candidates, plain
        self._metric, self._change, self._journal = metric, change, journal
        self._note, self._begin = note, begin
        self.sides: dict[str, SideText] = {}
        self.left_out: list[LeftOut] = []
        self.facts: dict[str, object] = {}
        self._broken: set[str] = set()
        self._building: list[float] = []
        self._measuring: list[tuple[float, int]] = []
        self._comparing: Comparing | None = None

    def build(self, name: str) -> SideText:
        """Return the side of a build, which is built; raises `OpperfError` where that fails."""
        if name not in self.sides:
            self.sides[name] = SideText(name, self._builds.side(name, self._plain))
        return self.sides[name]

    def is_built(self, name: str) -> bool:
        """Whether there is a side for a build; one that cannot be built is no build any more."""
        if name in self.sides or name in self._broken:
            return name in self.sides
        began = time.monotonic()
        try:
            self.build(name)
        except OpperfError as error:
            self._broken.add(name)
            self._candidates.drop(name)
            self._leave_out(name, error.message.partition("\n")[0])
        self._building.append(time.monotonic() - began)
        return name in self.sides

    def _leave_out(self, name: str, reason: str) -> None:
        self.left_out.append(LeftOut(name, reason))
        self._note(f"left out {name}: {reason}")

    def seconds(self, build: str, pairs: int) -> float:
        """Return the likely cost of pairs of a build with another, with the build where it is not there yet."""
        whole = math.fsum(seconds for seconds, _ in self._measuring)
        each = whole / sum(pairs for _, pairs in self._measuring) if self._measuring else SECONDS
        makes = build not in self.sides and self._building
        return pairs * max(LEAST_SECONDS, each) + (fmean(self._building) if makes else 0.0)

    def compare(self, subjects: Sequence[Subject], base: str, new: str, pairs: int) -> None:
        """Compare two builds for some subjects by so many pairs, and keep what they said; skip builds left out."""
        if not all(self.is_built(name) for name in (base, new)):
            return
        open_subjects = [one for one in subjects if not self._journal.recall(one, base, new)]
        if not open_subjects or self._are_the_same(open_subjects, base, new):
            return
        self._note(f"comparing {base} with {new}{self._pace()}")
        if self._comparing is None:  # one for all: what it checked once, it need not check again
            self._comparing = self._begin()
        comparing, began = self._comparing, time.monotonic()
        contests = [self._contest(one, base, new) for one in open_subjects]
        comparing.run(contests, pairs)
        self._measuring.append((time.monotonic() - began, pairs))
        if (base, new) == self._candidates.ends:
            sides = {"good": comparing.facts.get("base"), "bad": comparing.facts.get("new")}
            self.facts = {name: facts for name, facts in sides.items() if facts is not None}  # others did not start
        for subject, contest in zip(open_subjects, contests):
            self._keep(subject, contest, base, new)

    def _pace(self) -> str:
        """Say which comparison comes now, and how long those before it took: nobody knows how many are needed."""
        if not self._measuring:
            return ""
        each = fmean(seconds for seconds, _ in self._measuring)
        return f": comparison {len(self._measuring) + 1}; those before took {each:.0f} s each"

    def _contest(self, subject: Subject, base: str, new: str) -> Contest:
        first, second = (trial_on(subject.trial, self.sides[name]) for name in (base, new))
        return Contest(first, second, subject.trial, metric=self._metric)

    def _are_the_same(self, subjects: Sequence[Subject], base: str, new: str) -> bool:
        """Whether two builds are the same to the byte: then nothing has to be measured."""
        digests = {self._builds.digest(name) for name in (base, new)}
        if len(digests) > 1 or None in digests:
            return False
        for subject in subjects:
            subject.probes.append(Probe(base, new, 0.0, SAME_ERROR, 2))
            self._journal.write(subject)
        return True

    def _keep(self, subject: Subject, contest: Contest, base: str, new: str) -> None:
        if contest.failure is not None:
            if subject.answer is None:
                self._fail(subject, contest.failure, base, new)
            return
        subject.steps[(base, new)] = contest
        estimate = observation(contest, self._change, subject.spread)
        if estimate is None:
            return
        subject.probes.append(Probe(base, new, *estimate))
        if contest.stage1:
            subject.scatter.append(_scatter(contest.ratios1))
        self._journal.write(subject)

    def _fail(self, subject: Subject, failure: str, base: str, new: str) -> None:
        """Leave a build out for the subject that fails with it; without an end, or a neighbour, it has no answer."""
        ends = self._candidates.ends
        if new in ends or base not in ends:
            subject.answer = replace(subject.plain(*ends), kind="failed", reason=failure)
        else:
            subject.unmeasurable.add(new)
            self._leave_out(new, f"{subject.name}: {failure}")


def observation(
    contest: Contest, change: float, spread: tuple[float, int] | None = None
) -> tuple[float, float, int] | None:
    """Return a contest's log-ratio, its standard error and its pairs; None with too few of them.

    `spread` is how other pairs scatter, and of how many degrees of freedom that is: two pairs of their own may agree by
    chance.
    """
    ratios = contest.count_ratios or contest.ratios1
    if len(ratios) < LEAST_PAIRS:
        return None
    test, freedom = paired_test(ratios), len(ratios) - 1
    error = test.error
    if spread is not None and not contest.count_ratios:
        squares, freedom = _scatter(ratios)
        error = math.sqrt((squares + spread[0] ** 2 * spread[1]) / (freedom + spread[1]) / len(ratios))
        freedom += spread[1]
    wider = _wider(freedom)
    # And what modes of a build may account for is known no better than that.
    doubt = None if contest.count_ratios else contest.doubt(change)
    return test.mean, max(error * wider, 0.0 if doubt is None else doubt.apart), len(ratios)


def _wider(freedom: int) -> float:
    """Return by what the error is wider because few pairs know their own spread badly: the variance of Student's t."""
    return math.sqrt(freedom / (freedom - 2)) if freedom > 2 else 2.0


def _scatter_behind(error: float, pairs: int, spread: tuple[float, int]) -> tuple[float, int]:
    """Return the squares that pairs were off their mean by, from their error: the inverse of `observation`."""
    freedom = pairs - 1 + spread[1]
    squares = (error / _wider(freedom)) ** 2 * pairs * freedom - spread[0] ** 2 * spread[1]
    return max(0.0, squares), pairs - 1


def _scatter(ratios: Sequence[float]) -> tuple[float, int]:
    """Return the squares of what pairs are off their mean, as their test has it, and their degrees of freedom."""
    freedom = len(ratios) - 1
    return paired_test(ratios).error ** 2 * len(ratios) * freedom, freedom


def _read(path: Path) -> dict[str, list[tuple[float, float, float]]]:
    """Read a journal; raises `InputError` for anything else."""
    answers: dict[str, list[tuple[float, float, float]]] = {}
    for where, (key, log_ratio, error, pairs) in read_rows(path, "bisect", _Entry):
        if not (abs(log_ratio) <= LARGEST and error <= LARGEST and pairs <= MOST_PAIRS):
            expected = f"a log-ratio and an error of at most {LARGEST:g}, and at most {MOST_PAIRS:,} pairs"
            raise InputError(f"{where}: expected {expected}", slug="bad_journal")
        answers.setdefault(key, []).append((log_ratio, error, pairs))
    return answers
