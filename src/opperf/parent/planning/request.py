"""From a user's request to a selection and settings, for the command line and for the library."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, fields
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from opperf.domain.code import read_operator, read_suite_code
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.metric import compared_metric
from opperf.domain.plan import INSTRUCTIONS, UNCHECKED, Settings
from opperf.parent.planning.benchmarks import benchmark_files
from opperf.parent.planning.selection import Selection
from opperf.parent.sources.asv_folder import asv_folder
from opperf.parent.sources.option import group_of
from opperf.parent.sources.options import (
    Check,
    Clock,
    Config,
    How,
    Jobs,
    Limits,
    Loop,
    MemoryLimit,
    Metric,
    Sampling,
    What,
    Where,
)
from opperf.parent.sources.plugin_file import declared_code, plugin_file, register_frameworks, with_plugins, workloads
from opperf.parent.sources.shapes_file import read_shapes
from opperf.parent.workers.machine import cpu_ranges

if TYPE_CHECKING:
    from opperf.param.config import ParamConfig, Workloads


@dataclass(frozen=True)
class Request:
    """What a user wants to be measured, where and how, whichever way it came in.

    Durations are seconds and shares fractions of 1. What follows the classes of options is what it is in `Settings`,
    but for the `config` files.
    """

    what: What = field(default_factory=What)
    where: Where = field(default_factory=Where)
    sampling: Sampling = field(default_factory=Sampling)
    how: Limits = field(default_factory=How)
    config: Config = ()
    jobs: Jobs = Settings.jobs
    metric: Metric = Settings.metric
    clock: Clock = Settings.clock
    loop: Loop = Settings.loop
    check: Check = None
    memory: bool = Settings.memory
    latency: bool = Settings.latency
    memory_limit: MemoryLimit = None


def selection(
    operators: Iterable[str],
    request: Request,
    *,
    names: Sequence[str] = (),
    others: bool = False,
    note: Callable[[str], None] = warnings.warn,
) -> Selection:
    """Return the selection; raises `InputError`. `note` takes a line on each plugin that cannot be used.

    `names` are operators that a file names. They are always names; `operators` may be code. `others`
    says that something else is measured, so that a plugin without names brings none.
    """
    what, where, operators = request.what, request.where, list(operators)
    plugins = plugin_files(what.plugin, where.framework, note=note)
    plugin_workloads = workloads(plugins, installed=bool(request.config), note=note)
    suites = {text: suite for text in operators if (suite := read_suite_code(text)) is not None}
    operators = [text for text in operators if text not in suites]
    others = others or bool(suites or what.category or what.all or what.suite or request.config)
    return Selection(
        operators=with_plugins([*map(read_operator, operators), *names], plugins, others=others, note=note),
        benchmarks=[files for suite in suites.values() for files in benchmark_files(suite, note)],
        suite_folders=[asv_folder(suite.path) for suite in suites.values() if suite.kind == "asv"],
        select=what.select,
        categories=what.category,
        every=what.all,
        skip=what.skip,
        suite=what.suite,
        configs=_read_configs(request.config, plugin_workloads),
        plugins=plugin_workloads.plugins,
        declared=declared_code(plugins),
        frameworks=where.framework,
        environments=where.environment,
        devices=where.device,
        modes=where.mode,
        dtypes=what.dtype,
        sizes=what.size,
        directions=what.direction,
        inputs=what.inputs,
        rows=[] if what.shapes is None else read_shapes(what.shapes),
        attributes=what.attributes,
        values=what.values,
        random=what.random,
        threads=where.threads,
        engine=where.engine,
        allocator=where.allocator,
    )


def _read_configs(paths: Sequence[Path], known_workloads: Workloads) -> Sequence[ParamConfig]:
    """Read PARAM's configs; a request without one does not wait for their grammar."""
    if not paths:
        return ()
    from opperf.param.document import read_config

    return [read_config(path, known_workloads) for path in paths]


def plugin_files(
    plugin: Iterable[Path],
    frameworks: Iterable[str] = (),
    sides: Iterable[str] = (),
    *,
    note: Callable[[str], None] = warnings.warn,
) -> list[Path]:
    """Return the files of plugins, and make the frameworks known that they bring; raises `InputError`.

    `sides` are texts that may begin with such a framework. They are parsed later.
    """
    names = [*frameworks, *(side.partition(";")[0].strip() for side in sides)]
    return register_frameworks([plugin_file(path) for path in plugin], names, note)


class Decisive(TypedDict):
    """The settings that say what decides comparisons."""

    clock: str
    metric: str


def decisive(clock: str, metric: str) -> Decisive:
    """Return the settings that say what decides comparisons; raises `InputError`."""
    if clock not in ("wall", INSTRUCTIONS):
        raise InputError(f"`--clock` is `{clock}`, expected wall or {INSTRUCTIONS}")
    name = compared_metric(metric).name
    return {"clock": INSTRUCTIONS, "metric": "time"} if name == INSTRUCTIONS else {"clock": clock, "metric": name}


def checking(check: str | None, *, no_check: bool = False) -> str | None:
    """Return which results are checked, None where the side decides; raises `InputError`."""
    if no_check and check not in (None, UNCHECKED):
        raise InputError(f"`--no-check` and `--check {check}` contradict each other", hint="use one or the other")
    return UNCHECKED if no_check else check


def settings(request: Request, **fixed: Any) -> Settings:
    """Return the settings; `fixed` are those that are not the user's to choose. Raises `InputError`."""
    how = group_of(How, vars(request.how))  # and nothing else that a class with these options may have
    cpus = None if how.cpus is None else usable_cpus(how.cpus)
    options = {**vars(request), **vars(request.sampling), **vars(how), "cpus": cpus, **fixed}
    return Settings(**{one.name: options[one.name] for one in fields(Settings) if one.name in options})


def usable_cpus(value: str | Sequence[int]) -> tuple[int, ...]:
    """Read `--cpus`; raises `InputError` for a bad list, or for CPUs that this process may not use."""
    text = value if isinstance(value, str) else ",".join(map(str, value))
    # `cpu_ranges` ignores what it cannot read, which is fine for facts but not for options.
    if not re.fullmatch(r"\d{1,18}(-\d{1,18})?(,\d{1,18}(-\d{1,18})?)*", text.strip()) or not any(cpu_ranges(text)):
        raise InputError(f"`--cpus` is `{text[:100]}`, expected a list of CPUs", hint="write, for example, `0-3,6`")
    cpus = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    numbers: dict[int, None] = {}
    for cpu in chain.from_iterable(cpu_ranges(text)):
        if cpu not in cpus:  # at the latest behind the last that is known, however far the range goes
            raise InputError(
                f"`--cpus` names CPU {cpu}, which this process may not use",
                hint=f"it may use {', '.join(str(cpu) for cpu in sorted(cpus))}",
            )
        numbers[cpu] = None
    return tuple(numbers)
