"""From a user's request to a selection and settings, for the command line and for the library.

A request is a mapping with the options' names in Python. Durations are seconds, shares are fractions of 1, and either
may be a text as on a command line: `"5m"`, `"2%"`. Missing and None values get the option's default.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from opperf.domain.code import read_operator
from opperf.domain.errors import InputError
from opperf.domain.plan import INSTRUCTIONS, UNCHECKED, Settings, check_most
from opperf.domain.suite import Suite
from opperf.domain.units import parse_bytes, parse_duration, parse_jobs, parse_percent
from opperf.parent.analysis.verdict import MOST_PAIRS, Rule
from opperf.parent.documents.tolerances import Tolerances
from opperf.parent.planning.selection import Selection
from opperf.parent.sources.plugin_file import declared_code, plugin_file, register_frameworks, with_plugins, workloads
from opperf.parent.sources.shapes_file import read_shapes
from opperf.parent.workers.machine import cpu_ranges

if TYPE_CHECKING:
    from opperf.param.config import ParamConfig, Workloads

Request = Mapping[str, Any]
T = TypeVar("T")
#: The settings that are texts on a command line, and what reads them.
READERS: Mapping[str, Callable[..., float]] = {
    "precision": parse_percent,
    "trial_budget": parse_duration,
    "timeout": parse_duration,
    "budget": parse_duration,
    "memory_limit": parse_bytes,
    "jobs": parse_jobs,
}
PLAIN = ("warmup", "runs", "processes", "cache", "clock", "loop", "seed", "memory", "latency", "check", "compile_cache")


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
    plugins = plugin_files(request, note=note)
    configs = _paths(request.get("config"))
    own = workloads(plugins, installed=bool(configs), note=note)
    suite, shapes = request.get("suite"), request.get("shapes")
    others = others or bool(request.get("category") or request.get("all") or suite or configs)
    inputs = request.get("inputs") or ()
    return Selection(
        operators=with_plugins([*map(read_operator, operators), *names], plugins, others=others, note=note),
        categories=_words(request.get("category")),
        every=bool(request.get("all")),
        skip=_words(request.get("skip")),
        suite=suite if suite is None or isinstance(suite, Suite) else Path(suite),
        configs=_read_configs(configs, own),
        plugins=own.plugins,
        declared=declared_code(plugins),
        frameworks=_words(request.get("framework")),
        environments=_words(request.get("environment")),
        devices=_words(request.get("device")),
        modes=_words(request.get("mode")),
        dtypes=_words(request.get("dtype")),
        sizes=_words(request.get("size")),
        directions=_words(request.get("direction")),
        inputs=[inputs] if isinstance(inputs, Mapping) else list(inputs),
        rows=[] if shapes is None else read_shapes(Path(shapes)),
        attributes=request.get("attributes") or {},
        values=_words(request.get("values")),
        random=request.get("random"),
        threads=_default(request.get("threads"), 1),
        engine=_default(request.get("engine"), "naive"),
        allocator=_default(request.get("allocator"), "fixed"),
    )


def _read_configs(paths: Sequence[Path], own: Workloads) -> Sequence[ParamConfig]:
    """Read PARAM's configs; a request without one does not wait for their grammar."""
    if not paths:
        return ()
    from opperf.param.document import read_config

    return [read_config(path, own) for path in paths]


def plugin_files(
    request: Request, sides: Iterable[str] = (), *, note: Callable[[str], None] = warnings.warn
) -> list[Path]:
    """Return the files of plugins, and make the frameworks known that they bring; raises `InputError`.

    `sides` are texts that may begin with such a framework. They are parsed later.
    """
    names = [*_words(request.get("framework")), *(side.partition(";")[0].strip() for side in sides)]
    return register_frameworks([plugin_file(path) for path in _paths(request.get("plugin"))], names, note)


def comparing_clock(clock: str) -> str:
    """Return the clock that decides comparisons; raises `InputError`."""
    if clock not in ("wall", INSTRUCTIONS):
        raise InputError(f"`--clock` is `{clock}`, expected wall or {INSTRUCTIONS}")
    return clock


def checking(check: bool | str | None, *, no_check: bool = False) -> str | None:
    """Return which results are checked, None where the side decides; raises `InputError`."""
    if no_check and check not in (None, UNCHECKED):
        raise InputError(f"`--no-check` and `--check {check}` contradict each other", hint="use one or the other")
    if isinstance(check, bool):
        return None if check else UNCHECKED
    return UNCHECKED if no_check else check


def settings(request: Request, **fixed: Any) -> Settings:
    """Return the settings; `fixed` are those that are not the user's to choose. Raises `InputError`."""
    fields = {name: request[name] for name in PLAIN if request.get(name) is not None}
    fields |= {
        name: number(request[name], read, name) for name, read in READERS.items() if request.get(name) is not None
    }
    cpus = request.get("cpus")
    return Settings(**{**fields, "cpus": None if cpus is None else usable_cpus(cpus), **fixed})


def number(value: float | str, read: Callable[..., float], name: str) -> float:
    """Return a number, or read a text as one; raises `InputError` with the option's name."""
    return read(value, name=f"`--{name.replace('_', '-')}`") if isinstance(value, str) else value


def rule(
    tolerance: float | str | Tolerances,
    pairs: int,
    *,
    settle: bool = False,
    max_pairs: int | None = None,
    trial_budget: float | str | None = None,
    precision: float | str | None = None,
) -> Rule:
    """Return the rule of a comparison; raises `InputError`."""
    if not isinstance(tolerance, Tolerances):
        tolerance = Tolerances(number(tolerance, parse_percent, "tolerance"))
    most = _most_pairs(pairs, max_pairs, settle=settle)
    own = settings({"trial_budget": trial_budget, "precision": precision})  # which says what is wrong with one
    return Rule(
        tolerance=tolerance.usual,
        pairs=pairs,
        most=most,
        own=tolerance.own,
        sampling=None if trial_budget is None else own.trial_budget,
        precision=None if precision is None else own.precision,
    )


def _most_pairs(pairs: int, most: int | None, *, settle: bool) -> int | None:
    """Return the maximum number of pairs with `--settle`; None without it.

    Raises `InputError` for a number that means nothing.
    """
    check_most("--pairs", pairs, "pairs")
    check_most("--max-pairs", most or 0, "pairs")
    if not settle and most is not None:
        raise InputError("`--max-pairs` needs `--settle`", hint="add `--settle`")
    if most is not None and most < pairs:
        raise InputError(f"`--max-pairs` is {most}, fewer than the {pairs} pairs of the first look")
    return max(MOST_PAIRS, pairs) if settle and most is None else most


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


def _words(value: str | Iterable[str] | None) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value or ())


def _paths(value: str | Path | Iterable[str | Path] | None) -> list[Path]:
    return [Path(value)] if isinstance(value, (str, Path)) else [Path(path) for path in value or ()]


def _default(value: T | None, usual: T) -> T:
    return usual if value is None else value
