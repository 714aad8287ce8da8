"""`opperf run`: measure operators."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from opperf.domain.errors import InputError
from opperf.domain.plan import Settings
from opperf.domain.units import plural
from opperf.parent.cli import options
from opperf.parent.sources.option import Option
from opperf.parent.sources.options import Check, Clock, Config, How, Jobs, Loop, NoCheck, OnFleet, Sampling, What, Where

if TYPE_CHECKING:
    from collections.abc import Callable

    from opperf.domain.plan import Plan
    from opperf.domain.record import Run
    from opperf.parent.measuring.session import Options
    from opperf.parent.planning.request import Request
    from opperf.parent.planning.selection import Selection
    from opperf.parent.planning.wishes import Wishes


def run(
    operators: options.Subjects = None,
    *,
    what: What,
    config: Config = (),
    workload: Annotated[
        Optional[str],
        Option("NAME", "Measure the operators of a model that comes with opperf, such as `grouped_query_8b:decode`."),
    ] = None,
    where: Where,
    sampling: Sampling,
    how: How,
    jobs: Jobs = Settings.jobs,
    metric: Annotated[
        str, Option("NAME", "Metric to measure as well, where that takes long: energy.")
    ] = Settings.metric,
    clock: Clock = Settings.clock,
    loop: Loop = Settings.loop,
    check: Check = None,
    no_check: NoCheck = False,
    fleet: OnFleet,
    replacement: Annotated[
        Optional[str],
        typer.Option(
            "--replace",
            metavar="NAME=FILE:FUNC",
            help="Measure your own function in place of an operator of the suite, and predict the time of the whole.",
        ),
    ] = None,
    keeping: options.Keeping,
    report: options.Report,
    by: options.By = "operator",
    top: Annotated[
        Optional[int],
        typer.Option(metavar="N", min=1, help="Maximum number of rows to print. Suites list the most expensive first."),
    ] = None,
) -> None:
    """Measure operators: time, latency, memory and rates.

    Each framework runs in a process of its own, forward and backward. To see what share of the machine's limits an
    operator reaches, run `opperf doctor --peaks` once.

    Exit codes: 0 done, even if some trials failed, 2 bad input, 3 nothing was measured and something failed; with
    `--strict`, anything failed.
    """
    from opperf.parent.cli.keeping import check_asv_results, lock_outputs, publish
    from opperf.parent.cli.options import inputs, run_options
    from opperf.parent.cli.output import tell, tell_left_out
    from opperf.parent.commands.capture import capture_workload
    from opperf.parent.planning.request import Request, checking, selection, settings
    from opperf.parent.planning.wishes import wishes
    from opperf.parent.reports import report_of
    from opperf.parent.reports.formats import check_format

    options_of_run = run_options(keeping, report)
    check_format(report.format, checks=not keeping.dry_run)
    if not keeping.dry_run:
        lock_outputs(report, inputs(operators, what, config), keeping)
        check_asv_results(report, operators)
    if workload is not None:
        captured = capture_workload(workload, what.suite, tell)
        what = replace(what, suite=captured.suite)
        tell_left_out(captured.left_out)
    which = checking(check, no_check=no_check)
    request = Request(what, where, sampling, how, config, jobs, metric, clock, loop, which)
    if replacement is not None:
        idle = {"--fleet": fleet.fleet, "--by": by != "operator", "--top": top, "--config": config}
        for name in (name for name, value in idle.items() if value):
            raise InputError(f"`{name}` cannot be used with `--replace`", hint="leave one of them out")
        what_if(request, replacement, options_of_run, keeping, report)
        return
    choice, measuring = selection(operators or (), request, note=tell), settings(request)
    if choice.configs:
        from opperf.param.config import notes

        for note in notes(choice.configs):
            tell(f"note: {note}")

    def report_on(run: Run) -> None:
        publish(
            run,
            report_of(run, by=by, top=top),
            report,
            plural(len(run.records), "record"),
            options_of_run.output,
        )

    measure(choice, measuring, options_of_run, report_on, keeping, report, wishes(fleet), top)


def what_if(request: Request, text: str, options: Options, keeping: options.Keeping, report: options.Report) -> None:
    """Measure a suite and a replacement for one of its operators, and report what the step would take.

    Exits with 3 where there is no prediction.
    """
    from opperf.parent.cli.exit import stop
    from opperf.parent.cli.keeping import keep, publish
    from opperf.parent.cli.progress import Bar
    from opperf.parent.commands import run as running
    from opperf.parent.commands.what_if import Question, read_replacement
    from opperf.parent.reports.what_if import document

    question, bar = Question(request, read_replacement(text)), Bar()
    if keeping.dry_run:
        _print_plan(question.plan(bar), report.format)
        return
    answer = question.answer(options, bar)
    publish(answer.result, document(answer.result), report, "prediction", options.output)
    keep(answer.result.run, report)
    if answer.cause is not None:
        stop(answer.cause, options.output, ": the suite's cases are kept")
    running.drop_journal(options)
    if answer.result.what_if is None:
        raise typer.Exit(3)
    leave(answer.result.run, strict=keeping.strict)


def measure(
    selection: Selection,
    settings: Settings,
    options: Options,
    report: Callable[[Run], None],
    keeping: options.Keeping,
    output: options.Report,
    fleet: Wishes | None = None,
    top: int | None = None,
) -> None:
    """Measure a selection, report and keep what was measured, also when it was stopped; then leave, as `leave` says.

    A run that was stopped leaves with 130 on Ctrl-C, with the signal's own code otherwise, and keeps its journal.
    """
    from opperf.parent.cli.exit import stop
    from opperf.parent.cli.keeping import keep
    from opperf.parent.cli.progress import Bar
    from opperf.parent.commands import run as running

    bar = Bar()
    if keeping.dry_run:
        _print_plan(running.plan_of(selection, settings, bar), output.format, top)
        return
    result = running.measure(selection, settings, options, bar, fleet)
    report(result.run)
    if result.cause is None:
        running.drop_journal(options)
    keep(result.run, output)
    if result.cause is not None:
        stop(result.cause, options.output)
    offer_peaks(result.run)
    leave(result.run, strict=keeping.strict)


def _print_plan(plan: Plan, format: str | None, top: int | None = None) -> None:
    from opperf.parent.cli.output import deliver
    from opperf.parent.commands.run import by_cost, seconds
    from opperf.parent.reports.run import plan_document

    deliver(plan_document(plan if top is None else by_cost(plan), top), format)
    about = f"about {seconds(plan):.0f} s"
    typer.echo(f"trials: {len(plan.trials)}, processes: {plan.settings.processes}, {about}", err=True)


def offer_peaks(run: Run) -> None:
    """Say once a day how the limits of the machine are measured, where something was measured on a side without any."""
    from opperf.parent.commands.run import without_peaks
    from opperf.parent.measuring.calibration import is_due

    side = without_peaks(run)
    if side is not None and is_due("peaks"):
        place = f" --device {side.device}" if side.device != "cpu" else ""
        place += f" --threads {side.threads}" if side.threads != 1 else ""
        typer.echo(
            f"note: to see shares of peak, run `opperf doctor --peaks --framework {side.framework}{place}` once",
            err=True,
        )


def leave(run: Run, *, strict: bool) -> None:
    """Say how many trials failed, or why all were skipped.

    Exits with 3 where a failure counts (`strict`), or where nothing was measured and something failed.
    """
    if run.records and all(record.status == "skipped" for record in run):
        from opperf.parent.reports.text import first_line

        messages = Counter(first_line(record.reason.message) for record in run if record.reason is not None)
        for message, count in messages.most_common(1):
            total = plural(len(run.records), "trial")
            typer.echo(f"nothing was measured: {total} skipped, {count} of them since: {message}", err=True)
    failures = sum(record.status == "failed" for record in run)
    if failures:
        typer.echo(f"{failures} of {len(run.records)} trials failed", err=True)
    if failures and (strict or not any(record.status == "ok" for record in run)):
        raise typer.Exit(3)
