"""Measure, compare, and judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from opperf.domain.plan import Plan
from opperf.domain.record import Record, Run
from opperf.parent.commands import compare as comparing
from opperf.parent.commands import gate as gating
from opperf.parent.commands import noise as studying
from opperf.parent.commands import run as running
from opperf.parent.documents.tolerances import FIRST_PAIRS, TOLERANCE
from opperf.parent.library.arguments import as_list, as_text, hold, keep, names_of, progress_of, read, side_text, write
from opperf.parent.library.options import (
    CompareOptions,
    GateOptions,
    NoiseOptions,
    Operator,
    Paths,
    RunOptions,
    with_options,
)
from opperf.parent.library.results import Comparisons, Gate, Noise, Results
from opperf.parent.measuring.fleet.dispatch import wishes
from opperf.parent.planning import request as requests
from opperf.parent.workers.passwords import own_command

if TYPE_CHECKING:
    from typing_extensions import Unpack


@with_options(RunOptions)
def run(
    operators: Operator | Sequence[Operator] | None = None,
    *,
    config: Paths = None,
    clock: str = "wall",
    loop: str = "python",
    memory: bool = True,
    latency: bool = True,
    memory_limit: int | str | None = None,
    check: bool | str = True,
    labels: Mapping[str, str] | None = None,
    keep_samples: bool = True,
    output: str | Path | None = None,
    resume: str | Path | None = None,
    force: bool = False,
    progress: bool = False,
    fleet: str | None = None,
    where: str | None = None,
    replicate: int | None = None,
    **options: Unpack[RunOptions],
) -> Results:
    """Measure operators and return their records.

    `operators` are neutral names (`add`), a framework's own (`mxnet:nd.broadcast_mod`) or functions. Each entry of
    `inputs` makes one case: tensor arguments by shape, attributes by value. Results keep their order and number: what
    is equal is measured once, and its record stands at each place. With `output` each finished trial is kept in a
    journal, from which `resume` goes on. Raises `InputError` for bad input; an operator that fails is a
    record.

    >>> import opperf
    >>> results = opperf.run("null:steady", runs=5)
    >>> results[0].time.median
    0.0001
    >>> results
    <opperf.Results: 1 record: 1 ok>
    """
    request = {**read(options), "config": config, "clock": clock, "loop": loop, "memory": memory}
    request |= {"latency": latency, "memory_limit": memory_limit, "check": requests.checking(check)}
    selection, settings = requests.selection(names_of(operators), request), requests.settings(request)
    keeping = keep(output, resume, labels, keep_samples=keep_samples)
    with hold(keeping, force=force):
        result = running.measure(selection, settings, keeping, progress_of(progress), wishes(fleet, where, replicate))
        if result.cause is not None:
            raise result.cause
        results = Results(_in_order(result.run, result.plan))
        write(keeping, results)
    return results


def _in_order(run: Run, plan: Plan) -> Run:
    """Return the run with a record for each requested trial, in that order."""
    records: dict[tuple[object, ...], list[Record]] = {}
    for record in run:
        records.setdefault(record.trial.key, []).append(record)
    return replace(run, records=tuple(record for trial in plan.selection for record in records[trial.key]))


@with_options(CompareOptions)
def compare(
    *operators: Operator | Results | Sequence[Operator],
    base: Operator | None = None,
    new: Operator | Sequence[Operator] | None = None,
    framework: str | None = None,
    tolerance: float | str = TOLERANCE,
    pairs: int = FIRST_PAIRS,
    settle: bool = False,
    max_pairs: int | None = None,
    processes: int | None = None,
    trial_budget: float | str | None = None,
    precision: float | str | None = None,
    clock: str = "wall",
    check: bool | str = True,
    explain: bool = False,
    labels: Mapping[str, str] | None = None,
    keep_samples: bool = True,
    progress: bool = False,
    fleet: str | None = None,
    where: str | None = None,
    replicate: int | None = None,
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
    fleet_wishes = wishes(fleet, where, replicate)
    judging = comparing.Judging(
        *(tolerance, pairs, settle, max_pairs, explain, labels or {}, own_command(), fleet_wishes),
        *(processes, trial_budget, precision, keep_samples),
    )
    if len(subjects) == 2 and all(isinstance(one, Results) for one in subjects):
        old, late = (one.run for one in subjects if isinstance(one, Results))
        return Comparisons(comparing.of_runs(old, late, judging.rule()))
    if base is None and new is None and len(subjects) == 2 and all(map(callable, subjects)):
        (base, new), subjects = subjects, []
    document, cause = comparing.compare(
        names_of(subjects),
        {**read(options), "clock": requests.comparing_clock(clock), "check": requests.checking(check)},
        judging,
        progress_of(progress),
        base=None if base is None else side_text(base, framework),
        new=[side_text(one, framework) for one in as_list(new)],
    )
    if cause is not None:
        raise cause
    return Comparisons(document)


@overload
def gate(*operators: Operator | Sequence[Operator], **options: Unpack[GateOptions]) -> Gate: ...


@overload
def gate(
    *operators: Operator | Sequence[Operator], update_expected: Literal[True], **options: Unpack[GateOptions]
) -> Results: ...


@with_options(GateOptions)
def gate(
    *operators: Operator | Sequence[Operator], update_expected: bool = False, **options: Unpack[GateOptions]
) -> Gate | Results:
    """Compare as a gate file says (options override it), and say whether the change passes.

    With `update_expected` the expectations are measured and recorded again, and those records are returned.

    >>> import opperf
    >>> opperf.gate("null:steady", base="null", new="null;slowdown=1.5").passed
    False
    """
    request, config = read(options), options.get("config")
    overrides = {
        **{
            name: request.get(name)
            for name in (
                *("pairs", "settle", "max_pairs", "processes", "inconclusive", "cpus", "jobs", "clock", "seed"),
                "compile_cache",
            )
        },
        **{name: as_list(request.pop(name, None)) for name in ("framework", "environment", "device")},
        **{name: as_text(request.get(name), "%", 100) for name in ("tolerance", "threshold", "precision")},
        **{name: as_text(request.get(name)) for name in ("budget", "timeout", "trial_budget")},
        "expected": None if request.get("expected") is None else str(request["expected"]),
    }
    base = options.get("base")
    order = gating.Gate(
        gating.gate_file(None if config is None else Path(config), overrides, as_list(request.get("plugin"))),
        overrides,
        None if base is None else side_text(base, None),
        [side_text(one, None) for one in as_list(options.get("new"))],
        update_expected,
        options.get("explain", False),
        requests.checking(options.get("check", True)),
        options.get("labels") or {},
        own_command(),
        fleet=wishes(*(request.pop(name, None) for name in ("fleet", "where", "replicate"))),
    )
    names = names_of([one for several in operators for one in as_list(several)])
    result = gating.judge(names, {**request, "config": None}, order, progress_of(options.get("progress", False)))
    if result.cause is not None:
        raise result.cause
    return Results(result.run) if isinstance(result, gating.ExpectationUpdate) else Gate(result.run, result.judgement)


@with_options(NoiseOptions)
def noise(
    operators: Operator | Sequence[Operator] | None = None,
    *,
    repeats: int | None = None,
    error_rate: bool = False,
    effect: float | str | None = None,
    layout: bool = False,
    pairs: int = FIRST_PAIRS,
    tolerance: float | str = TOLERANCE,
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
    news = progress_of(progress)
    document, cause = studying.noise(
        names_of(operators),
        read(options),
        news,
        study=studying.study(repeats=repeats, error_rate=error_rate, effect=effect, layout=layout),
        pairs=pairs,
        tolerance=tolerance,
        labels=labels or {},
        command=own_command(),
    )
    studying.store(document, news.note)
    if cause is not None:
        raise cause
    return Noise(document)
