"""Measure two suites beside each other, and compare what their modules take.

All cases of both are one run, so that each process meets them under the same conditions, and a case that both have is
measured once: it moves neither the ratio of its row nor that of the whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.registry import framework, hosts_of, split_implementation
from opperf.domain.suite import Suite
from opperf.parent.commands.run import measure
from opperf.parent.documents.suite_change import SuiteChange, change_between, directions_of
from opperf.parent.measuring.progress import Progress
from opperf.parent.measuring.session import Options
from opperf.parent.planning import request as requests
from opperf.parent.planning.request import Request
from opperf.parent.sources.options import Sampling, What, Where
from opperf.parent.sources.suite_file import read_suite

#: Fewer processes give no interval.
LEAST_PROCESSES = 3
NO_OPERATORS = "operators cannot be named with `--with`, which compares whole suites"
#: Options of `compare` that choose or change cases, of which a suite has its own.
OF_CASES = (
    "category",
    "all",
    "skip",
    "dtype",
    "values",
    "inputs",
    "shapes",
    "attributes",
    "size",
    "random",
    "direction",
)


@dataclass(frozen=True)
class Result:
    """What two suites amount to, and the exception that ended their measurement or None."""

    change: SuiteChange
    cause: BaseException | None = None


def compare_suites(
    request: Request,
    second: Path | Suite,
    options: Options,
    progress: Progress,
    *,
    base: str | None = None,
    new: str | None = None,
    processes: int | None = None,
) -> Result:
    """Measure two suites, that of the request and a second one, with the same settings.

    `base` and `new` are the frameworks that measure neutral operators of the first and of the second suite, the second
    as the first by default. Raises `InputError` for bad input.
    """
    before, after = _suite(request.what), second if isinstance(second, Suite) else read_suite(second)
    sides = _framework(base, "--base"), _framework(new or base, "--new" if new else "--base")
    names = _frameworks(before, sides[0], "--base") | _frameworks(after, sides[1], "--new")
    if processes is not None and processes < 1:
        raise InputError(f"`--processes` is {processes}, expected a whole number >= 1")
    cases = tuple(replace(one, directions=directions_of(one)) for one in (*before.cases, *after.cases))
    both = Suite(f"{before.name} and {after.name}", f"{before.source}, {after.source}", cases)
    request = replace(
        request,
        what=replace(request.what, suite=both),
        where=Where(framework=tuple(names)),
        sampling=Sampling(processes=processes or LEAST_PROCESSES),
    )
    selection = requests.selection((), request, others=True, note=progress.note)
    result = measure(selection, requests.settings(request, latency=False, by_share=True), options, progress)
    return Result(change_between(before, after, result.run, sides), result.cause)


def refuse(options: Iterable[str]) -> None:
    """Raise `InputError` for an option of other comparisons."""
    for name in options:
        hint = "two suites are measured side by side: leave it out"
        raise InputError(f"`{name}` cannot be used with `--with`" if name[0] == "-" else NO_OPERATORS, hint=hint)


def _suite(what: What) -> Suite:
    """Return the first suite; raises `InputError` where there is none, and for options that change cases."""
    if what.suite is None:
        raise InputError("`--with` needs another suite to compare with", hint="`--suite before.json --with after.json`")
    for name in OF_CASES:
        if getattr(what, name):
            raise InputError(
                f"`--{name.rstrip('s') if name in ('inputs', 'attributes') else name}` cannot be used with `--with`",
                hint="whole suites are compared, with the cases that they have",
            )
    return what.suite if isinstance(what.suite, Suite) else read_suite(what.suite)


def _framework(name: str | None, option: str) -> str | None:
    if name is None:
        return None
    try:
        return framework(name).name
    except InputError as error:
        raise InputError(
            f"`{option} {name}`: with `--with` a side is the name of a framework", hint=error.hint or error.message
        ) from error


def _frameworks(suite: Suite, side: str | None, option: str) -> dict[str, None]:
    """Return the frameworks that measure a suite; raises `InputError` for neutral operators without one."""
    names: dict[str, None] = {}
    for place, entry in enumerate(suite.cases):
        owner = split_implementation(entry.case.operator)[0]
        hosts = (side,) if owner is None else hosts_of(owner)
        if hosts[0] is None:
            raise InputError(
                f"`{suite.name}`: cases[{place}]: any framework may have `{entry.case.operator}`",
                hint=f"say which one measures it: `{option} torch`",
            )
        names[str(side if side in hosts else hosts[0])] = None
    return names
