"""Bisect builds: compare the two ends, then the build that tells most with both, until the posterior names a step."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from itertools import pairwise
from pathlib import Path

from opperf.domain.bisection import Answer, Bisection, LeftOut, Probe, Step
from opperf.domain.errors import InputError, OpperfError
from opperf.domain.files.destination import explain_errors
from opperf.domain.files.text_file import read_bytes
from opperf.domain.plan import INSTRUCTIONS, Settings, Side, Trial
from opperf.domain.stats.significance import PairedTest
from opperf.domain.stats.steps import Observation, Posterior
from opperf.parent import request as requests
from opperf.parent.analysis.counts import counting
from opperf.parent.analysis.verdict import Rule, paired_test
from opperf.parent.bisect.builds import Builds, Commits, Packages
from opperf.parent.bisect.releases import releases
from opperf.parent.calibration import stored_floors
from opperf.parent.compare import sides_named
from opperf.parent.contest import Comparing, Contest, header, outcome
from opperf.parent.explain import explain
from opperf.parent.planning.implementations import on
from opperf.parent.planning.selection import Selection
from opperf.parent.progress import Progress, planning
from opperf.parent.request import Request

#: The probability at which steps are named, and the one at which they are compared directly.
LIKELY_ENOUGH, DIRECT = 0.95, 0.9
#: How often one build, and a pair of neighbours, is measured at most.
MOST_LOOKS, MOST_DIRECT = 6, 3
#: Standard errors that a step must be from nothing in the direct comparisons of its neighbours.
SURE = 2.5
#: How often the two ends are compared where their difference is not clear.
MOST_ENDS = 4


@dataclass(frozen=True)
class Order:
    """Between which builds, and how they are made."""

    good: str
    bad: str
    repository: Path | None = None
    build: str | None = None
    pre: bool = False
    package: str | None = None
    metric: str = "time"
    tolerance: float | str = 0.02
    pairs: int = 5
    explain: bool = False
    journal: Path | None = None
    resume: Path | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    command: Sequence[str] = ()


def bisect(
    operators: Sequence[str], request: Request, order: Order, progress: Progress
) -> tuple[Bisection, BaseException | None]:
    """Return what is said of each operator, and what stopped the search, None when nothing did.

    Raises `InputError` for what cannot be understood.
    """
    if order.metric not in ("time", "memory"):
        raise InputError(f"`--metric` is `{order.metric}`, expected time or memory")
    rule = requests.rule(order.tolerance, order.pairs)
    requests.plugin_files(request, note=progress.note)
    selection = requests.selection(operators, request, note=progress.note)
    framework = _framework(selection)
    builds = _builds(order, framework, progress.note)
    settings = requests.settings(request)
    if settings.clock == INSTRUCTIONS and order.metric == "memory":
        raise InputError("`--metric memory` compares no instructions", hint="leave out `--clock instructions`")
    suffix = f";framework={framework};threads={selection.threads}"
    search = Search(selection, builds, suffix, order, rule, settings, progress)
    with planning(progress):
        search.plan()
    cause: BaseException | None = None
    try:
        search.run()
    except InputError:
        raise
    except BaseException as stop:  # what was measured until then is kept
        cause = stop
    return search.document(), cause


def _builds(order: Order, framework: str, note: Callable[[str], None]) -> Builds:
    """Return what lies between good and bad; raises `InputError`."""
    good, bad = order.good, order.bad
    pythons = [end.startswith("python=") for end in (good, bad)]
    if any(pythons) and not all(pythons):
        raise InputError(
            f"`--good {good}` and `--bad {bad}` are an interpreter and a release", hint="name two of the same kind"
        )
    if order.package is not None and not all(pythons):
        raise InputError("`--package` needs `--good python=PATH` and `--bad python=PATH`")
    if order.build is not None and order.repository is None:
        raise InputError("`--build` needs `--repo DIR`")
    if order.repository is not None:
        if not (order.build or "").strip():
            raise InputError("`--repo` needs `--build COMMAND`", hint='such as `--build "pip install ."`')
        requirement = None if framework == "null" else framework
        return Commits(order.repository, good, bad, order.build or "", requirement, note)
    if all(pythons):
        return Packages(good, bad, order.package, note)
    return releases(framework, good, bad, pre=order.pre, note=note)


def _framework(selection: Selection) -> str:
    names = {*selection.frameworks} or {
        str(one).partition(":")[0] for one in selection.operators if ":" in str(one) and not str(one).endswith(".py")
    }
    if len(selection.frameworks) != 1 and len(names) != 1:
        raise InputError("name one framework whose builds are searched: `--framework numpy`")
    return next(iter(names))


@dataclass
class Subject:
    """One case and direction, what was measured of it, and what is said of it."""

    trial: Trial
    observations: list[tuple[str, str, float, float, int]] = field(default_factory=list)
    answer: Answer | None = None
    steps: dict[tuple[str, str], Contest] = field(default_factory=dict)

    def between(self, base: str, new: str) -> PairedTest | None:
        """Return what all comparisons of two builds say together, None where there is none."""
        several = [one for one in self.observations if one[:2] == (base, new)]
        if not several:
            return None
        weights = [1 / max(error, 1e-6) ** 2 for *_, error, _ in several]
        mean = math.fsum(weight * one[2] for weight, one in zip(weights, several)) / math.fsum(weights)
        return PairedTest(mean, math.fsum(weights) ** -0.5, sum(one[4] for one in several) - 1)


class Search:
    """One search over builds that all operators share: `plan`, `run`, then read the `document`."""

    def __init__(
        self,
        selection: Selection,
        builds: Builds,
        suffix: str,
        order: Order,
        rule: Rule,
        settings: Settings,
        progress: Progress,
    ) -> None:
        self._selection, self._builds, self._suffix, self._order = selection, builds, suffix, order
        self._rule, self._settings, self._progress = rule, settings, progress
        self._counts = settings.clock == INSTRUCTIONS
        self._band = counting(rule).band if self._counts else rule.band
        self._names = list(builds.names)
        self._built: dict[str, str | None] = {}
        self._left_out: list[LeftOut] = []
        self._subjects: list[Subject] = []
        self._facts: dict[str, object] = {}
        self._side: Side | None = None
        self._looks: dict[str, int] = {}
        self._posteriors: dict[tuple[int, int, int], Posterior] = {}
        self._began = time.monotonic()
        self._started = datetime.now(timezone.utc).isoformat(timespec="seconds")
        self._answers_before = {} if order.resume is None else _read(order.resume)
        if order.journal is not None:
            with explain_errors(order.journal):
                order.journal.write_text("".join(map(_line, self._answers_before.items())), encoding="utf-8")

    @property
    def _ends(self) -> tuple[str, str]:
        return self._names[0], self._names[-1]

    def plan(self) -> None:
        """Find the cases, in the good build; raises `InputError` for what cannot be understood."""
        good = self._builds.side(self._ends[0])
        (side,) = sides_named([good + self._suffix])
        self._side = side.side
        comparing = Comparing(self._settings, self._rule, self._progress.note, plugins=self._selection.plugins)
        selection = replace(self._selection, frameworks=(), environments=())
        self._subjects = [Subject(one.key) for one in comparing.contests(selection, side, [side])]
        self._built[self._ends[0]] = good
        keys = tuple(f"{one.trial.case.id} {one.trial.direction} " for one in self._subjects)
        if self._answers_before and not any(key.startswith(keys) for key in self._answers_before):
            raise InputError(
                f"`--resume {self._order.resume}`: the journal of another search",
                hint="name the same operators and inputs, or leave it out",
                slug="bad_journal",
            )

    def run(self) -> None:
        """Measure until each subject has an answer, or the budget is spent."""
        good, bad = self._ends
        if self._environment(bad) is None:
            raise InputError(f"the bad build is not available: {self._left_out[-1].reason}")
        self._compare_ends(good, bad)
        while open_subjects := [one for one in self._subjects if one.answer is None]:
            if self._spent():
                break
            direct = [(one, pair) for one in open_subjects for pair in self._direct(one)]
            if direct:
                pair = direct[0][1]
                self._measure([one for one, other in direct if other == pair], *pair, thorough=True)
            else:
                build = self._most_telling(open_subjects)
                if build is None:
                    break
                self._looks[build] = self._looks.get(build, 0) + 1
                if self._environment(build) is not None:
                    self._measure(open_subjects, good, build)
                    self._measure(open_subjects, bad, build)
            for one in open_subjects:
                one.answer = self._answer(one)
                self._tell(one)
        for one in self._subjects:
            one.answer = one.answer or self._open(one)
        if self._order.explain:
            culprits = [
                (one, (step.before, step.after)) for one in self._subjects if one.answer for step in one.answer.steps
            ]
            contests = [one.steps[pair] for one, pair in culprits if pair in one.steps]
            explain(contests, self._settings, self._progress.note, spent=self._spent, plugins=self._selection.plugins)

    def _contest(self, subject: Subject, base: str, new: str) -> Contest:
        sides = [sides_named([str(self._environment(name)) + self._suffix])[0] for name in (base, new)]
        return Contest(on(subject.trial, sides[0]), on(subject.trial, sides[1]), subject.trial)

    def _tell(self, subject: Subject) -> None:
        """Say what is known of a subject so far."""
        name = f"{subject.trial.case.operator} {subject.trial.direction}"
        if subject.answer is not None:
            self._progress.note(f"{name}: {subject.answer.reason}")
            return
        low, high = self._posterior(subject).between(LIKELY_ENOUGH)
        place = f"between {self._names[low]} and {self._names[high]}, {high - low} of {len(self._names) - 1} places"
        self._progress.note(f"{name}: {place}")

    def _compare_ends(self, good: str, bad: str) -> None:
        """Compare good and bad until the difference of each subject is clear; without one there is nothing to find."""
        for _ in range(MOST_ENDS):
            unclear = [one for one in self._subjects if one.answer is None and not self._differs(one)]
            if not unclear or self._spent():
                break
            self._measure(unclear, good, bad, thorough=True)
            for one in unclear:
                test = one.between(good, bad)
                if test is not None and max(map(abs, test.interval())) < self._band:
                    one.answer = self._same(one, test, "the interval lies within the tolerance")
        for one in self._subjects:
            test = one.between(good, bad)
            if one.answer is None and test is not None and not self._differs(one):
                inside = abs(test.mean) < self._band
                reason = "no change beyond the tolerance is certain"
                one.answer = self._same(one, test, reason) if inside else self._open(one)

    def _differs(self, subject: Subject) -> bool:
        test = subject.between(*self._ends)
        return test is not None and abs(test.mean) > max(self._band, SURE * test.error)

    def _same(self, subject: Subject, test: PairedTest, reason: str) -> Answer:
        return replace(self._plain(subject), kind="same", reason=reason, ratio=math.exp(test.mean))

    # Measuring

    def _environment(self, name: str) -> str | None:
        """Return a build's environment; None where it cannot be built, after which it is no build any more."""
        if name not in self._built:
            try:
                self._built[name] = self._builds.side(name)
            except OpperfError as error:
                self._drop(name, error.message.partition("\n")[0])
        return self._built.get(name)

    def _drop(self, name: str, reason: str) -> None:
        self._built[name] = None
        self._left_out.append(LeftOut(name, reason))
        self._progress.note(f"left out {name}: {reason}")
        if name not in self._ends:
            self._names.remove(name)

    def _measure(self, subjects: Sequence[Subject], base: str, new: str, *, thorough: bool = False) -> None:
        """Compare two builds for some subjects, and keep what pairs of processes said."""
        open_subjects = [one for one in subjects if not self._is_in_journal(one, base, new)]
        if not open_subjects or self._are_the_same(open_subjects, base, new):
            return
        self._progress.note(f"comparing {base} with {new}")
        left = None if self._settings.budget is None else max(1.0, self._settings.budget - self._elapsed())
        settings = replace(self._settings, budget=left)
        # A probe is no verdict: as many pairs as a first look has. The ends, and neighbours, get all looks.
        rule = self._rule if thorough else replace(self._rule, most=self._rule.pairs)
        comparing = Comparing(
            settings,
            rule,
            self._progress.note,
            floors=stored_floors(),
            plugins=self._selection.plugins,
            timed=not self._counts,
        )
        contests = [self._contest(one, base, new) for one in open_subjects]
        comparing.run(contests)
        if (base, new) == self._ends:
            self._facts = {"good": comparing.facts.get("base"), "bad": comparing.facts.get("new")}
        for subject, contest in zip(open_subjects, contests):
            self._keep(subject, contest, base, new)

    def _is_in_journal(self, subject: Subject, base: str, new: str) -> bool:
        """Take a comparison from the journal of a search that was stopped."""
        answer = self._answers_before.get(_key(subject, base, new))
        if not answer:
            return False
        log_ratio, error, pairs = answer.pop(0)
        subject.observations.append((base, new, log_ratio, error, int(pairs)))
        return True

    def _are_the_same(self, subjects: Sequence[Subject], base: str, new: str) -> bool:
        """Whether two builds are the same to the byte: then nothing has to be measured."""
        digests = {self._builds.digest(name) for name in (base, new)}
        if len(digests) > 1 or None in digests:
            return False
        for subject in subjects:
            subject.observations.append((base, new, 0.0, 1e-4, 2))
            self._write(subject, base, new)
        return True

    def _keep(self, subject: Subject, contest: Contest, base: str, new: str) -> None:
        if self._order.metric == "memory":
            peaks = outcome(contest).memory.get("peak")
            if peaks and min(peaks) > 0:  # it is counted, so one pair says all
                subject.observations.append((base, new, math.log(peaks[1] / peaks[0]), 1e-3, 1))
        else:
            ratios = contest.count_ratios or [*contest.ratios1, *contest.ratios2]
            if len(ratios) >= 2:
                test = paired_test(ratios)
                # Few pairs know their own spread badly: the variance of Student's t.
                wider = math.sqrt(test.freedom / (test.freedom - 2)) if test.freedom > 2 else 2.0
                subject.observations.append((base, new, test.mean, test.error * wider, len(ratios)))
        if contest.failure is not None and subject.answer is None:
            if new in self._ends or base not in self._ends:
                subject.answer = replace(self._plain(subject), kind="failed", reason=contest.failure)
            elif new in self._names:
                self._drop(new, contest.failure)
            return
        subject.steps[(base, new)] = contest
        if subject.observations:
            self._write(subject, base, new)

    def _write(self, subject: Subject, base: str, new: str) -> None:
        if self._order.journal is not None and subject.observations:
            *_, log_ratio, error, pairs = subject.observations[-1]
            line = _line((_key(subject, base, new), [(log_ratio, error, float(pairs))]))
            with explain_errors(self._order.journal), self._order.journal.open("a", encoding="utf-8") as file:
                file.write(line)

    def _elapsed(self) -> float:
        return time.monotonic() - self._began

    def _spent(self) -> bool:
        return self._settings.budget is not None and self._elapsed() > self._settings.budget

    # Deciding

    def _posterior(self, subject: Subject) -> Posterior:
        # Observations are only added, and builds only left out, so their counts tell one posterior from another.
        key = id(subject), len(subject.observations), len(self._names)
        if key in self._posteriors:
            return self._posteriors[key]
        places = {name: place for place, name in enumerate(self._names)}
        observations = [
            Observation(places[base], places[new], log_ratio, error)
            for base, new, log_ratio, error, _ in subject.observations
            if base in places and new in places
        ]
        self._posteriors[key] = Posterior(len(self._names), observations)
        return self._posteriors[key]

    def _direct(self, subject: Subject) -> list[tuple[str, str]]:
        """Return the neighbours of likely steps whose own comparison is not clear yet."""
        best = self._posterior(subject).best
        if best.probability < DIRECT or not best.steps:
            return []
        return [pair for pair in map(self._neighbours, best.steps) if not self._is_direct(subject, pair)]

    def _is_direct(self, subject: Subject, pair: tuple[str, str]) -> bool:
        """Whether neighbours were compared and differ, or were compared as often as they are at most."""
        count = sum(one[:2] == pair for one in subject.observations)
        test = subject.between(*pair)
        return test is not None and (abs(test.mean) > SURE * test.error or count >= MOST_DIRECT)

    def _neighbours(self, step: int) -> tuple[str, str]:
        return self._names[step - 1], self._names[step]

    def _most_telling(self, subjects: Sequence[Subject]) -> str | None:
        """Return the build whose level is least certain over all subjects; None where all were measured enough."""
        posteriors = [self._posterior(subject) for subject in subjects]

        def variance(place: int) -> float:
            return math.fsum(one.uncertainty(place) for one in posteriors)

        places = [i for i in range(1, len(self._names) - 1) if self._looks.get(self._names[i], 0) < MOST_LOOKS]
        return self._names[max(places, key=variance)] if places else None

    def _answer(self, subject: Subject) -> Answer | None:
        """Return what is said of a subject, None while it is open."""
        if subject.answer is not None:
            return subject.answer
        best = self._posterior(subject).best
        pairs = [self._neighbours(step) for step in best.steps]
        if best.probability < LIKELY_ENOUGH or any(subject.between(*pair) is None for pair in pairs):
            return None
        plain = replace(self._plain(subject), probability=best.probability)
        if not best.steps:
            reason = "every build is a little different: no step stands out"
            return replace(plain, kind="slope", reason=reason, between=self._ends)
        steps = [self._step(subject, *pair) for pair in pairs]
        if None in steps:
            return None if not all(self._is_direct(subject, pair) for pair in pairs) else self._open(subject)
        culprits = tuple(one for one in steps if one is not None)
        reason = "; ".join([*(_say(one, counts=self._counts) for one in culprits), *self._more(subject, culprits)])
        return replace(plain, kind="steps", reason=reason, steps=culprits)

    def _more(self, subject: Subject, steps: Sequence[Step]) -> Iterator[str]:
        """Say between which builds there is more than the steps that are named: beyond two, no model has it."""
        good, bad = self._ends
        stretches = pairwise([good, *(name for one in steps for name in (one.before, one.after)), bad])
        for first, last in [*stretches][::2]:
            ends = [subject.between(good, name) for name in (first, last) if name != good]
            if first == last or None in ends:
                continue
            tests = [one for one in ends if one is not None]
            change = tests[-1].mean - (tests[0].mean if len(tests) > 1 else 0.0)
            error = math.sqrt(math.fsum(one.error**2 for one in tests))
            if abs(change) > max(2 * self._band, 2 * SURE * error):
                yield f"from {first} to {last} it changes by {math.expm1(change):+.1%} more: bisect these two as well"

    def _step(self, subject: Subject, before: str, after: str) -> Step | None:
        """Return the step between two neighbours, None where their own comparison does not show it."""
        test = subject.between(before, after)
        if test is None or abs(test.mean) <= SURE * test.error:
            return None
        low, high = test.interval()
        every = list(self._builds.names)
        between = tuple(every[every.index(before) + 1 : every.index(after)])
        return Step(before, after, math.exp(test.mean), (math.exp(low), math.exp(high)), test.freedom + 1, between)

    def _open(self, subject: Subject) -> Answer:
        """Return what is said of a subject that no step is named of."""
        plain = self._plain(subject)
        if subject.between(*self._ends) is None:
            return replace(
                plain,
                kind="failed",
                reason="good and bad were not compared: the time was over, or too few pairs could be measured",
            )
        if not self._differs(subject):
            return replace(plain, reason="the two ends do not differ clearly; use more `--pairs` to decide")
        low, high = self._posterior(subject).between(LIKELY_ENOUGH)
        place = (self._names[low], self._names[high])
        more = f"{self._pairs_needed(subject)} would decide it"
        advice = "the time was over before it was decided; use a longer `--budget`" if self._spent() else more
        reason = f"inconclusive between {place[0]} and {place[1]}: {advice}"
        return replace(plain, reason=reason, between=place)

    def _pairs_needed(self, subject: Subject) -> str:
        test = subject.between(*self._ends)
        assert test is not None
        share = SURE * test.error / max(abs(test.mean), 1e-6)
        return f"about `--pairs {math.ceil(share**2 * (test.freedom + 1) * 4) + self._rule.pairs}`"

    def _plain(self, subject: Subject) -> Answer:
        test = subject.between(*self._ends)
        interval = None if test is None else test.interval()
        return Answer(
            case=subject.trial.case,
            direction=subject.trial.direction,
            kind="inconclusive",
            reason="",
            ratio=None if test is None else math.exp(test.mean),
            interval=None if interval is None else (math.exp(interval[0]), math.exp(interval[1])),
            probes=tuple(Probe(*one) for one in subject.observations),
        )

    def document(self) -> Bisection:
        """Return what is said of all subjects."""
        order = self._order
        answers = [self._explain(one, one.answer or self._open(one)) for one in self._subjects]
        run = header(self._settings, self._started, self._facts, labels=order.labels, command=order.command)
        names = tuple(name for name in self._builds.names if self._built.get(name))
        side = self._side
        assert side is not None
        return Bisection(run, side, tuple(self._builds.names), names, tuple(self._left_out), tuple(answers))

    def _explain(self, subject: Subject, answer: Answer) -> Answer:
        """Return an answer with all that was measured, and what ran before and after its steps."""
        steps = tuple(
            replace(one, explanation=contest.explanation)
            if (contest := subject.steps.get((one.before, one.after))) is not None
            else one
            for one in answer.steps
        )
        return replace(answer, steps=steps, probes=tuple(Probe(*one) for one in subject.observations))


