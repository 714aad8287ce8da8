"""Measure, compare, and judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from dataclasses import replace as with_fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Optional, overload

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.plan import Plan, Settings
from opperf.domain.record import Record, Run
from opperf.parent.commands import compare as comparing
from opperf.parent.commands import gate as gating
from opperf.parent.commands import noise as studying
from opperf.parent.commands import run as running
from opperf.parent.commands.capture import capture_workload
from opperf.parent.library.arguments import (
    Keeping,
    as_list,
    names_of,
    progress_of,
    request_of,
    side_text,
    text_of,
)
from opperf.parent.library.options import Operator, with_options
from opperf.parent.library.results import Comparisons, Gate, Noise, Results, Suite, WhatIf
from opperf.parent.planning import request as requests
from opperf.parent.planning.request import Request
from opperf.parent.planning.wishes import wishes
from opperf.parent.sources.option import Only, Overrides, group_of, option, overrides_of
from opperf.parent.sources.options import (
    Building,
    Deciding,
    Explain,
    How,
    Judging,
    Labels,
    OnFleet,
    Sampling,
    Studying,
    What,
    Where,
)
from opperf.parent.sources.options import GateOptions as GateRules
from opperf.parent.workers.passwords import own_command

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from opperf.parent.library.keywords import CompareOptions, GateOptions, NoiseOptions, RunOptions


@overload
def run(
    operators: Operator | Sequence[Operator] | None = None,
    *,
    replace: None = None,
    memory: bool = True,
    latency: bool = True,
    workload: str | None = None,
    **options: Unpack[RunOptions],
) -> Results: ...


@overload
def run(
    operators: None = None,
    *,
    replace: Mapping[str, Operator],
    memory: bool = True,
    latency: bool = True,
    workload: str | None = None,
    **options: Unpack[RunOptions],
) -> WhatIf: ...


@with_options(
    *(What, Where, Sampling, How, OnFleet, Keeping),
    Annotated[Request, Only("config", "jobs", "metric", "clock", "loop", "check", "memory_limit")],
)
def run(
    operators: Operator | Sequence[Operator] | None = None,
    *,
    replace: Mapping[str, Operator] | None = None,
    memory: bool = True,
    latency: bool = True,
    workload: str | None = None,
    **options: Unpack[RunOptions],
) -> Results | WhatIf:
    """Measure operators and return their records.

    `operators` are neutral names (`add`), a framework's own (`mxnet:nd.broadcast_mod`) or functions. Each entry of
    `inputs` makes one case: tensor arguments by shape, attributes by value. Results keep their order and number: what
    is equal is measured once, and its record stands at each place. A `workload` is a model that comes with opperf, such
    as `grouped_query_8b:decode`, whose operators are measured. With `replace={"rms_norm": f}` it predicts what the
    suite of a step would take with your own function in place of that operator, and returns a `WhatIf`. With `output`
    each finished trial is kept in a journal, from which `resume` goes on. Raises `InputError` for bad input; an
    operator that fails is a record.

    >>> import opperf
    >>> results = opperf.run("null:steady", runs=5)
    >>> results[0].time.median
    0.0001
    >>> results
    <opperf.Results: 1 record: 1 ok>
    """
    keeping = group_of(Keeping, options)
    if workload is not None:
        captured = capture_workload(workload, options.get("suite"), keeping.display.note)
        options["suite"] = Suite(captured.suite, captured.notes)
    request = with_fields(request_of(options), memory=memory, latency=latency)
    if replace is not None:
        return _what_if(request, replace, names_of(operators), keeping)
    selection, settings = requests.selection(names_of(operators), request), requests.settings(request)
    with keeping.lock():
        nodes = wishes(group_of(OnFleet, options))
        result = running.measure(selection, settings, keeping.options, keeping.display, nodes)
        if result.cause is not None:
            raise result.cause
        results = Results(_in_order(result.run, result.plan))
        keeping.write(results)
    return results


def _what_if(request: Request, replacements: Mapping[str, Operator], names: Sequence[str], keeping: Keeping) -> WhatIf:
    """Return the prediction for a suite; raises `InputError`, and what stopped its measurement."""
    from opperf.parent.commands.what_if import Question, Replacement

    if len(replacements) != 1 or names:
        excess = "operators beside it" if names else f"{len(replacements)} of them"
        raise InputError(
            f"`replace` has one operator of a suite and what stands in for it, found {excess}",
            hint='`opperf.run(suite="step.json", replace={"rms_norm": fast_norm})`',
        )
    ((name, function),) = replacements.items()
    question = Question(request, Replacement(name, text_of(function)))
    with keeping.lock():
        answer = question.answer(keeping.options, keeping.display)
        if answer.cause is not None:
            raise answer.cause
        result = WhatIf(answer.result)
        keeping.write(result)
    return result


def _in_order(run: Run, plan: Plan) -> Run:
    """Return the run with a record for each requested trial, in that order."""
    records: dict[tuple[object, ...], list[Record]] = {}
    for record in run:
        records.setdefault(record.trial.key, []).append(record)
    return with_fields(run, records=tuple(record for trial in plan.selection for record in records[trial.key]))


@with_options(What, Deciding, Building, How, OnFleet, Annotated[Request, Only("jobs", "metric", "check")])
def compare(
    *operators: Operator | Results | Sequence[Operator],
    base: Operator | None = None,
    new: Operator | Sequence[Operator] | None = None,
    framework: str | None = None,
    processes: int | None = None,
    clock: str = Settings.clock,
    explain: bool = False,
    labels: Mapping[str, str] | None = None,
    keep_samples: bool = True,
    progress: bool = False,
    **options: Unpack[CompareOptions],
) -> Comparisons:
    """Compare a base with other sides, in interleaved pairs of fresh processes.

    A side is a framework, a version, a Python, an implementation with its settings (`torch;threads=2`) or a function,
    whose `framework` is the one that its file imports unless it is given. `processes` is what `run` calls the `pairs`;
    `trial_budget` and `precision` bound how long each samples a case. Without sides, two functions are compared
    with each other, and two results of `run` or their files as they were recorded.

    >>> import opperf
    >>> opperf.compare("null:steady", base="null", new="null;slowdown=1.5")[0].verdict.verdict
    'slower'
    """
    subjects = [one for several in operators for one in as_list(several)]
    order = comparing.Order(
        group_of(Deciding, options),
        group_of(Building, options),
        explain,
        labels or {},
        own_command(),
        wishes(group_of(OnFleet, options)),
        processes,
        keep_samples,
    )
    if len(subjects) == 2 and all(isinstance(one, Results) for one in subjects):
        old, late = (one.run for one in subjects if isinstance(one, Results))
        return Comparisons(comparing.of_runs(old, late, order.rule()))
    if base is None and new is None and len(subjects) == 2 and all(map(callable, subjects)):
        (base, new), subjects = subjects, []
    request = request_of(options)
    document, cause = comparing.compare(
        names_of(subjects),
        with_fields(request, **requests.decisive(clock, request.metric)),
        order,
        progress_of(progress),
        base=None if base is None else side_text(base, framework),
        new=[side_text(one, framework) for one in as_list(new)],
    )
    if cause is not None:
        raise cause
    return Comparisons(document)


@dataclass(frozen=True)
class Gating:
    """What a gate compares, and what else to do with it."""

    config: Optional[Path] = option(None, "FILE", "Gate file.")
    base: object = option(None, "SIDE", "Known good side.", keyword="Operator | None")
    new: object = option(None, "SIDE", "Sides to check.", keyword="Operator | Sequence[Operator] | None")
    explain: Explain = False
    labels: Labels = field(default_factory=dict)
    progress: bool = option(False, "", "Report progress on stderr.")


@overload
def gate(*operators: Operator | Sequence[Operator], **options: Unpack[GateOptions]) -> Gate: ...


@overload
def gate(
    *operators: Operator | Sequence[Operator], update_expected: Literal[True], **options: Unpack[GateOptions]
) -> Results: ...


@with_options(Gating, What, Overrides[GateRules], OnFleet, Annotated[Request, Only("check")])
def gate(
    *operators: Operator | Sequence[Operator], update_expected: bool = False, **options: Unpack[GateOptions]
) -> Gate | Results:
    """Compare as a gate file says (options override it), and say whether the change passes.

    With `update_expected` the expectations are measured and recorded again, and those records are returned.

    >>> import opperf
    >>> opperf.gate("null:steady", base="null", new="null;slowdown=1.5").passed
    False
    """
    overrides, words = overrides_of(GateRules, options), group_of(Gating, options)
    request = request_of({name: value for name, value in options.items() if not overrides.has(name)})
    base, new = words.base, words.new
    order = gating.Gate(
        gating.gate_file(words.config, overrides, request.what.plugin),
        overrides,
        None if base is None else side_text(base, None),
        [side_text(one, None) for one in as_list(new)],
        update_expected,
        words.explain,
        request.check,
        words.labels,
        own_command(),
        wishes(group_of(OnFleet, options)),
    )
    names = names_of([one for several in operators for one in as_list(several)])
    result = gating.judge(names, request.what, order, progress_of(words.progress))
    if result.cause is not None:
        raise result.cause
    return Results(result.run) if isinstance(result, gating.ExpectationUpdate) else Gate(result.run, result.judgement)


@with_options(Studying, What, Where, Judging, How, Annotated[Request, Only("jobs")])
def noise(
    operators: Operator | Sequence[Operator] | None = None,
    *,
    labels: Mapping[str, str] | None = None,
    progress: bool = False,
    **options: Unpack[NoiseOptions],
) -> Noise:
    """Compare operators with themselves, and keep how far they move; comparisons on this machine use it.

    With `error_rate`, also with themselves at an `effect` of extra calls; with `layout`, in other layouts of memory.

    >>> import opperf
    >>> opperf.noise("null:steady", repeats=1, pairs=3)[0].comparisons
    1
    """
    study, news = studying.study(group_of(Studying, options)), progress_of(progress)
    order = studying.Order(study, group_of(Judging, options), labels or {}, own_command())
    document, cause = studying.noise(names_of(operators), request_of(options), order, news)
    studying.store(document, news.note)
    if cause is not None:
        raise cause
    return Noise(document)
