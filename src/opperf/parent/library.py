"""The functions of the library: each takes its command's options as keywords and returns an object.

Your own function can be used wherever a name can. Durations are seconds and shares fractions of 1, or texts as on the
command line (`"5m"`, `"2%"`). Nothing is printed unless `progress=True`, which reports on stderr. Errors are those of
`opperf.OpperfError`, an operator that fails is a record.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, TypeVar, Union, cast, overload

from opperf.domain.bisection import Bisection as BisectionDocument
from opperf.domain.code import Code, read_operator
from opperf.domain.comparison import ComparisonRun
from opperf.domain.errors import HarnessError, InputError
from opperf.domain.exploration import Exploration as ExplorationDocument
from opperf.domain.floor import NoiseRun
from opperf.domain.plan import Plan
from opperf.domain.profile.event import Profile as ProfileDocument
from opperf.domain.profile.watching import Watching
from opperf.domain.record import Record, Run
from opperf.domain.suite import Suite as SuiteDocument
from opperf.domain.trace import Replay as ReplayDocument
from opperf.domain.units import parse_bytes
from opperf.parent import capture as capturing
from opperf.parent import compare as comparing
from opperf.parent import gate as gating
from opperf.parent import load as loading
from opperf.parent import noise as studying
from opperf.parent import profile as profiling
from opperf.parent import replay as replaying
from opperf.parent import request as requests
from opperf.parent import run as running
from opperf.parent.bisect import bisect as bisecting
from opperf.parent.explore import explore as exploring
from opperf.parent.fleet.dispatch import wishes
from opperf.parent.listing import listing
from opperf.parent.progress import Progress, Silent, Stderr
from opperf.parent.results import (
    Bisection,
    Comparisons,
    Exploration,
    Gate,
    Noise,
    Operators,
    Profile,
    Replay,
    Results,
    Suite,
)
from opperf.parent.session import Options
from opperf.parent.sources.live_function import code_text, write_source
from opperf.parent.sources.plugin_file import framework_of
from opperf.parent.store.output_lock import check_place, take
from opperf.parent.workers.package import cache_folder

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: An operator by its name, or a function of your own.
Operator: TypeAlias = Union[str, Callable[..., object]]
Names: TypeAlias = Union[str, Sequence[str], None]
Paths: TypeAlias = Union[str, Path, Sequence[Union[str, Path]], None]
Number: TypeAlias = Union[float, str, None]
Inputs: TypeAlias = Union[Mapping[str, object], Sequence[Mapping[str, object]], None]
#: What each document of a file becomes.
OBJECTS: Mapping[type, Callable[[Any], Any]] = {
    Run: Results,
    ComparisonRun: Comparisons,
    NoiseRun: Noise,
    ReplayDocument: Replay,
    BisectionDocument: Bisection,
    ExplorationDocument: Exploration,
    SuiteDocument: Suite,
    ProfileDocument: Profile,
}
F = TypeVar("F", bound=Callable[..., object])


class What(TypedDict, total=False):
    """Which operators, and with which inputs."""

    category: Names
    all: bool
    skip: Names
    suite: str | Path | Suite | None
    dtype: Names
    values: Names
    random: int | None
    size: Names
    direction: Names
    inputs: Inputs
    shapes: str | Path | None
    attributes: Mapping[str, object] | None
    plugin: Paths


class Where(TypedDict, total=False):
    """On which sides."""

    framework: Names
    environment: Names
    device: Names
    mode: Names
    threads: int
    engine: str
    allocator: str


class How(TypedDict, total=False):
    """What holds for the whole of a call."""

    budget: Number
    timeout: float | str
    cpus: str | Sequence[int] | None
    seed: int


class Jobs(TypedDict, total=False):
    """How many trials are measured side by side: a number, or `"auto"`."""

    jobs: int | str


class Sampling(TypedDict, total=False):
    """When a trial has samples enough."""

    warmup: int | None
    runs: int | None
    precision: float | str
    trial_budget: float | str
    processes: int
    cache: str


class RunOptions(What, Where, Sampling, How, Jobs, total=False):
    """The options of `run`."""


class CompareOptions(What, How, Jobs, total=False):
    """The options of `compare`."""


class GateOptions(What, total=False):
    """The options of `gate`; what is left out is as its file says."""

    config: str | Path | None
    base: Operator | None
    new: Operator | Sequence[Operator] | None
    tolerance: Number
    pairs: int | None
    settle: bool | None
    max_pairs: int | None
    expected: str | Path | None
    threshold: Number
    processes: int | None
    framework: Names
    environment: Names
    device: Names
    inconclusive: str | None
    budget: Number
    timeout: Number
    cpus: str | None
    jobs: int | str | None
    clock: str | None
    seed: int | None
    check: bool
    explain: bool
    labels: Mapping[str, str] | None
    progress: bool
    fleet: str | None
    where: str | None
    replicate: int | None


class NoiseOptions(What, Where, How, Jobs, total=False):
    """The options of `noise`."""


class ExploreOptions(Where, How, Jobs, total=False):
    """The options of `explore`."""

    dtype: Names
    direction: Names
    inputs: Inputs
    attributes: Mapping[str, object] | None
    plugin: Paths


class BisectOptions(What, How, total=False):
    """The options of `bisect`."""

    framework: Names
    device: Names
    threads: int


class ReplayOptions(Sampling, How, Jobs, total=False):
    """The options of `replay`."""


#: The defaults of options; all others default to None.
DEFAULTS: Mapping[str, object] = {
    "all": False,
    "threads": 1,
    "engine": "naive",
    "allocator": "fixed",
    "timeout": 120.0,
    "seed": 0,
    "precision": 0.02,
    "trial_budget": 0.5,
    "processes": 1,
    "cache": "hot",
    "jobs": 1,
}


#: The defaults of `gate`, where its file has none.
OF_GATE: Mapping[str, object] = {"all": False, "check": True, "explain": False, "progress": False}


def _with(options: type) -> Callable[[F], F]:
    """Show the options in the signature of a function, and raise `TypeError` for one that is not among them."""

    def show(function: F) -> F:
        own = [one for one in signature(function).parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
        defaults = OF_GATE if options is GateOptions else DEFAULTS
        more = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=defaults.get(name), annotation=hint.__forward_arg__)
            for name, hint in options.__annotations__.items()
        ]
        whole = Signature([*own, *more], return_annotation=signature(function).return_annotation)

        @wraps(function)
        def checked(*words: object, **keywords: object) -> object:
            whole.bind(*words, **keywords)
            return function(*words, **keywords)

        vars(checked)["__signature__"] = whole
        return cast("F", checked)

    return show


@_with(RunOptions)
def run(
    operators: Operator | Sequence[Operator] | None = None,
    *,
    config: Paths = None,
    clock: str = "wall",
    loop: str = "python",
    memory: bool = True,
    latency: bool = True,
    memory_limit: int | str | None = None,
    check: bool = True,
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
    request = {**_read(options), "config": config, "clock": clock, "loop": loop, "memory": memory}
    request |= {"latency": latency, "memory_limit": memory_limit, "check": check}
    selection, settings = requests.selection(_names(operators), request), requests.settings(request)
    keeping = _keep(output, resume, labels, keep_samples=keep_samples)
    with _output(keeping, force=force):
        result = running.measure(selection, settings, keeping, _progress(progress), wishes(fleet, where, replicate))
        if result.cause is not None:
            raise result.cause
        results = Results(_in_order(result.run, result.plan))
        _write(keeping, results)
    return results


def _in_order(run: Run, plan: Plan) -> Run:
    """Return the run with a record for each requested trial, in that order."""
    records: dict[tuple[object, ...], list[Record]] = {}
    for record in run:
        records.setdefault(record.trial.key, []).append(record)
    return replace(run, records=tuple(record for trial in plan.selection for record in records[trial.key]))


@_with(CompareOptions)
def compare(
    *operators: Operator | Results | Sequence[Operator],
    base: Operator | None = None,
    new: Operator | Sequence[Operator] | None = None,
    framework: str | None = None,
    tolerance: float | str = 0.02,
    pairs: int = 5,
    settle: bool = False,
    max_pairs: int | None = None,
    clock: str = "wall",
    check: bool = True,
    explain: bool = False,
    labels: Mapping[str, str] | None = None,
    progress: bool = False,
    fleet: str | None = None,
    where: str | None = None,
    replicate: int | None = None,
    **options: Unpack[CompareOptions],
) -> Comparisons:
    """Compare a base with other sides, in interleaved pairs of fresh processes.

    A side is a framework, a version, a Python, an implementation with its settings (`torch;threads=2`) or a function,
    whose `framework` is the one that its file imports unless it is given. Without sides, two functions are compared
    with each other, and two results of `run` or their files as they were recorded.

    >>> import opperf
    >>> opperf.compare("null:steady", base="null", new="null;slowdown=1.5")[0].verdict.verdict
    'slower'
    """
    subjects = [one for several in operators for one in _each(several)]
    fleet_wishes = wishes(fleet, where, replicate)
    judging = comparing.Judging(tolerance, pairs, settle, max_pairs, explain, labels or {}, sys.argv, fleet_wishes)
    if len(subjects) == 2 and all(isinstance(one, Results) for one in subjects):
        old, late = (one.run for one in subjects if isinstance(one, Results))
        return Comparisons(comparing.of_runs(old, late, judging.rule()))
    if base is None and new is None and len(subjects) == 2 and all(map(callable, subjects)):
        (base, new), subjects = subjects, []
    document, cause = comparing.compare(
        _names(subjects),
        {**_read(options), "clock": requests.comparing_clock(clock), "check": check},
        judging,
        _progress(progress),
        base=None if base is None else _side(base, framework),
        new=[_side(one, framework) for one in _each(new)],
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
@_with(GateOptions)
def gate(
    *operators: Operator | Sequence[Operator], update_expected: bool = False, **options: Unpack[GateOptions]
) -> Gate | Results:
    """Compare as a gate file says (options override it), and say whether the change passes.

    With `update_expected` the expectations are measured and recorded again, and those records are returned.

    >>> import opperf
    >>> opperf.gate("null:steady", base="null", new="null;slowdown=1.5").passed
    False
    """
    request, config = _read(options), options.get("config")
    overrides = {
        **{
            name: request.get(name)
            for name in ("pairs", "settle", "max_pairs", "processes", "inconclusive", "cpus", "jobs", "clock", "seed")
        },
        **{name: _each(request.pop(name, None)) for name in ("framework", "environment", "device")},
        **{name: _as_text(request.get(name), "%", 100) for name in ("tolerance", "threshold")},
        **{name: _as_text(request.get(name)) for name in ("budget", "timeout")},
        "expected": None if request.get("expected") is None else str(request["expected"]),
    }
    base = options.get("base")
    order = gating.Gate(
        gating.gate_file(None if config is None else Path(config), overrides, _each(request.get("plugin"))),
        overrides,
        None if base is None else _side(base, None),
        [_side(one, None) for one in _each(options.get("new"))],
        update_expected,
        options.get("explain", False),
        options.get("check", True),
        options.get("labels") or {},
        sys.argv,
        fleet=wishes(*(request.pop(name, None) for name in ("fleet", "where", "replicate"))),
    )
    names = _names([one for several in operators for one in _each(several)])
    result = gating.judge(names, {**request, "config": None}, order, _progress(options.get("progress", False)))
    if result.cause is not None:
        raise result.cause
    return Results(result.run) if isinstance(result, gating.ExpectationUpdate) else Gate(result.run, result.judgement)


@_with(NoiseOptions)
def noise(
    operators: Operator | Sequence[Operator] | None = None,
    *,
    repeats: int = 3,
    pairs: int = 5,
    tolerance: float | str = 0.02,
    labels: Mapping[str, str] | None = None,
    progress: bool = False,
    **options: Unpack[NoiseOptions],
) -> Noise:
    """Compare operators with themselves, and keep how far they move; comparisons on this machine use it.

    >>> import opperf
    >>> opperf.noise("null:steady", repeats=1, pairs=3)[0].comparisons
    1
    """
    news = _progress(progress)
    document, cause = studying.noise(
        _names(operators),
        _read(options),
        news,
        repeats=repeats,
        pairs=pairs,
        tolerance=tolerance,
        labels=labels or {},
        command=sys.argv,
    )
    studying.store(document, news.note)
    if cause is not None:
        raise cause
    return Noise(document)


@_with(ExploreOptions)
def explore(
    operators: Operator | Sequence[Operator],
    *,
    objective: str | None = None,
    against: str | None = None,
    dims: str | None = None,
    factor: float = 1.2,
    looks: int = 500,
    explain: bool = False,
    labels: Mapping[str, str] | None = None,
    progress: bool = False,
    **options: Unpack[ExploreOptions],
) -> Exploration:
    """Search operators' cases for sizes that cost more than their neighbours, or more than on another side.

    >>> import opperf
    >>> cliffs = opperf.explore("null:cliff", framework="null", dims="data.0=16,data.1=1030..1034")
    >>> cliffs[0].case.tensor("data").shape, cliffs[0].remedy
    ((16, 1032), 'pad data.1 to 1,033')
    """
    order = exploring.Order(
        objective=objective,
        against=against,
        dims=dims,
        factor=factor,
        looks=looks,
        explain=explain,
        labels=labels or {},
        command=sys.argv,
    )
    result, cause = exploring.explore(_names(operators), _read(options), order, _progress(progress))
    if cause is not None:
        raise cause
    return Exploration(result)


@_with(BisectOptions)
def bisect(
    operators: Operator | Sequence[Operator],
    *,
    good: str,
    bad: str,
    repo: str | Path | None = None,
    build: str | None = None,
    package: str | None = None,
    pre: bool = False,
    metric: str = "time",
    tolerance: float | str = 0.02,
    pairs: int = 5,
    clock: str = "wall",
    explain: bool = False,
    labels: Mapping[str, str] | None = None,
    progress: bool = False,
    **options: Unpack[BisectOptions],
) -> Bisection:
    """Find the release, or the commit of a repository, that made operators slower or faster."""
    order = bisecting.Order(
        good=good,
        bad=bad,
        repository=None if repo is None else Path(repo),
        build=build,
        package=package,
        pre=pre,
        metric=metric,
        tolerance=tolerance,
        pairs=pairs,
        explain=explain,
        labels=labels or {},
        command=sys.argv,
    )
    result, cause = bisecting.bisect(
        _names(operators),
        {**_read(options), "clock": requests.comparing_clock(clock)},
        order,
        _progress(progress),
    )
    if cause is not None:
        raise cause
    return Bisection(result)


@_with(ReplayOptions)
def replay(
    *traces: str | Path,
    kineto: str | Path | None = None,
    subgraph: str | None = None,
    iterations: int | str | None = None,
    plugin: Paths = None,
    memory_limit: int | str | None = None,
    environment: Names = None,
    device: Names = None,
    threads: int = 1,
    labels: Mapping[str, str] | None = None,
    keep_samples: bool = True,
    output: str | Path | None = None,
    resume: str | Path | None = None,
    force: bool = False,
    fleet: str | None = None,
    where: str | None = None,
    replicate: int | None = None,
    progress: bool = False,
    **options: Unpack[ReplayOptions],
) -> Replay:
    """Run every operator of a recorded PyTorch program standalone, from its execution traces."""
    request = {**_read(options), "plugin": plugin, "memory_limit": memory_limit}
    request |= {"environment": environment, "device": device, "threads": threads}
    settings = replaying.settings(request)
    trace = replaying.read_trace(
        [Path(one) for one in traces], None if kineto is None else Path(kineto), subgraph, iterations
    )
    keeping = _keep(output, resume, labels, keep_samples=keep_samples)
    with _output(keeping, force=force):
        if not trace.cases:
            return Replay(replaying.unmeasured(trace, request, settings, keeping, _progress(progress)))
        workload, nodes = replaying.workload(trace, request), wishes(fleet, where, replicate)
        outcome = running.measure(workload, settings, keeping, _progress(progress), nodes)
        if outcome.cause is not None:
            raise outcome.cause
        result = Replay(ReplayDocument(trace, outcome.run))
        _write(keeping, result)
    return result


def profile(
    script: str | Path | Callable[[], object],
    *arguments: object,
    module: bool = False,
    framework: str | None = None,
    environment: str | None = None,
    plugin: Paths = None,
    memory: bool = False,
    shapes: bool = False,
    stacks: bool = False,
    modules: bool = True,
    api: bool = False,
    granularity: str = "bulk",
    allocator: str = "default",
    memory_limit: int | str | None = None,
    function: str | None = None,
    skip: int = 0,
    calls: int | None = None,
    by: str = "name",
    sort: str = "self",
    tool: str | None = None,
    save_suite: str | Path | None = None,
    output: str | Path = ".",
) -> Profile:
    """Run a script with its arguments, a module or a function, and return which operators it spends its time in.

    The script is not changed; what it prints goes to stderr. Files of events are left in the folder `output`. With
    `save_suite` its operators and their arguments are written to that file as a suite, which PyTorch alone records.
    Raises `HarnessError` where it leaves no profile, or no arguments for a suite. `opperf.profiler` profiles a part of
    the running program instead.
    """
    profiling.check_rows(by, sort)
    words = [str(script), *map(str, arguments)]
    if callable(script):
        code = read_operator(_text(script))
        if isinstance(code, Code):
            framework, words = framework or framework_of(code), [str(_caller(code))]
    watching = Watching(
        memory=memory,
        shapes=shapes or by == "shape",
        stacks=stacks,
        modules=modules or by == "module",
        api=api,
        memory_limit=None if memory_limit is None else int(requests.number(memory_limit, parse_bytes, "memory_limit")),
    )
    suite = None if save_suite is None else Path(save_suite)
    check_place(suite)
    plugins = requests.plugin_files({"framework": framework, "plugin": plugin})
    options = profiling.Options(
        watching, framework, granularity, function, skip, calls, suite is not None, allocator, plugins
    )
    command = profiling.command(words, module=module)
    profiling.check(command, options)
    python = profiling.python_for(command, environment, options, Silent().note)
    outcome = profiling.run(command, python, options, Path(output), tool=tool, aside=True)
    if outcome.profile is None:
        raise HarnessError(
            f"`{words[0]}` wrote no profile; its exit code is {outcome.code}",
            hint="`framework` or `environment` selects the Python to run it",
            slug="no_profile",
        )
    if suite is not None:
        if outcome.recorded is None:
            raise HarnessError(
                "; ".join([f"no suite: {suite} is not written", *outcome.notes]),
                hint=f"{profiling.NO_SUITE}; `opperf.load` reads the profile: {', '.join(map(str, outcome.files))}",
                slug="no_suite",
            )
        Suite(outcome.recorded.suite()).save(suite)
    return Profile(outcome.profile, by=by, sort=sort, exit_code=outcome.code, files=outcome.files, notes=outcome.notes)


def capture(
    code: Operator,
    *,
    framework: str | None = None,
    inputs: Mapping[str, object] | None = None,
    environment: str | None = None,
    timeout: float | str = 300.0,
    plugin: Paths = None,
    progress: bool = False,
) -> Suite:
    """Return the operators of one call of a function without arguments, or of a model in a file, as a suite."""
    result = capturing.capture(
        _text(code),
        _progress(progress).note,
        framework=framework,
        inputs=inputs,
        environment=environment,
        timeout=timeout,
        plugin=_each(plugin),
    )
    return Suite(result.suite, result.notes)


def load(path: str | Path) -> Results | Comparisons | Gate | Noise | Replay | Suite | Profile:
    """Read a document that opperf wrote: a result or its journal, a comparison, noise floors, a suite, a profile.

    >>> import opperf, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     opperf.run("null:steady", runs=5).save(f"{folder}/results.json")
    ...     opperf.load(f"{folder}/results.json")
    <opperf.Results: 1 record: 1 ok>
    """
    document = loading.read_document(Path(path))
    if isinstance(document, loading.GateDocument):
        return Gate(document.run, document.judgement)
    result: Results | Comparisons | Noise | Replay | Suite | Profile = OBJECTS[type(document)](document)
    return result


def operators(
    pattern: str | None = None, *, category: Names = None, framework: Names = None, plugin: Paths = None
) -> Operators:
    """Return the operators that can be measured; with frameworks, their implementations of each.

    Those that a `plugin` declares stand at the end.

    >>> import opperf
    >>> sorted(opperf.operators("*softmax"))
    ['log_softmax', 'softmax']
    """
    return Operators(*listing(pattern, _each(category), _each(framework), Silent().note, _each(plugin)))


def _names(operators: Operator | Sequence[Operator] | None) -> list[str]:
    return [_text(one) for one in _each(operators)]


def _text(operator: object) -> str:
    """Return a name, or code for a function; raises `InputError` for anything else."""
    if isinstance(operator, (str, Path)):
        return str(operator)
    if callable(operator):
        return code_text(operator, cache_folder())
    raise InputError(f"`{operator!r}` is not an operator", hint="give a name or a function")


def _side(side: Operator, framework: str | None) -> str:
    """Return a side as a text; the framework is that of a function."""
    text = _text(side)
    return f"{text};framework={framework}" if callable(side) and framework is not None else text


def _each(values: Any) -> list[Any]:
    """Return one thing, or several, as a list."""
    if values is None:
        return []
    single = isinstance(values, (str, Path, Results)) or callable(values)
    return [values] if single else list(values)


def _read(options: Mapping[str, object]) -> dict[str, Any]:
    """Return options as a request has them."""
    suite = options.get("suite")
    return {**options, "suite": suite.suite if isinstance(suite, Suite) else suite}


def _as_text(value: float | str | None, unit: str = "", scale: float = 1) -> str | None:
    """Return a number as a gate's option has it."""
    return value if value is None or isinstance(value, str) else f"{value * scale:.12g}{unit}"


