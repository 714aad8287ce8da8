"""Measure what a program runs: from its trace, under the profiler, or captured as a suite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from opperf.domain.code import Code, read_operator
from opperf.domain.errors import HarnessError
from opperf.parent.commands import capture as capturing
from opperf.parent.commands import profile as profiled
from opperf.parent.commands import replay as replaying
from opperf.parent.commands import run as running
from opperf.parent.documents.trace import Replay as ReplayDocument
from opperf.parent.library.arguments import Keeping, as_list, progress_of, request_of, text_of
from opperf.parent.library.options import Operator, with_options
from opperf.parent.library.results import Profile, Replay, Suite
from opperf.parent.measuring.progress import Silent
from opperf.parent.planning.request import Request
from opperf.parent.planning.wishes import wishes
from opperf.parent.sources.live_function import write_source
from opperf.parent.sources.option import Only, group_of
from opperf.parent.sources.options import How, OnFleet, Sampling, What, Where
from opperf.parent.sources.plugin_file import framework_of
from opperf.parent.sources.program_options import Capturing, Profiling
from opperf.parent.store.output_lock import check_place
from opperf.parent.workers.package import cache_folder

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from opperf.parent.library.keywords import CaptureOptions, ProfileOptions, ReplayOptions


@with_options(
    *(Sampling, How, OnFleet, Keeping),
    Annotated[What, Only("plugin")],
    Annotated[Where, Only("environment", "device", "threads")],
    Annotated[Request, Only("jobs", "memory_limit")],
)
def replay(
    *traces: str | Path,
    kineto: str | Path | None = None,
    subgraph: str | None = None,
    iterations: int | str | None = None,
    **options: Unpack[ReplayOptions],
) -> Replay:
    """Run every operator of a recorded PyTorch program standalone, from its traces."""
    request, keeping = request_of(options), group_of(Keeping, options)
    settings, progress = replaying.settings(request), keeping.display
    trace = replaying.read_trace(
        [Path(one) for one in traces],
        None if kineto is None else Path(kineto),
        subgraph,
        iterations,
        replaying.schemas_of(request, settings, progress),
    )
    with keeping.lock():
        if not trace.cases:
            return Replay(replaying.unmeasured(trace, request, settings, keeping.options, progress))
        workload, nodes = replaying.workload(trace, request), wishes(group_of(OnFleet, options))
        outcome = running.measure(workload, settings, keeping.options, progress, nodes)
        if outcome.cause is not None:
            raise outcome.cause
        result = Replay(ReplayDocument(trace, outcome.run))
        keeping.write(result)
    return result


@with_options(Profiling)
def profile(
    script: str | Path | Callable[[], object],
    *arguments: object,
    module: bool = False,
    **options: Unpack[ProfileOptions],
) -> Profile:
    """Run a script with its arguments, a module or a function, and return which operators it spends its time in.

    The script is not changed; what it prints goes to stderr. Files of events are left in the folder `output`. With
    `save_suite` its operators and their arguments are written to that file as a suite, which PyTorch alone records.
    Raises `HarnessError` where it leaves no profile, or no arguments for a suite. `opperf.profiler` profiles a part of
    the running program instead.
    """
    profiling, words = group_of(Profiling, options), [str(script), *map(str, arguments)]
    profiled.check_rows(profiling.by, profiling.sort)
    if callable(script):
        code = read_operator(text_of(script))
        if isinstance(code, Code):
            profiling = replace(profiling, framework=profiling.framework or framework_of(code))
            words = [str(_caller(code))]
    suite, folder = profiling.save_suite, profiling.output or Path()
    check_place(suite)
    recorded = profiled.Options.of(profiling)
    command = profiled.command(words, module=module)
    profiled.check(command, recorded)
    python = profiled.python_for(command, profiling.environment, recorded, Silent().note)
    outcome = profiled.run(command, python, recorded, folder, tool=profiling.tool, aside=True)
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
                hint=f"{profiled.NO_SUITE}; `opperf.load` reads the profile: {', '.join(map(str, outcome.files))}",
                slug="no_suite",
            )
        Suite(outcome.recorded.suite()).save(suite)
    return Profile(
        outcome.profile,
        by=profiling.by,
        sort=profiling.sort,
        exit_code=outcome.code,
        files=outcome.files,
        notes=outcome.notes,
    )


@with_options(Capturing)
def capture(code: Operator | Sequence[Operator], *, progress: bool = False, **options: Unpack[CaptureOptions]) -> Suite:
    """Return the operators of one call of a function without arguments, or of a model in a file, as a suite.

    Several functions are parts of one suite. An `abstract` capture follows shapes alone: nothing is allocated or timed.
    So does that of a model's configuration, `config:FILE.json`: `phase`, `batch`, `context` and `dtype` say how it is
    called, `split` among how many devices it is divided, and `layers` whether it has `all` of its layers or `one`.
    """
    codes = [text_of(one) for one in as_list(code) or [code]]
    result = capturing.capture(codes, group_of(Capturing, options), progress_of(progress).note)
    return Suite(result.suite, result.notes)


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
