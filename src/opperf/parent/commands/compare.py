"""Compare sides: live, or from two recorded runs. An interrupted comparison keeps its finished part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from opperf.domain.code import is_code
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, OpperfError
from opperf.domain.plan import Settings
from opperf.domain.record import Run
from opperf.domain.registry import split_implementation
from opperf.parent.analysis.crowd import crowd_warnings
from opperf.parent.analysis.two_runs import compare_runs
from opperf.parent.analysis.verdict import Rule
from opperf.parent.commands.deciding import rule_of
from opperf.parent.commands.load import read_results
from opperf.parent.documents.comparison import Comparison, ComparisonRun
from opperf.parent.documents.environment import CommitText
from opperf.parent.documents.load import load_of
from opperf.parent.documents.tolerances import FIRST_PAIRS
from opperf.parent.measuring.calibration import stored_floors, stored_rates
from opperf.parent.measuring.comparing import Comparing
from opperf.parent.measuring.contest import Contest, header, outcome
from opperf.parent.measuring.explain import explain
from opperf.parent.measuring.fleet import fleet_of
from opperf.parent.measuring.progress import Progress, Stoppable, planning
from opperf.parent.planning import request as requests
from opperf.parent.planning.commit_sides import check_building, with_commits, with_frameworks
from opperf.parent.planning.request import Request
from opperf.parent.planning.selection import Selection
from opperf.parent.planning.side_text import SideText, parse_side
from opperf.parent.planning.wishes import Wishes
from opperf.parent.reports.machine import own_load
from opperf.parent.sources.options import Building, Deciding
from opperf.parent.sources.plugin_file import framework_of, named_side
from opperf.parent.workers import gpus
from opperf.parent.workers.canaries import caches
from opperf.parent.workers.interpreters import importable

if TYPE_CHECKING:
    from opperf.parent.measuring.fleet.dispatch import Fleet


@dataclass(frozen=True)
class Order:
    """When a comparison is decided, and what else to do with it.

    `processes` is what `run` calls the pairs: a process of each side is one. Without `keep_samples` a comparison holds
    no values of its pairs.
    """

    deciding: Deciding = field(default_factory=Deciding)
    building: Building = field(default_factory=Building)
    explain: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    command: Sequence[str] = ()
    fleet: Wishes | None = None
    processes: int | None = None
    keep_samples: bool = True
    #: The log-ratios that series of builds moved by before, by `series_key`.
    pasts: Mapping[tuple[object, ...], float] = field(default_factory=dict)
    #: Whether cases that are next to nothing of a suite get few pairs: what a gate judges each case by, they need.
    thrifty: bool = False

    def rule(self) -> Rule:
        """Return the rule; raises `InputError`."""
        deciding = self.deciding
        pairs = deciding.pairs if self.processes is None else self.processes
        if deciding.pairs not in (pairs, FIRST_PAIRS):
            raise InputError(
                f"`--pairs {deciding.pairs}` and `--processes {pairs}` contradict each other",
                hint="a pair is a process of each side: use one or the other",
            )
        return rule_of(replace(deciding, pairs=pairs), name="--pairs" if self.processes is None else "--processes")


def compare(
    operators: Sequence[str],
    request: Request,
    order: Order,
    progress: Progress,
    *,
    base: str | None = None,
    new: Sequence[str] = (),
) -> tuple[ComparisonRun, BaseException | None]:
    """Return a comparison, and the exception that stopped it or None. Without sides, two result files are compared.

    Raises `InputError` for bad input.
    """
    rule = order.rule()
    operators, base = base_of(operators, base, new)
    texts = [text for text in (base, *new) if text is not None]
    check_building(texts, order.building)
    if not texts:
        if request.metric != Settings.metric:
            hint = "give `--base SIDE` and `--new SIDE`"
            raise InputError(
                f"`--metric {request.metric}` has nothing to measure: result files are compared", hint=hint
            )
        return of_runs(*_runs(operators, order), rule), None
    if base is None or not new:
        raise InputError("a comparison needs both `--base SIDE` and `--new SIDE`", hint="or name two result files")
    plugins = requests.plugin_files(request.what.plugin, request.where.framework, texts, note=progress.note)
    sides = parse_sides([named_side(text, plugins) for text in with_frameworks(texts, operators)])
    first, *others = with_commits(sides, operators, order.building)
    tells = any(text.side.implementation is not None for text in (first, *others))
    selection = requests.selection(operators, request, others=tells, note=progress.note)
    order = replace(order, thrifty=True)
    run, cause = live(selection, first, others, requests.settings(request), order, progress)
    return run if order.keep_samples else _without_pairs(run), cause


def _without_pairs(run: ComparisonRun) -> ComparisonRun:
    """Return comparisons without what each pair said: verdicts, ratios, intervals and times stay."""
    plain = (replace(one, log_ratios=(), base_faults=(), new_faults=(), pair_levels=()) for one in run.comparisons)
    return replace(run, comparisons=tuple(plain))


def of_runs(old: Run, new: Run, rule: Rule) -> ComparisonRun:
    """Return the comparison of two runs that were recorded."""
    return ComparisonRun(new, tuple(compare_runs(old, new, rule, stored_floors())))


def _runs(files: Sequence[str], order: Order) -> tuple[Run, Run]:
    """Read two result files; raises `InputError` for other files, and for options of live comparisons."""
    options = {**vars(order.deciding), "explain": order.explain, "processes": order.processes}
    for name in ("explain", "settle", "processes", "trial_budget", "precision"):
        if options[name]:
            wants = {"explain": "run", "settle": "go on with"}.get(name, "measure")
            raise InputError(
                f"`--{name.replace('_', '-')}` has nothing to {wants}: result files are compared",
                hint="give `--base SIDE` and `--new SIDE`",
                slug="nothing_to_explain" if name == "explain" else "nothing_to_settle",
            )
    if len(files) != 2 or not any(Path(file).is_file() for file in files):
        raise InputError(
            "nothing to compare: give `--base SIDE` and `--new SIDE`, or two result files",
            hint="`opperf compare add --base torch --new jax`, or `opperf compare old.json new.json`",
            slug="nothing_to_compare",
        )
    old, new = (read_results(Path(file)) for file in files)
    return old, new


def live(
    selection: Selection,
    base: SideText,
    new: Sequence[SideText],
    settings: Settings,
    order: Order,
    progress: Progress,
) -> tuple[ComparisonRun, BaseException | None]:
    """Return a live comparison, and what stopped it, None when nothing did; what is decided is kept."""
    if order.fleet is not None and settings.jobs != 1:
        raise InputError(
            "`--jobs` applies to this machine, but `--fleet` measures on others", hint="leave out one of them"
        )
    commits = [text.text for text in (base, *new) if isinstance(text.side.environment, CommitText)]
    if order.fleet is not None and commits:
        raise InputError(
            f"`{commits[0]}` is built on this machine, but `--fleet` measures on others", slug="fleet_code"
        )
    if order.fleet is None:
        gpus.check_devices((text.side.framework, text.side.device) for text in (base, *new))
    comparing = Comparing(
        *(settings, order.rule(), progress.note),
        floors=stored_floors(),
        pasts=order.pasts,
        plugins=selection.plugins,
        thrifty=order.thrifty,
    )
    comparing.follow(progress)
    with fleet_of(order.fleet, selection, progress) as fleet:
        with planning(progress):
            contests = comparing.contests(selection, base, new)
        if fleet is not None:
            return _compare_on_fleet(fleet, contests, comparing, order)
    with Stoppable() as measuring:
        comparing.run(contests)
        if order.explain:
            explain(contests, settings, progress.note, spent=comparing.spent, plugins=selection.plugins)
    run = header(settings, comparing.start, comparing.facts, labels=order.labels, command=order.command)
    return _beside_others(ComparisonRun(run, tuple(map(outcome, contests)))), measuring.cause


def _beside_others(run: ComparisonRun) -> ComparisonRun:
    """Return comparisons with what other programs may have done to them."""
    sides = (side for one in run.comparisons for side in (one.base, one.new))
    load, own, rates = load_of(run.run.machine, own_load(run.run, sides)), caches().own, stored_rates()
    warned = (replace(one, warnings=(*one.warnings, *crowd_warnings(one, load, own, rates))) for one in run.comparisons)
    return replace(run, comparisons=tuple(warned))


def _compare_on_fleet(
    fleet: Fleet, contests: Sequence[Contest], comparing: Comparing, order: Order
) -> tuple[ComparisonRun, BaseException | None]:
    """Have the nodes of a fleet decide contests; what is decided when something stops them is kept."""
    comparisons: list[Comparison] = []
    with Stoppable() as measuring:
        for comparison in fleet.comparisons(contests, comparing.settings, order.rule(), explain=order.explain):
            comparisons.append(comparison)  # noqa: PERF402  # what stops the others leaves those that came
    if not comparisons and isinstance(measuring.cause, OpperfError):
        raise measuring.cause  # such as a fleet that cannot be reached: there is nothing to report
    places = {(one.key.case.id, one.key.direction, one.new.side.key): place for place, one in enumerate(contests)}
    comparisons.sort(key=lambda one: places[one.case.id, one.direction, one.new.key])
    run = header(comparing.settings, comparing.start, fleet.sides, labels=order.labels, command=order.command)
    run = replace(run, environment={**run.environment, "nodes": fleet.nodes})
    return ComparisonRun(run, tuple(comparisons)), measuring.cause


def base_of(operators: Sequence[str], base: str | None, new: Sequence[str]) -> tuple[list[str], str | None]:
    """Return the operators and the base: `compare mine.py:f --new mine.py:g` compares the one with the other."""
    names = list(operators)
    alone = base is None and new and len(names) == 1
    if alone and (is_code(names[0]) or split_implementation(names[0])[0] is not None):
        return [], names[0]
    return names, base


def parse_sides(texts: Sequence[str], others: Sequence[SideText] = ()) -> list[SideText]:
    """Read sides as a user names them, in addition to `others` from a file; raises `InputError`.

    Code that does not tell its framework is of the one that it is declared for, that its file imports, or that another
    side is of; else of the only one that imports here.
    """

    def framework_of_others() -> str | None:
        owners = [other.side.framework for other in others]
        for text in texts:
            with suppress(InputError):
                owners.append(parse_side(text, framework_of).side.framework)
        return owners[0] if owners else importable()[0] if len(importable()) == 1 else None

    return [parse_side(text, lambda code: framework_of(code) or framework_of_others()) for text in texts]
