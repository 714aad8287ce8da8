"""Measure a suite, and one of its operators beside what could replace it, to predict what the step would take."""

from __future__ import annotations

from dataclasses import replace

from opperf.domain.code import is_code
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, unknown
from opperf.domain.registry import FRAMEWORKS, framework, split_implementation
from opperf.domain.suite import Suite
from opperf.parent.analysis.what_if import WhatIf, core, predict, select
from opperf.parent.commands import compare as comparing
from opperf.parent.commands import run as running
from opperf.parent.documents.comparison import ComparisonRun
from opperf.parent.measuring.progress import Progress
from opperf.parent.measuring.session import Options
from opperf.parent.planning.request import Request, selection, settings
from opperf.parent.sources.options import Deciding
from opperf.parent.sources.suite_file import read_suite

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
    """What the step would take, None where the operator or its replacement could not be measured, and by what."""

    what_if: WhatIf | None
    run: running.RunResult
    comparison: ComparisonRun
    cause: BaseException | None = None


def read_replacement(text: str) -> Replacement:
    """Read `NAME=FILE.py:FUNCTION`; raises `InputError`."""
    name, equals, code = (part.strip() for part in text.partition("="))
    if not (name and equals and is_code(code)):
        raise InputError(f"`--replace` is `{text}`, expected an operator and a function of yours", hint=HINT)
    return Replacement(name, code)


def part_of(request: Request, replacement: Replacement) -> tuple[Suite, Suite]:
    """Return the suite of a request, and the part of it that is replaced; raises `InputError`."""
    suite = request.what.suite
    if suite is None:
        raise InputError(
            "`--replace` needs the suite of a step: `--suite FILE`",
            hint="`opperf capture model.py:step --output step.json` writes one",
        )
    suite = suite if isinstance(suite, Suite) else read_suite(suite)
    part = select(suite, replacement.operator)
    if not part.cases:
        names = [*dict.fromkeys(entry.case.operator for entry in suite.cases)]
        raise unknown(
            f"operator of `{suite.name}`",
            replacement.operator,
            [*names, *map(core, names)],
            hint=f"in it: {', '.join(names[:12])}",
        )
    return suite, part


def answer(request: Request, replacement: Replacement, options: Options, progress: Progress) -> Answer:
    """Measure the suite, and the operator beside its replacement; raises `InputError`."""
    suite, part = part_of(request, replacement)
    base, new = _sides(request, part, replacement)
    result = running.measure(selection((), request, note=progress.note), settings(request), options, progress)
    processes = request.sampling.processes
    deciding = Deciding(pairs=processes) if processes >= FEWEST_PAIRS else Deciding()
    only = replace(request, what=replace(request.what, suite=part))
    comparison, cause = comparing.compare((), only, comparing.Order(deciding), progress, base=base, new=[new])
    operators = sum(record.total or 0.0 for record in result.run.records)
    what_if = predict(suite, replacement.operator, replacement.code, operators, comparison.comparisons)
    return Answer(what_if, result, comparison, result.cause or cause)


def _sides(request: Request, part: Suite, replacement: Replacement) -> tuple[str, str]:
    """Return both sides as texts, which differ in what runs alone."""
    where = request.where
    if where.environment or len(where.framework) > 1 or len(where.device) > 1 or len(where.mode) > 1:
        raise InputError(
            "`--replace` measures on one side: one `--framework`, and no `--environment`",
            hint="`opperf compare --suite STEP.json --base SIDE --new FILE.py:FUNCTION` takes any two sides",
        )
    prefix = split_implementation(part.cases[0].case.operator)[0]
    name = framework(where.framework[0]).name if where.framework else prefix if prefix in FRAMEWORKS else None
    if name is None:
        raise InputError("`--replace` needs to know where the step runs", hint="name it: `--framework torch`")
    how = [f"threads={where.threads}"] if where.threads != 1 else []
    how += [f"device={device}" for device in where.device] + [f"mode={mode}" for mode in where.mode]
    return ";".join([name, *how]), ";".join([replacement.code, f"framework={name}", *how])
