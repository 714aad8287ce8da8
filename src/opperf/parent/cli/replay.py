"""`opperf replay`: run a recorded workload again, operator by operator."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from opperf.domain.plan import Settings
from opperf.domain.units import plural
from opperf.parent.cli import options
from opperf.parent.cli.run import measure
from opperf.parent.sources.option import Only, Option
from opperf.parent.sources.options import How, Jobs, MemoryLimit, OnFleet, Paths, Sampling, What, Where

if TYPE_CHECKING:
    from opperf.domain.record import Run
    from opperf.parent.planning.request import Request


def replay(
    traces: Annotated[
        list[Path], typer.Argument(metavar="TRACE...", help="PyTorch execution traces, or one Kineto trace.")
    ],
    *,
    kineto: Annotated[
        Paths,
        Option("FILE", "Kineto trace of the same run, to read the time of each call from; with `--diff` one for each."),
    ] = (),
    subgraph: Annotated[Optional[str], Option("LABEL", "Replay only the calls below this label.")] = None,
    iterations: Annotated[
        Optional[str], Option("N|FIRST-LAST", "Replay only these profiler steps, counted from 0.")
    ] = None,
    top: Annotated[
        Optional[int],
        typer.Option(metavar="N", min=1, help="Maximum number of rows to print, the most expensive first."),
    ] = None,
    save_suite: Annotated[Optional[Path], Option("FILE", "Write the cases as a suite for `run` and `compare`.")] = None,
    diff: Annotated[
        bool, typer.Option("--diff", help="Compare the operators of two traces, and run none: `--diff A.json B.json`.")
    ] = False,
    what: Annotated[What, Only("plugin")],
    memory_limit: MemoryLimit = None,
    where: Annotated[Where, Only("environment", "device", "threads")],
    sampling: Sampling,
    how: How,
    jobs: Jobs = Settings.jobs,
    fleet: OnFleet,
    keeping: options.Keeping,
    report: Annotated[options.Report, Only("labels", "format", "output", "html", "plot", "database", "force")],
) -> None:
    """Run each operator of a recorded program on its own.

    The report shows the cost of each and its share of the whole, next to the recorded times. With `--diff` it shows
    what changed from one trace to another.

    Exit codes: 0 done, even if some trials failed, 2 bad input, 3 nothing was measured and something failed; with
    `--strict`, anything failed.
    """
    from opperf.domain.errors import InputError
    from opperf.parent.cli.keeping import lock_outputs, publish
    from opperf.parent.cli.options import run_options
    from opperf.parent.cli.output import tell, write_suite
    from opperf.parent.cli.places import take_output
    from opperf.parent.cli.progress import Bar
    from opperf.parent.commands import replay as replaying
    from opperf.parent.commands.run import drop_journal
    from opperf.parent.documents.trace import Replay
    from opperf.parent.measuring.progress import Silent
    from opperf.parent.planning.request import Request
    from opperf.parent.planning.wishes import wishes
    from opperf.parent.reports.formats import check_format
    from opperf.parent.reports.replay import default_notes, device_text, document, left_out

    request = Request(what, where, sampling, how, jobs=jobs, memory_limit=memory_limit)
    if diff:
        of_replays = {"--save-suite": save_suite, "--plot": report.plot, "--database": report.database}
        if unfit := [flag for flag, value in of_replays.items() if value is not None]:
            raise InputError(f"`{unfit[0]}` is of a replay, and `--diff` runs nothing", hint="leave out one of them")
        _compare(traces, kineto, subgraph, iterations, request, report, top)
        return
    if len(kineto) > 1:
        raise InputError(f"`--kineto` is there {len(kineto)} times, expected once", hint="replay one trace at a time")
    options_of_run = run_options(keeping, report)
    check_format(report.format, checks=not keeping.dry_run)
    read = [*traces, *kineto]
    take_output(save_suite, force=report.force, inputs=read)
    if not keeping.dry_run:
        lock_outputs(report, read, keeping)
    measuring = replaying.settings(request)
    schemas = replaying.schemas_of(request, measuring, Silent())
    trace = replaying.read_trace(traces, next(iter(kineto), None), subgraph, iterations, schemas)
    for line in default_notes(trace):
        tell(line)
    if trace.joined is not None:
        typer.echo(f"{kineto[0]}: found {trace.joined}", err=True)
    if keeping.dry_run or trace.clock == "host":  # else the report says it
        for line in device_text(trace):
            typer.echo(line, err=True)
    if save_suite is not None:
        write_suite(trace.suite(), save_suite)
    if keeping.dry_run:
        for line in left_out(trace):
            tell(line)

    def report_on(run: Run) -> None:
        replay_run = Replay(trace, run)
        count = plural(len(run.records), "record")
        publish(replay_run, document(replay_run, top), report, count, options_of_run.output)

    if not trace.cases:
        if not keeping.dry_run:
            report_on(replaying.unmeasured(trace, request, measuring, options_of_run, Bar()).run)
            drop_journal(options_of_run)
        place = "the lines above say" if keeping.dry_run else "the report says"
        raise InputError("no operator of the trace can be replayed", hint=f"{place} why")
    measure(
        replaying.workload(trace, request), measuring, options_of_run, report_on, keeping, report, wishes(fleet), top
    )


def _compare(
    traces: list[Path],
    kineto: Paths,
    subgraph: str | None,
    iterations: str | None,
    request: Request,
    report: options.Report,
    top: int | None,
) -> None:
    """Print two traces beside each other, or write them, and write the page; raises `InputError`."""
    from opperf.domain.errors import InputError
    from opperf.domain.files.destination import write_text
    from opperf.parent.cli.keeping import lock_outputs
    from opperf.parent.cli.output import deliver, tell
    from opperf.parent.commands.replay import read_both, timelines_of
    from opperf.parent.reports.formats import check_format
    from opperf.parent.reports.trace_change import document

    check_format(report.format)
    lock_outputs(report, [*traces, *kineto])
    change = read_both(traces, kineto, subgraph, iterations, request)
    deliver(document(change, top), report.format, report.output, plural(len(change.changes), "operator"))
    if report.html is not None:
        from opperf.parent.pages.profile_page.trace_change import render

        try:
            timelines = timelines_of(change, traces, kineto)
        except InputError as error:  # such as a trace that no page can hold
            tell(f"note: the page has no timelines: {error.message}")
            timelines = None
        write_text(report.html, render(change, timelines))
        typer.echo(f"wrote {report.html}", err=True)