def _say(step: Step, *, counts: bool) -> str:
    share = step.ratio - 1 if step.ratio > 1 else 1 - step.ratio
    alternatives = f" (or one of {', '.join(step.between)}, which cannot be built)" if step.between else ""
    if counts:
        word = "more" if step.ratio > 1 else "fewer"
        return f"{step.after} executes {share:.1%} {word} instructions than {step.before}{alternatives}"
    word = "slower" if step.ratio > 1 else "faster"
    return f"{step.after} is {share:.1%} {word} than {step.before}{alternatives}"


def _key(subject: Subject, base: str, new: str) -> str:
    return f"{subject.trial.case.id} {subject.trial.direction} {base} {new}"


def _line(entry: tuple[str, Sequence[tuple[float, float, float]]]) -> str:
    return "".join(json.dumps([entry[0], *values]) + "\n" for values in entry[1])


def _read(path: Path) -> dict[str, list[tuple[float, float, float]]]:
    """Read a journal, whose last line may be torn; raises `InputError` for anything else."""
    answers: dict[str, list[tuple[float, float, float]]] = {}
    lines = read_bytes(path).decode(errors="replace").split("\n")
    for number, line in enumerate(lines, 1):
        try:
            key, log_ratio, error, pairs = json.loads(line) if line else ("", 0, 0, 0)
            values = float(log_ratio), float(error), float(pairs)
        except (ValueError, TypeError) as problem:
            if number == len(lines):
                break
            raise InputError(
                f"{path}: line {number}: not a journal of `opperf bisect`", slug="bad_journal"
            ) from problem
        if line:
            answers.setdefault(str(key), []).append(values)
    return answers
