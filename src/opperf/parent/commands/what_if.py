"""Measure a suite, and one of its operators beside what could replace it, to predict what the step would take.

Where the suite has the operator's gradients as cases of their own, as PyTorch's dispatcher does, the replacement's
backward goes through autograd; so does the operator's own, beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from opperf.domain.code import is_code
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, unknown
from opperf.domain.plan import Plan, Trial
from opperf.domain.record import Run
from opperf.domain.registry import FRAMEWORKS, framework, split_implementation
from opperf.domain.suite import Suite, SuiteCase
from opperf.parent.analysis.what_if import core, gradients, predict, select, with_backward
from opperf.parent.commands import compare as comparing
from opperf.parent.commands import run as running
from opperf.parent.documents.comparison import ComparisonRun
from opperf.parent.documents.what_if import WhatIfRun
from opperf.parent.measuring.progress import Progress
from opperf.parent.measuring.session import Options
from opperf.parent.planning import request as requests
from opperf.parent.planning.request import Request
from opperf.parent.planning.side_text import SideText, parse_side, plain_side
from opperf.parent.sources.options import Deciding
from opperf.parent.sources.suite_file import read_suite
from opperf.parent.workers.passwords import environment_of

HINT = "write `--replace OPERATOR=FILE.py:FUNCTION`, such as `--replace rms_norm=mine.py:fast_norm`"
#: Processes of a run that are as many pairs of a comparison: fewer have no interval.
FEWEST_PAIRS = 3


@dataclass(frozen=True)
class Replacement:
    """An operator by its name, and the code that stands in for it."""

    operator: str
    code: str


@dataclass(frozen=True)
class Answer:
    """The prediction and what it is from, and the exception that ended the measurement or None."""

    result: WhatIfRun
    cause: BaseException | None = None


def read_replacement(text: str) -> Replacement:
    """Read `NAME=FILE.py:FUNCTION`; raises `InputError`."""
    name, equals, code = (part.strip() for part in text.partition("="))
    if not (name and equals and is_code(code)):
        raise InputError(f"`--replace` is `{text}`, expected an operator and a function of yours", hint=HINT)
    return Replacement(name, code)


class Question:
    """What a step would take with a replacement: what is measured for it, and the answer. Raises `InputError`."""

    def __init__(self, request: Request, replacement: Replacement) -> None:
        """Read the suite, and find the operator in it."""
        self._replacement = replacement
        self._suite = _suite_of(request)
        self._part = _part_of(self._suite, replacement)
        self._base, self._new = _sides(request, self._part, replacement)
        self._request = replace(request, what=replace(request.what, suite=self._suite))

    def plan(self, progress: Progress) -> Plan:
        """Return the trials of the suite, and then those of the replacement."""
        selection = requests.selection((), self._request, note=progress.note)
        plan = running.plan_of(selection, requests.settings(self._request), progress)
        directions: dict[str, tuple[str, ...]] = {}
        for trial in plan.trials:
            directions[trial.case.id] = (*directions.get(trial.case.id, ()), trial.direction)
        part, _ = self._compared(directions)
        side = replace(plan.trials[0].side, implementation=self._new.side.implementation)
        added = (
            Trial(entry.case, side, direction, entry.origin, entry.count)
            for entry in part.cases
            for direction in entry.directions
        )
        return replace(plan, trials=(*plan.trials, *added))

    def _compared(self, directions: Mapping[str, Sequence[str]]) -> tuple[Suite, tuple[SuiteCase, ...]]:
        """Return the cases that are compared, each in the directions that were measured, and the gradients in them."""
        entries = [
            replace(entry, directions=tuple(directions.get(entry.case.id, entry.directions)) or ("forward",))
            for entry in self._part.cases
        ]
        part = replace(self._part, cases=tuple(entries))
        is_measured = any("backward" in entry.directions for entry in entries)
        backward = () if is_measured else gradients(self._suite, self._replacement.operator)
        return with_backward(part, backward)

    def answer(self, options: Options, progress: Progress) -> Answer:
        """Measure the suite, and the operator beside its replacement."""
        request, settings = self._request, requests.settings(self._request)
        selection = requests.selection((), request, note=progress.note)
        result = running.measure(selection, settings, options, progress)
        directions: dict[str, tuple[str, ...]] = {}
        for record in result.run.records:
            if record.time is not None:
                case = record.trial.case.id
                directions[case] = (*directions.get(case, ()), record.trial.direction)
        part, backward = self._compared(directions)
        if result.cause is not None:
            nothing = ComparisonRun(replace(result.run, records=()), ())
            return Answer(WhatIfRun(result.run, nothing, None), result.cause)
        only = replace(request, what=replace(request.what, suite=part, direction=()))
        order = comparing.Order(_deciding(request), labels=options.labels, command=options.command, thrifty=True)
        comparison, cause = comparing.live(
            requests.selection((), only, others=True, note=progress.note),
            self._base,
            [self._new],
            settings,
            order,
            progress,
        )
        operators = sum(record.total or 0.0 for record in result.run.records)
        names = self._replacement.operator, self._replacement.code
        gradient_names = tuple(dict.fromkeys(gradient.case.operator for gradient in backward))
        alone = _alone(result.run, (*self._part.cases, *backward)) if backward else None
        what_if = (
            None if cause else predict(self._suite, *names, operators, comparison.comparisons, gradient_names, alone)
        )
        return Answer(WhatIfRun(result.run, comparison, what_if), cause)


def _alone(run: Run, cases: Sequence[SuiteCase]) -> float:
    """Return the seconds of all calls of some cases by themselves."""
    ids = {entry.case.id for entry in cases}
    return sum(record.total or 0.0 for record in run.records if record.trial.case.id in ids)


def _deciding(request: Request) -> Deciding:
    processes = request.sampling.processes
    return Deciding(pairs=processes) if processes >= FEWEST_PAIRS else Deciding()


def _suite_of(request: Request) -> Suite:
    suite = request.what.suite
    if suite is None:
        raise InputError(
            "`--replace` needs the suite of a step: `--suite FILE`",
            hint="`opperf capture model.py:step --output step.json` writes one",
        )
    return suite if isinstance(suite, Suite) else read_suite(suite)


def _part_of(suite: Suite, replacement: Replacement) -> Suite:
    """Return the part of a suite that is replaced."""
    part = select(suite, replacement.operator)
    if not part.cases:
        names = [*dict.fromkeys(entry.case.operator for entry in suite.cases)]
        raise unknown(
            "operator",
            replacement.operator,
            [*names, *map(core, names)],
            hint=f"the suite `{suite.name}` has in it: {', '.join(names[:12])}",
        )
    return part


def _sides(request: Request, part: Suite, replacement: Replacement) -> tuple[SideText, SideText]:
    """Return both sides, which differ in what runs alone."""
    where = request.where
    for option, values in (
        ("--framework", where.framework),
        ("--environment", where.environment),
        ("--device", where.device),
        ("--mode", where.mode),
    ):
        if len(values) > 1:
            raise InputError(
                f"`--replace` measures on one side: `{option}` was given {len(values)} times",
                hint="`opperf compare --suite STEP.json --base SIDE --new FILE.py:FUNCTION` takes any two sides",
            )
    prefix = split_implementation(part.cases[0].case.operator)[0]
    name = framework(where.framework[0]).name if where.framework else prefix if prefix in FRAMEWORKS else None
    if name is None and where.environment:
        name = environment_of(where.environment[0]).framework
    if name is None:
        raise InputError("`--replace` needs to know where the step runs", hint="name it: `--framework torch`")
    side = plain_side(where, name)
    new = parse_side(f"{replacement.code};framework={name}")
    own = replace(side, implementation=new.side.implementation)
    return SideText(name, side), replace(new, side=own)
