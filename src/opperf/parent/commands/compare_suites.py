"""Measure two suites beside each other, and compare what their modules and the wholes of them take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.operator_group import group_of
from opperf.domain.plan import Settings, Trial
from opperf.domain.registry import hosts_of, split_implementation
from opperf.domain.suite import Suite, SuiteCase
from opperf.parent.analysis.module_match import Labels, labels, shares
from opperf.parent.commands.compare import Order, parse_sides
from opperf.parent.documents.suite_change import AFTER, BEFORE, SuiteChange, Unmeasured
from opperf.parent.measuring.contest import header
from opperf.parent.measuring.progress import Progress, Stoppable, planning
from opperf.parent.measuring.suite_pairs import Calls, SuitePairs
from opperf.parent.planning import request as requests
from opperf.parent.planning.expand import expand
from opperf.parent.planning.implementations import trial_on
from opperf.parent.planning.request import Request
from opperf.parent.planning.selection import Selection
from opperf.parent.planning.side_text import SideText
from opperf.parent.sources.options import What
from opperf.parent.sources.plugin_file import named_side
from opperf.parent.sources.suite_file import read_suite
from opperf.parent.workers import gpus
from opperf.parent.workers.interpreters import settled_side
from opperf.parent.workers.pool import Pool

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

#: The cases of a suite that one side measures.
Share: TypeAlias = tuple[SideText, list[SuiteCase]]


@dataclass(frozen=True)
class Result:
    """What two suites amount to, and the exception that ended their measurement or None."""

    change: SuiteChange
    cause: BaseException | None = None


def compare_suites(
    request: Request,
    second: Path | Suite,
    order: Order,
    progress: Progress,
    *,
    base: str | None = None,
    new: str | None = None,
) -> Result:
    """Measure two suites, that of the request and a second one, in pairs of processes until there is a verdict.

    `base` and `new` are the sides that measure the first and the second suite, the second as the first by default; what
    a side's framework cannot run is measured by the framework that it belongs to. Raises `InputError` for bad input.
    """
    rule = order.rule()
    before, after = _suite(request.what), second if isinstance(second, Suite) else read_suite(second)
    texts = [text for text in (base, new or base) if text is not None]
    plugins = requests.plugin_files(request.what.plugin, (), texts, note=progress.note)
    sides = [_side(text, plugins, option) for text, option in ((base, "--base"), (new, "--new")) if text is not None]
    first, last = (sides[0] if base else None), (sides[-1] if sides else None)
    divided = _divided(before, first, "--base"), _divided(after, last, "--new" if new else "--base")
    gpus.check_devices((text.side.framework, text.side.device) for half in divided for text, _ in half)
    settings = requests.settings(request, latency=False)
    selection = requests.selection((), request, others=True, note=progress.note)
    with planning(progress), Pool(settings, progress.note, selection.plugins) as pool:
        names = labels(before, after)
        first_calls, second_calls = (
            [calls for share in half for calls in _calls(share, rows, selection, settings, pool)]
            for half, rows in zip(divided, names)
        )
    pairs = SuitePairs((first_calls, second_calls), settings, rule, progress.note, plugins=selection.plugins)
    pairs.follow(progress)
    with Stoppable() as measuring:
        pairs.decide()
    run = header(settings, pairs.start, pairs.facts, labels=order.labels, command=order.command)
    change = SuiteChange(
        run=replace(run, records=pairs.records()),
        before=before.name,
        after=after.name,
        verdict=pairs.verdict,
        rows=pairs.rows(),
        unmeasured=(*pairs.unmeasured(), *_left_out(before, BEFORE), *_left_out(after, AFTER)),
        log_ratios=pairs.log_ratios if order.keep_samples else (),
    )
    return Result(change, measuring.cause)


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


def _side(text: str, plugins: Sequence[Path], option: str) -> SideText:
    """Read a side of a whole suite; raises `InputError`, for a function or an operator as well."""
    (side,) = parse_sides([named_side(text, plugins)])
    if side.side.implementation is not None:
        raise InputError(
            f"`{option} {text}`: one function cannot run a suite, expected a framework, a version or an environment",
            hint="`opperf run --suite STEP.json --replace OPERATOR=FILE.py:FUNCTION` replaces one operator",
        )
    return side


def _divided(suite: Suite, side: SideText | None, option: str) -> list[Share]:
    """Divide a suite by the sides that measure it; raises `InputError` for neutral operators without one."""
    if not suite.cases:
        raise InputError(f"`{suite.name}` has no cases", hint="`opperf capture` writes those of a program")
    divided: dict[str, Share] = {}
    for place, entry in enumerate(suite.cases):
        owner = split_implementation(entry.case.operator)[0]
        if owner is None and side is None:
            raise InputError(
                f"`{suite.name}`: cases[{place}]: any framework may have `{entry.case.operator}`",
                hint=f"say which one measures it: `{option} torch`",
            )
        if side is not None and (owner is None or side.side.framework in hosts_of(owner)):
            divided.setdefault(side.text, (side, []))[1].append(entry)
        else:
            host = hosts_of(str(owner))[0]
            divided.setdefault(host, (parse_sides([host])[0], []))[1].append(entry)
    return [*divided.values()]


def _calls(share: Share, rows: Labels, selection: Selection, settings: Settings, pool: Pool) -> Iterator[Calls]:
    """Yield the calls of a side's cases, those of each module by themselves."""
    text, cases = share
    cases = [replace(entry, directions=entry.directions or ("forward",)) for entry in cases]
    selection = replace(selection, suite=Suite("", "", tuple(cases)))
    text = replace(text, side=settled_side(text.side, selection.libraries))
    plan = expand(selection, settings, [text.side], pool, registered=False)
    trials: dict[tuple[str, str], Trial] = {
        (trial.case.id, trial.direction): trial_on(trial, text) for trial in plan.trials
    }
    for entry in cases:
        own = tuple(trials[entry.case.id, direction] for direction in entry.directions)
        for place, count in shares(entry.origin, entry.count):
            yield Calls(rows[place], group_of(entry.case.operator), count, own)


def _left_out(suite: Suite, name: str) -> Iterator[Unmeasured]:
    """Yield the calls of a program that no case of its suite holds."""
    return (Unmeasured(name, gap.name, gap.count, f"in no case: {gap.reason}") for gap in suite.left_out)
