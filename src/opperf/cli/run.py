"""`opperf run`: measure operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from opperf.cli import options

if TYPE_CHECKING:
    from collections.abc import Callable

    from opperf.plan import Plan, Settings
    from opperf.planning.selection import Selection
    from opperf.record import Run
    from opperf.session import Options

#: What a trial takes beyond its samples (inputs, warm-up, latency, memory), and a child to start, in seconds.
TRIAL_EXTRA, CHILD_START = 0.15, 4.0


def run(
    operators: options.Operators = None,
    *,
    framework: options.Framework = None,
    plugin: options.Plugin = None,
    category: options.Category = None,
    every: options.Every = False,
    skip: options.Skip = None,
    suite: options.SuiteFile = None,
    config: options.Config = None,
    environment: options.Environment = None,
    device: options.Device = None,
    dtype: options.Dtype = None,
    values: options.Values = None,
    random: options.Random = None,
    size: options.Size = None,
    direction: options.Direction = None,
    mode: options.Mode = None,
    inputs: options.Input = None,
    attribute: options.Attribute = None,
    warmup: options.Warmup = None,
    runs: options.Runs = None,
    precision: options.Precision = "2%",
    budget: options.Budget = None,
    trial_budget: options.TrialBudget = "0.5",
    processes: options.Processes = 1,
    threads: options.Threads = 1,
    cpus: options.Cpus = None,
    cache: options.Cache = "hot",
    clock: options.Clock = "wall",
    engine: options.Engine = "naive",
    allocator: options.Allocator = "fixed",
    timeout: options.Timeout = "120",
    no_check: options.NoCheck = False,
    seed: options.Seed = 0,
    label: options.Label = None,
    no_samples: options.NoSamples = False,
    strict: options.Strict = False,
    dry_run: options.DryRun = False,
    format: options.Format = None,
    output: options.Output = None,
    resume: options.Resume = None,
) -> None:
    """Measure operators: time forward and backward, memory, rates; alone in their process, with honest intervals."""
    from opperf.cli.selecting import run_options, selection, settings
    from opperf.sources.param.config import notes

    selected = selection(
        operators=operators, category=category, every=every, skip=skip, suite=suite, dtype=dtype, values=values,
        random=random, size=size, direction=direction, inputs=inputs, attribute=attribute, plugin=plugin, config=config,
        frameworks=framework or (), environments=environment or (), devices=device or (), modes=mode or (),
        threads=threads, engine=engine, allocator=allocator,
    )  # fmt: skip
    measuring = settings(
        warmup=warmup, runs=runs, precision=precision, trial_budget=trial_budget, budget=budget, timeout=timeout,
        processes=processes, cache=cache, clock=clock, seed=seed, cpus=cpus, check=not no_check,
    )  # fmt: skip
    wanted = run_options(output=output, resume=resume, label=label, no_samples=no_samples)
    for note in notes(selected.configs):
        typer.echo(f"note: {note}", err=True)
    _run(selected, measuring, wanted, format=format, dry_run=dry_run, strict=strict)


def _run(
    selection: Selection, settings: Settings, wanted: Options, *, format: str | None, dry_run: bool, strict: bool
) -> None:
    from opperf.cli.output import check_format, deliver

    check_format(format, wanted.output)
    measure(
        selection, settings, wanted, lambda run: deliver(run, format, wanted.output), dry_run=dry_run, strict=strict
    )


def measure(
    selection: Selection,
    settings: Settings,
    wanted: Options,
    report: Callable[[Run], None],
    *,
    dry_run: bool,
    strict: bool,
) -> None:
    """Measure a selection, report what was measured, also when it was stopped, and leave as the design says."""
    from opperf.cli.progress import Bar
    from opperf.session import Interrupted, Session
    from opperf.store.journal import journal_of

    bar = Bar()
    with Session(selection, settings, bar) as session:
        plan = session.plan()
        if dry_run:
            _print_plan(plan)
            return
        try:
            measured = session.run(plan, wanted)
        except Interrupted as stopped:
            bar.close()
            report(stopped.run)
            if wanted.output is not None:
                bar.note(f"stopped; go on with `--resume {wanted.output}`")
            raise SystemExit(stopped.cause.code if isinstance(stopped.cause, SystemExit) else 130) from None
    bar.close()
    report(measured)
    if wanted.output is not None:
        journal_of(wanted.output).unlink(missing_ok=True)
    leave(measured, strict=strict)


def _print_plan(plan: Plan) -> None:
    from opperf.reports.text import case_text

    for trial in plan.trials:
        place = f"{trial.side.framework} ({trial.side.environment}, {trial.side.device}, {trial.side.mode})"
        typer.echo(f"{trial.case.operator}  {trial.direction}  {place}  {case_text(trial.case)}".rstrip())
    settings = plan.settings
    starts = len({trial.side.process for trial in plan.trials}) * settings.processes
    seconds = len(plan.trials) * settings.processes * (settings.trial_budget / 2 + TRIAL_EXTRA) + starts * CHILD_START
    typer.echo(f"trials: {len(plan.trials)}, processes: {settings.processes}, about {seconds:.0f} s", err=True)


def leave(measured: Run, *, strict: bool) -> None:
    """Count what went wrong, and exit as the design says."""
    failed = sum(record.status == "failed" for record in measured)
    if failed:
        typer.echo(f"{failed} of {len(measured.records)} trials failed", err=True)
    if failed and (strict or not any(record.status == "ok" for record in measured)):
        raise typer.Exit(3)
