"""Bisect builds: compare the two ends, then whatever tells most, until a story of steps is certain and confirmed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path

from opperf.domain.code import Code
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.plan import INSTRUCTIONS, Settings, Side
from opperf.parent.analysis.counts import counting
from opperf.parent.analysis.verdict import Rule
from opperf.parent.commands.bisect.answers import Candidates, Judge, Subject
from opperf.parent.commands.bisect.bench import Bench, Journal
from opperf.parent.commands.bisect.builds import Beside, Builds, Commits, Packages
from opperf.parent.commands.bisect.questions import FEWEST_PAIRS, Questions
from opperf.parent.commands.bisect.releases import releases
from opperf.parent.commands.deciding import rule_of
from opperf.parent.documents.bisection import Answer, Bisection, Commit, Step
from opperf.parent.documents.comparison import Verdict
from opperf.parent.measuring.calibration import stored_floors
from opperf.parent.measuring.comparing import Comparing
from opperf.parent.measuring.contest import Contest, header, start
from opperf.parent.measuring.explain import explain
from opperf.parent.measuring.progress import Progress, Stoppable, planning
from opperf.parent.planning import request as requests
from opperf.parent.planning.request import Request
from opperf.parent.planning.selection import Selection
from opperf.parent.planning.side_text import frameworks, plain_side
from opperf.parent.sources.options import Bisecting, Judging
from opperf.parent.sources.plugin_file import framework_of
from opperf.parent.workers.commits import Recipe, requirements
from opperf.parent.workers.gpus import check_devices
from opperf.parent.workers.interpreters import importable


@dataclass(frozen=True)
class Order:
    """Between which builds, when a comparison of two is decided, and what else to do."""

    search: Bisecting
    judging: Judging = field(default_factory=Judging)
    explain: bool = False
    journal: Path | None = None
    resume: Path | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    command: Sequence[str] = ()


def bisect(
    operators: Sequence[str], request: Request, order: Order, progress: Progress
) -> tuple[Bisection, BaseException | None]:
    """Return the answer for each operator, and what stopped the search, None when nothing did.

    Raises `InputError` for what cannot be understood.
    """
    rule = rule_of(order.judging)
    selection = requests.selection(operators, request, note=progress.note)
    if len(request.where.device) > 1:
        times = len(request.where.device)
        raise InputError(f"builds are measured on one device: `--device` was given {times} times")
    plain = plain_side(request.where, _framework(selection))
    check_devices([(plain.framework, plain.device)])
    builds = _builds(order.search, plain.framework, selection.packages, progress.note)
    settings = requests.settings(request)
    search = Search(selection, builds, plain, order, rule, settings, progress)
    with planning(progress):
        search.plan()
    with Stoppable() as measuring:
        search.run()
    if measuring.cause is not None:
        search.stop()
    return search.document(), measuring.cause


def _builds(order: Bisecting, framework: str, packages: Sequence[str], note: Callable[[str], None]) -> Builds:
    """Return the builds between good and bad, with packages beside the framework; raises `InputError`."""
    good, bad = order.good, order.bad
    pythons = [end.startswith("python=") for end in (good, bad)]
    if any(pythons) and not all(pythons):
        raise InputError(
            f"`--good {good}` and `--bad {bad}` are an interpreter and a release", hint="name two of the same kind"
        )
    if order.package is not None and order.repo is not None:
        raise InputError("`--package` searches releases, and `--repo` commits", hint="leave out one of them")
    if order.build is not None and order.repo is None:
        raise InputError("`--build` needs `--repo DIR`")
    if order.repo is not None:
        if not (order.build or "").strip():
            raise InputError("`--repo` needs `--build COMMAND`", hint='such as `--build "pip install ."`')
        return Commits(order.repo, good, bad, Recipe(order.build or "", requirements(framework, packages)), note)
    if all(pythons):
        return Packages(good, bad, order.package, note)
    if order.package is not None:
        return Beside(framework, order.package, good, bad, pre=order.pre, packages=packages, note=note)
    return releases(framework, good, bad, pre=order.pre, packages=packages, note=note)


def _framework(selection: Selection) -> str:
    operators = tuple(_with_framework(one) if isinstance(one, Code) else one for one in selection.operators)
    names = selection.frameworks or frameworks(replace(selection, operators=operators), importable())
    if len(names) != 1:
        raise InputError("name one framework whose builds are searched: `--framework numpy`")
    return names[0]


def _with_framework(code: Code) -> Code:
    """Return code with the framework that its file says, where that is here: a module may be what builds bring."""
    if code.framework is not None:
        return code
    try:
        return replace(code, framework=framework_of(code))
    except InputError:
        if ".py:" in code.name:
            raise
        return code


class Search:
    """One search over builds that all operators share: `plan`, `run`, then read the `document`."""

    def __init__(
        self,
        selection: Selection,
        builds: Builds,
        plain: Side,
        order: Order,
        rule: Rule,
        settings: Settings,
        progress: Progress,
    ) -> None:
        self._selection, self._builds, self._order = selection, builds, order
        self._rule, self._settings, self._progress = rule, settings, progress
        metric = settings.decisive
        self._band = counting(rule).band if metric.name == INSTRUCTIONS else rule.band
        self._candidates = Candidates(builds.names, builds.parts)
        lasting = builds.short_hash if isinstance(builds, Commits) else str
        self._journal = Journal(order.journal, order.resume, lasting)
        self._bench = Bench(
            *(builds, self._candidates, plain, metric.name, rule.change),
            *(self._journal, progress.note, self._begin_comparing),
        )
        self._judge = Judge(self._candidates, self._band, rule.pairs, self._spent, metric)
        self._subjects: list[Subject] = []
        self._questions = Questions(self._candidates, self._judge, rule.pairs, self._bench.seconds)
        self._began = time.monotonic()
        self._start = start()

    def plan(self) -> None:
        """Find the cases, in the good build; raises `InputError` for what cannot be understood."""
        side = self._bench.build(self._candidates.ends[0])
        comparing = Comparing(self._settings, self._rule, self._progress.note, plugins=self._selection.plugins)
        selection = replace(self._selection, frameworks=(), environments=())
        self._subjects = [Subject(one.key) for one in comparing.contests(selection, side, [side])]
        self._journal.check(self._subjects)

    def _begin_comparing(self) -> Comparing:
        """Return a comparing of builds within the rest of the budget."""
        comparing = Comparing(
            replace(self._settings, budget=self._left()),
            self._rule,
            self._progress.note,
            floors=stored_floors(),
            plugins=self._selection.plugins,
            timed=self._settings.clock != INSTRUCTIONS,
        )
        comparing.follow(self._progress)
        return comparing

    def run(self) -> None:
        """Measure until each subject has an answer, or the budget is spent."""
        good, bad = self._candidates.ends
        if not self._bench.is_built(bad):
            raise InputError(f"the bad build is not available: {self._bench.left_out[-1].reason}")
        self._compare_ends(good, bad)
        self._answer()  # of two neighbours, all is known now
        while (open_subjects := [one for one in self._subjects if one.answer is None]) and not self._spent():
            question = self._questions.choose(open_subjects)
            if question is None:
                break
            self._bench.compare(question.subjects, question.base, question.new, question.pairs)
            self._answer()
        for one in self._subjects:
            one.answer = one.answer or self._judge.answer(one, last=True)
        if self._order.explain:
            contests = [
                _called(contest, step)
                for one in self._subjects
                for step in (one.answer.steps if one.answer else ())
                if (contest := one.steps.get((step.before, step.after))) is not None
            ]
            explain(contests, self._settings, self._progress.note, spent=self._spent, plugins=self._selection.plugins)

    def stop(self) -> None:
        """Have the answers that are still open say that the search was stopped."""
        self._judge.stopped = True

    def _compare_ends(self, good: str, bad: str) -> None:
        """Compare good and bad, and once more where it is not clear whether they differ."""
        for pairs in (FEWEST_PAIRS, self._rule.pairs):
            unclear = [
                one
                for one in self._subjects
                if one.answer is None and not self._judge.differs(one) and not self._judge.same(one)
            ]
            if not unclear or self._spent():
                break
            self._bench.compare(unclear, good, bad, pairs)
        for one in self._subjects:
            if one.answer is None and one.pooled_test(good, bad) is None:
                one.answer = self._judge.answer(one, last=True)

    def _answer(self) -> None:
        """Answer what the builds that were compared decide, and tell how far each other search is."""
        for subject in self._subjects:
            if subject.answer is None:
                subject.answer = self._judge.answer(subject)
                text = (
                    f"most likely so far: {self._judge.tell(subject)}"
                    if subject.answer is None
                    else subject.answer.reason
                )
                self._progress.note(f"{subject.name}: {text}")

    def _left(self) -> float | None:
        """Return the seconds that are left of the budget, at least one; None without a budget."""
        return None if self._settings.budget is None else max(1.0, self._settings.budget - self._elapsed())

    def _elapsed(self) -> float:
        return time.monotonic() - self._began

    def _spent(self) -> bool:
        return self._settings.budget is not None and self._elapsed() > self._settings.budget

    def document(self) -> Bisection:
        """Return the answers for all subjects."""
        order = self._order
        answers = [self._explain(one, self._last_answer(one)) for one in self._subjects]
        run = header(self._settings, self._start, self._bench.facts, labels=order.labels, command=order.command)
        names = tuple(name for name in self._builds.names if name in self._bench.sides)
        return Bisection(
            run,
            self._bench.sides[names[0]].side,
            tuple(self._builds.names),
            names,
            tuple(self._bench.left_out),
            tuple(answers),
            self._commits(names),
        )

    def _commits(self, names: Sequence[str]) -> tuple[Commit, ...]:
        """Return the commits of builds that are such; what was measured is kept where Git does not answer."""
        if isinstance(self._builds, Commits):
            with suppress(InputError):
                return self._builds.describe(names)
        return ()

    def _last_answer(self, subject: Subject) -> Answer:
        answer = subject.answer or self._judge.answer(subject, last=True)
        assert answer is not None
        return answer

    def _explain(self, subject: Subject, answer: Answer) -> Answer:
        """Return an answer with all that was measured, and what ran before and after its steps."""
        steps = tuple(
            replace(step, explanation=contest.explanation)
            if (contest := subject.steps.get((step.before, step.after))) is not None
            else step
            for step in answer.steps
        )
        return replace(answer, steps=steps, probes=tuple(subject.probes))


def _called(contest: Contest, step: Step) -> Contest:
    """Return the comparison of two neighbours with what the search calls it."""
    word = "slower" if step.ratio > 1 else "faster"
    contest.verdict = Verdict(word, step.ratio, step.interval, "named by the search", step.pairs)
    return contest