def _progress(shown_too: bool) -> Progress:
    return Stderr() if shown_too else Silent()


def _keep(
    output: str | Path | None, resume: str | Path | None, labels: Mapping[str, str] | None, *, keep_samples: bool
) -> Options:
    """Return where a run is kept; a resumed run continues in its own file unless another one is named."""
    place = output or resume
    return Options(
        output=None if place is None else Path(place),
        resume=None if resume is None else Path(resume),
        labels=labels or {},
        keep_samples=keep_samples,
    )


def _output(options: Options, *, force: bool) -> AbstractContextManager[object]:
    """Hold the place of the result against others; raises `InputError`."""
    lock = take(options.output, sys.argv, force=force, resume=options.resume, resumes=True)
    return nullcontext() if lock is None else closing(lock)


def _write(options: Options, report: Results | Replay) -> None:
    if options.output is not None:
        report.save(options.output)
        running.drop_journal(options)


def _caller(code: Code) -> Path:
    """Return a script that calls a function."""
    place, _, name = code.name.rpartition(":")
    load = (
        f"import importlib.util as util\nspec = util.spec_from_file_location('caller_module', {place!r})\n"
        "module = util.module_from_spec(spec)\nspec.loader.exec_module(module)\n"
        if place.endswith(".py")
        else f"import {place} as module\n"
    )
    return write_source(f"{load}module.{name}()\n", name, cache_folder())
