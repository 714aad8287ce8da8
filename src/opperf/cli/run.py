"""`opperf run`: measure operators."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

if TYPE_CHECKING:
    from opperf.plan import Plan, Settings
    from opperf.planning.selection import Selection
    from opperf.record import Run
    from opperf.session import Options

Names = Optional[list[str]]
#: What a trial takes beyond its samples (inputs, warm-up, latency, memory), and a child to start, in seconds.
TRIAL_EXTRA, CHILD_START = 0.15, 4.0


def run(
    operators: Annotated[Names, typer.Argument(metavar="[OPERATOR]...", help="`add`, or `mxnet:nd.broadcast_add`.")] = None,
    *,
    framework: Annotated[Names, typer.Option(help="torch, mxnet, jax, numpy; default: those that import here.")] = None,
    category: Annotated[Names, typer.Option(help="All operators of a category.")] = None,
    every: Annotated[bool, typer.Option("--all", help="All operators.")] = False,
    skip: Annotated[Names, typer.Option(metavar="PATTERN", help="Leave out operators that match, as in `conv*`.")] = None,
    suite: Annotated[Optional[Path], typer.Option(metavar="FILE", help="The cases of a suite file.")] = None,
    environment: Annotated[
        Names, typer.Option(metavar="E", help="`torch`, `numpy==1.26.4` or `python=PATH`; binds to its framework.")
    ] = None,
    device: Annotated[Names, typer.Option(help="cpu, cuda:0, gpu(0); default: a GPU where there is one.")] = None,
    dtype: Annotated[Names, typer.Option(help="Element type in place of float32.")] = None,
    size: Annotated[Names, typer.Option(help="small, common, large, skewed.")] = None,
    direction: Annotated[Names, typer.Option(help="forward, backward, forward_backward.")] = None,
    mode: Annotated[Names, typer.Option(help="eager or compiled; default: eager, and compiled for jax.")] = None,
    inputs: Annotated[Names, typer.Option("--input", metavar="NAME=SHAPE", help="Shape of an input.")] = None,
    attribute: Annotated[Names, typer.Option(metavar="NAME=VALUE", help="Value of an attribute, as in `axis=1`.")] = None,
    warmup: Annotated[Optional[int], typer.Option(metavar="N", help="Calls before the first sample.")] = None,
    runs: Annotated[Optional[int], typer.Option(metavar="N", help="Samples of each trial and process.")] = None,
    precision: Annotated[str, typer.Option(metavar="P", help="Stop when the median is known this well.")] = "2%",
    budget: Annotated[Optional[str], typer.Option(metavar="SECONDS", help="Time for the whole command.")] = None,
    trial_budget: Annotated[str, typer.Option(metavar="SECONDS", help="Sampling time of one trial.")] = "0.5",
    processes: Annotated[int, typer.Option(metavar="K", help="Fresh processes for each trial; 3 give an interval.")] = 1,
    threads: Annotated[int, typer.Option(metavar="N", help="Threads of the framework.")] = 1,
    cpus: Annotated[Optional[str], typer.Option(metavar="LIST", help="CPUs to stay on, as in `0-3,6`.")] = None,
    cache: Annotated[str, typer.Option(help="hot or cold CPU cache.")] = "hot",
    engine: Annotated[str, typer.Option(help="naive runs in the calling thread, threaded beside it.")] = "naive",
    allocator: Annotated[str, typer.Option(help="fixed holds malloc's thresholds, default leaves them.")] = "fixed",
    timeout: Annotated[str, typer.Option(metavar="SECONDS", help="Time for one trial in its child.")] = "120",
    seed: Annotated[int, typer.Option(metavar="S", help="Decides the values of the inputs.")] = 0,
    label: Annotated[Names, typer.Option(metavar="K=V", help="Kept with the run.")] = None,
    no_samples: Annotated[bool, typer.Option("--no-samples", help="Keep summaries only.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 3 when any trial failed.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and measure nothing.")] = False,
    format: Annotated[Optional[str], typer.Option(metavar="F", help="console, json, csv or md.")] = None,
    output: Annotated[Optional[Path], typer.Option(metavar="FILE", help="Write there; a journal beside it while running.")] = None,
    resume: Annotated[Optional[Path], typer.Option(metavar="FILE", help="Go on where that file or its journal ends.")] = None,
) -> None:
    """Measure operators: time forward and backward, memory, rates; alone in their process, with honest intervals."""
    from opperf.plan import Settings
    from opperf.planning.selection import Selection
    from opperf.session import Options
    from opperf.sources.user_inputs import pairs
    from opperf.units import parse_duration, parse_percent
    from opperf.workers.machine import cpu_list

    given = pairs(inputs or (), "--input")
    selection = Selection(
        operators=operators or (),
        categories=category or (),
        every=every,
        skip=skip or (),
        suite=suite,
        frameworks=framework or (),
        environments=environment or (),
        devices=device or (),
        modes=mode or (),
        dtypes=dtype or (),
        sizes=size or (),
        directions=direction or (),
        inputs=[given] if given else [],
        attributes=pairs(attribute or (), "--attribute"),
        threads=threads,
        engine=engine,
        allocator=allocator,
    )
    settings = Settings(
        warmup=warmup,
        runs=runs,
        precision=parse_percent(precision, name="`--precision`"),
        trial_budget=parse_duration(trial_budget, name="`--trial-budget`"),
        timeout=parse_duration(timeout, name="`--timeout`"),
        budget=None if budget is None else parse_duration(budget, name="`--budget`"),
        processes=processes,
        cache=cache,
        seed=seed,
        cpus=None if cpus is None else tuple(cpu_list(cpus)),
    )
    options = Options(
        output=output,
        resume=resume,
        labels=pairs(label or (), "--label"),
        keep_samples=not no_samples,
        command=("opperf", *sys.argv[1:]),
    )
    _run(selection, settings, options, format=format, dry_run=dry_run, strict=strict)


def _run(
    selection: Selection, settings: Settings, options: Options, *, format: str | None, dry_run: bool, strict: bool
) -> None:
    from opperf.cli.output import check_format, deliver
    from opperf.cli.progress import Bar
    from opperf.session import Interrupted, Session
    from opperf.store.journal import journal_of

    check_format(format, options.output)
    bar = Bar()
    with Session(selection, settings, bar) as session:
        plan = session.plan()
        if dry_run:
            _print_plan(plan)
            return
        try:
            measured = session.run(plan, options)
        except Interrupted as stopped:
            bar.close()
            deliver(stopped.run, format, options.output)
            if options.output is not None:
                bar.note(f"stopped; go on with `--resume {options.output}`")
            raise SystemExit(stopped.cause.code if isinstance(stopped.cause, SystemExit) else 130) from None
    bar.close()
    deliver(measured, format, options.output)
    if options.output is not None:
        journal_of(options.output).unlink(missing_ok=True)
    _leave(measured, strict=strict)


def _print_plan(plan: Plan) -> None:
    for trial in plan.trials:
        inputs = " ".join(f"{name}={value}" for name, value in {**trial.case.inputs, **trial.case.attributes}.items())
        place = f"{trial.side.framework} ({trial.side.environment}, {trial.side.device}, {trial.side.mode})"
        typer.echo(f"{trial.case.operator}  {trial.direction}  {place}  {inputs}".rstrip())
    settings = plan.settings
    starts = len({trial.side.process for trial in plan.trials}) * settings.processes
    seconds = len(plan.trials) * settings.processes * (settings.trial_budget / 2 + TRIAL_EXTRA) + starts * CHILD_START
    typer.echo(
        f"{len(plan.trials)} trials, {settings.processes} process(es) each, about {seconds:.0f} s", err=True
    )


def _leave(measured: Run, *, strict: bool) -> None:
    """Count what went wrong, and exit as the design says."""
    failed = sum(record.status == "failed" for record in measured)
    if failed:
        typer.echo(f"{failed} of {len(measured.records)} trials failed", err=True)
    if failed and (strict or not any(record.status == "ok" for record in measured)):
        raise typer.Exit(3)
