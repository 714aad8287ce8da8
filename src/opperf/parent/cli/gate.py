"""`opperf gate`: the comparison for CI, whose exit code says whether a change may go through."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from opperf.parent.cli import options
from opperf.parent.cli.option_groups import grouped
from opperf.parent.cli.selecting import inputs, labels, most_pairs, usable_cpus

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from opperf.domain.expectation import Expectation
    from opperf.domain.plan import Plan, Settings
    from opperf.domain.record import Run
    from opperf.parent.cli.gate_report import Places
    from opperf.parent.planning.selection import Selection
    from opperf.parent.planning.side_text import SideText
    from opperf.parent.session import Session
    from opperf.parent.sources.gate_file import GateFile

Option = typer.Option
#: The options that only one way of judging reads.
LIVE_ONLY = ("base", "new", "tolerance", "pairs", "settle", "max_pairs", "explain")
RECORDED_ONLY = ("threshold", "processes", "framework", "environment", "device")


@grouped
def gate(
    operators: options.Operators = None,
    *,
    what: options.What,
    config: Annotated[
        Optional[Path],
        Option(metavar="FILE", help="Gate file. Default: opperf.toml, or [tool.opperf] in pyproject.toml."),
    ] = None,
    base: Annotated[Optional[str], Option(metavar="SIDE", help="Side that is known to be good.")] = None,
    new: Annotated[
        Optional[list[str]], Option(metavar="SIDE", help="Side that must not be slower. Repeatable.")
    ] = None,
    tolerance: Annotated[Optional[str], Option(metavar="PERCENT", help="Smallest change worth reporting.")] = None,
    pairs: Annotated[Optional[int], Option(metavar="K", help="Pairs of processes before the first look.")] = None,
    settle: Annotated[
        Optional[bool], Option("--settle/--no-settle", help="Continue until the interval decides.", show_default=False)
    ] = None,
    max_pairs: Annotated[Optional[int], Option(metavar="N", help="Maximum pairs with --settle. Default: 64.")] = None,
    expected: Annotated[
        Optional[Path], Option(metavar="FILE", help="Compare with recorded expectations instead.")
    ] = None,
    threshold: Annotated[
        Optional[str], Option(metavar="PERCENT", help="Allowed deviation from an expectation.")
    ] = None,
    update_expected: Annotated[bool, Option("--update-expected", help="Record the expectations again.")] = False,
    processes: Annotated[Optional[int], Option(metavar="K", help="Processes per expectation.")] = None,
    framework: options.Framework = None,
    environment: options.Environment = None,
    device: options.Device = None,
    inconclusive: Annotated[Optional[str], Option(metavar="pass|fail", help="Result when there is no verdict.")] = None,
    budget: options.Budget = None,
    timeout: Annotated[Optional[str], Option(metavar="SECONDS", help="Time limit for one trial.")] = None,
    cpus: options.Cpus = None,
    seed: Annotated[Optional[int], Option(metavar="S", help="Seed for the values of the inputs.")] = None,
    no_check: options.NoCheck = False,
    explain: options.Explain = False,
    report: options.Report,
    markdown: Annotated[
        Optional[Path], Option(metavar="FILE", help="Write a Markdown report for a pull request.")
    ] = None,
    junit: Annotated[Optional[Path], Option(metavar="FILE", help="Write a JUnit XML report.")] = None,
    github: Annotated[
        Optional[bool],
        Option("--github/--no-github", help="Write annotations and a step summary. Default: in GitHub Actions."),
    ] = None,
) -> None:
    """Compare for CI: the exit code says whether a change may pass.

    0 fine, 1 a regression, 2 bad input, 3 a side could not be measured, 4 inconclusive.

    What is compared stands in a file; options override it.
    """
    from opperf.domain.errors import InputError
    from opperf.parent.cli.gate_report import Places
    from opperf.parent.cli.live import base_of
    from opperf.parent.sources.gate_file import overridden

    given = {
        "tolerance": tolerance,
        "pairs": pairs,
        "settle": settle,
        "max_pairs": max_pairs,
        "expected": None if expected is None else str(expected),
        "threshold": threshold,
        "processes": processes,
        "framework": framework,
        "environment": environment,
        "device": device,
        "inconclusive": inconclusive,
        "budget": budget,
        "timeout": timeout,
        "cpus": cpus,
        "seed": seed,
    }
    wanted = overridden(_configured(config, what.plugin or ()), given)
    places = Places(report.format, report.output, markdown, junit, github, report.force)
    places.check([*inputs(operators, what), wanted.path, wanted.suite, wanted.expected])
    if wanted.base is None and not (wanted.operators or wanted.categories or wanted.suite):
        operators, base = base_of(operators, base, new)
    sides = _sides(wanted, base, new)
    tells = any(side is not None and side.side.implementation is not None for side in (sides[0], *sides[1]))
    others = tells or (wanted.expected is not None and not update_expected)
    selected = _selection(wanted, operators, what, others=others)
    labelled = labels(report)
    live = base is not None or bool(new)
    recorded = expected is not None or update_expected
    if live and recorded:
        raise InputError(
            "`--base` and `--new` compare live, `--expected` and `--update-expected` with what is recorded",
            hint="give the one or the other",
        )
    if update_expected and (markdown or junit):
        raise InputError(
            "`--update-expected` judges nothing: no `--markdown` and no `--junit` come of it",
            hint="leave them out, or judge in a second command",
        )
    compared = live or wanted.base is not None or bool(wanted.new)
    recorded = recorded or (wanted.expected is not None and not compared)
    typed = {**given, "base": base, "new": new, "explain": explain or None}
    _refuse_idle({name for name, value in typed.items() if value not in (None, [])}, recorded=recorded)
    if recorded:
        measuring = _settings(wanted, wanted.processes, check=not no_check)
        _against_expected(wanted, selected, places, labelled, measuring, update=update_expected)
    else:
        measuring = _settings(wanted, check=not no_check)
        _against_base(wanted, selected, sides, places, labelled, measuring, explain=explain)


def _refuse_idle(named: set[str], *, recorded: bool) -> None:
    """Raise for an option that the chosen way of judging does not read: whoever gave it expects something of it."""
    from opperf.domain.errors import InputError

    idle = sorted(named & set(LIVE_ONLY if recorded else RECORDED_ONLY))
    if idle and recorded:
        raise InputError(
            f"`{_flag(idle[0])}` means nothing to expectations", hint="they have `--threshold` and `--processes`"
        )
    if idle:
        hint = (
            "give `--expected FILE` to judge by expectations; a side says its framework, environment and device itself"
        )
        raise InputError(f"`{_flag(idle[0])}` means nothing to a live comparison", hint=hint)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _configured(config: Path | None, plugins: Sequence[Path]) -> GateFile:
    """Return what the gate file says; sides and CPUs are read at once, so that a mistake is told with its place."""
    from opperf.domain.errors import InputError
    from opperf.parent.planning.side_text import read_side
    from opperf.parent.sources.gate_file import GateFile, find_gate_file, read_gate_file
    from opperf.parent.sources.plugin_file import operators_of

    path = find_gate_file(Path()) if config is None else config
    if path is None:
        return GateFile()
    found = read_gate_file(path, lambda: operators_of(plugins))
    checks: tuple[tuple[str, Callable[[str], object], tuple[str | None, ...]], ...] = (
        ("base", read_side, (found.base,)),
        ("new", read_side, found.new),
        ("cpus", usable_cpus, (found.cpus,)),
    )
    for key, check, texts in checks:
        for text in texts:
            try:
                if text is not None:
                    check(text)
            except InputError as error:
                raise InputError(f"{path}: `{key}`: {error.message}", hint=error.hint, slug=error.slug) from error
    return found


def _selection(wanted: GateFile, operators: list[str] | None, what: options.What, *, others: bool) -> Selection:
    """Return what is measured: what the command line selects in place of what the file does, then how, one by one.

    Of operators the file has names alone; those of your own functions are known where `--plugin` names their file.
    """
    from dataclasses import replace

    from opperf.parent.cli.selecting import selection

    selects = bool(operators or what.category or what.every or what.suite)
    if not selects:
        what = replace(what, category=list(wanted.categories), suite=wanted.suite, skip=what.skip or list(wanted.skip))
    typed = selection(operators, what, names=() if selects else wanted.operators, others=others)
    return replace(
        typed,
        sizes=typed.sizes or wanted.sizes,
        dtypes=typed.dtypes or wanted.dtypes,
        values=typed.values or wanted.values,
        random=wanted.random if typed.random is None else typed.random,
        directions=typed.directions or wanted.directions,
        inputs=typed.inputs or (() if typed.rows else wanted.inputs),
        attributes=typed.attributes or wanted.attributes,
        frameworks=wanted.frameworks,
        environments=wanted.environments,
        devices=wanted.devices,
        modes=wanted.modes,
    )


def _sides(wanted: GateFile, base: str | None, new: list[str] | None) -> tuple[SideText | None, list[SideText]]:
    """Return base and new: those that the command line names, which may be code, else those of the file."""
    from opperf.parent.cli.live import sides_named
    from opperf.parent.planning.side_text import read_side

    base_of_file = [] if base is not None or wanted.base is None else [read_side(wanted.base)]
    new_of_file = [] if new else [read_side(text) for text in wanted.new]
    typed = sides_named([*([] if base is None else [base]), *(new or ())], [*base_of_file, *new_of_file])
    first = [*base_of_file, *(typed[:1] if base is not None else ())]
    return first[0] if first else None, new_of_file or typed[len(typed) - len(new or ()) :]


def _settings(wanted: GateFile, processes: int = 1, *, check: bool) -> Settings:
    from opperf.domain.plan import Settings

    return Settings(
        timeout=wanted.timeout,
        budget=wanted.budget,
        cpus=None if wanted.cpus is None else usable_cpus(wanted.cpus),
        seed=wanted.seed,
        processes=processes,
        latency=False,
        check=check,
    )


def _against_base(
    wanted: GateFile,
    selection: Selection,
    sides: tuple[SideText | None, list[SideText]],
    places: Places,
    labels: Mapping[str, str],
    settings: Settings,
    *,
    explain: bool,
) -> None:
    """Compare live, and leave with what the gate says."""
    from opperf.domain.errors import InputError
    from opperf.parent.analysis.gate import judged
    from opperf.parent.analysis.verdict import Rule
    from opperf.parent.cli.gate_report import deliver
    from opperf.parent.cli.live import compare_live

    base, new = sides
    if base is None or not new:
        raise InputError(
            "a gate needs a base and a new side, or expectations",
            hint="`base` and `new` in opperf.toml, `--base SIDE --new SIDE`, or `--expected FILE`",
            slug="nothing_to_compare",
        )
    most = most_pairs(wanted.pairs, wanted.max_pairs, settle=wanted.settle)
    rule = Rule(tolerance=wanted.tolerance, pairs=wanted.pairs, most=most)
    document, stopped = compare_live(selection, base, new, settings, rule, labels, explain=explain)
    judgement = judged(document.comparisons, wanted.tolerance, inconclusive=wanted.inconclusive)
    deliver(document, judgement, places)
    raise SystemExit(judgement.exit_code) if stopped is None else stopped


def _against_expected(
    wanted: GateFile,
    selection: Selection,
    places: Places,
    labels: Mapping[str, str],
    settings: Settings,
    *,
    update: bool,
) -> None:
    """Measure as `opperf run` does; then judge by what is expected, or write down what is to be expected."""
    from opperf.domain.errors import InputError, way_out
    from opperf.parent.cli.progress import Bar, planning
    from opperf.parent.session import Interrupted, Options, Session
    from opperf.parent.store.expected_file import read_expected

    path = wanted.expected
    if path is None:
        raise InputError(
            "no file of expectations is named",
            hint="give `--expected FILE`, or `file` in the table `[expected]`",
            slug="expected_file",
        )
    expectations = () if update and not path.exists() else read_expected(path)
    bar = Bar()
    stopped: BaseException | None = None
    with Session(selection, settings, bar) as session:
        with planning(bar):
            plan = _plan(session, wanted, selection, expectations, settings)
        try:
            run = session.run(plan, Options(labels=labels, command=("opperf", *sys.argv[1:])))
        except Interrupted as stop:
            run = stop.run
            stopped = way_out(stop.cause)
    bar.close()
    code = _updated(run, expectations, path, places, stopped) if update else _judged(run, expectations, wanted, places)
    raise SystemExit(code) if stopped is None else stopped


def _plan(
    session: Session,
    wanted: GateFile,
    selection: Selection,
    expectations: tuple[Expectation, ...],
    settings: Settings,
) -> Plan:
    """Return the trials of the selection; where nothing is selected, those that something is expected of."""
    from opperf.domain.environment import EnvironmentSpec
    from opperf.domain.errors import InputError
    from opperf.domain.plan import Plan
    from opperf.domain.registry import device_named

    if selection.operators or selection.categories or selection.every or selection.suite:
        return session.plan()
    asked = (
        ("framework", wanted.frameworks),
        ("environment", tuple(EnvironmentSpec.parse(text).text for text in wanted.environments)),
        ("device", tuple(device_named(text) for text in wanted.devices)),
        ("mode", wanted.modes),
    )
    trials = [
        selection.measurable(expectation.trial, f"{wanted.expected}: expectations[{i}]")
        for i, expectation in enumerate(expectations)
        if all(not names or getattr(expectation.trial.side, field) in names for field, names in asked)
    ]
    if not trials:
        raise InputError(
            "nothing to measure: no operators are named, and nothing is expected there",
            hint="name operators, or select them in the gate file",
            slug="empty_plan",
        )
    return Plan(tuple(trials), settings)


def _judged(run: Run, expectations: tuple[Expectation, ...], wanted: GateFile, places: Places) -> int:
    """Judge a run by expectations, and return the exit code."""
    from dataclasses import replace

    from opperf.domain.comparison import ComparisonRun
    from opperf.domain.floor import floor_key
    from opperf.parent.analysis.expected import compare_expected
    from opperf.parent.analysis.gate import judged
    from opperf.parent.analysis.recorded import FLOOR
    from opperf.parent.calibration import stored_floors
    from opperf.parent.cli.gate_report import deliver

    floors = stored_floors()
    comparisons = tuple(compare_expected(expectations, run, wanted.threshold, floors))
    judgement = judged(comparisons, wanted.threshold, against="expected", inconclusive=wanted.inconclusive)
    if wanted.threshold < FLOOR and any(floor_key(record.trial) not in floors for record in run):
        typer.echo(
            f"the threshold of {wanted.threshold:.0%} is below the {FLOOR:.0%} that identical code may move by between "
            "runs on a shared machine; `opperf noise` measures how far it does on this one",
            err=True,
        )
    deliver(ComparisonRun(replace(run, records=()), comparisons), judgement, places)
    return judgement.exit_code


def _updated(
    run: Run, expectations: tuple[Expectation, ...], path: Path, places: Places, stopped: BaseException | None
) -> int:
    """Write down what was measured, unless the run was stopped, and return the exit code: 3 when a trial failed."""
    from opperf.parent.analysis.expected import expectations_of, updated
    from opperf.parent.cli.output import deliver
    from opperf.parent.store.expected_file import write_expected

    deliver(run, places.format, places.output)
    if stopped is not None:
        typer.echo(f"stopped: {path} is as it was", err=True)
        return 0
    measured = expectations_of(run)
    whole = updated(expectations, measured)
    failed = sum(record.status == "failed" for record in run)
    if measured:
        write_expected(path, whole)
        kept = len(whole) - len(measured)
        typer.echo(f"wrote {path}: {len(measured)} expectations measured now, {kept} kept", err=True)
    if failed:
        typer.echo(f"{failed} of {len(run.records)} trials failed; what was expected of them is kept", err=True)
    return 3 if failed or not measured else 0
