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
from opperf.parent.sources.options import How, Jobs, MemoryLimit, OnFleet, Sampling, What, Where

if TYPE_CHECKING:
    from opperf.domain.record import Run


def replay(
    traces: Annotated[
        list[Path], typer.Argument(metavar="TRACE...", help="PyTorch execution traces, or one Kineto trace.")
    ],
    *,
    kineto: Annotated[
        Optional[Path], Option("FILE", "Kineto trace of the same run, to read the time of each call from.")
    ] = None,
    subgraph: Annotated[Optional[str], Option("LABEL", "Replay only the calls below this label.")] = None,
    iterations: Annotated[
        Optional[str], Option("N|FIRST-LAST", "Replay only these profiler steps, counted from 0.")
    ] = None,
    top: Annotated[
        Optional[int],
        typer.Option(metavar="N", min=1, help="Maximum number of rows to print, the most expensive first."),
    ] = None,
    save_suite: Annotated[Optional[Path], Option("FILE", "Write the cases as a suite for `run` and `compare`.")] = None,
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

    The report shows the cost of each and its share of the whole, next to the recorded times.

    Exit codes: 0 done, even if some trials failed, 2 bad input, 3 nothing was measured and something failed; with
    `--strict`, anything failed.
    """
    from opperf.domain.errors import InputError
    from opperf.parent.cli.keeping import lock_outputs, publish
    from opperf.parent.cli.options import run_options, wishes
    from opperf.parent.cli.output import tell, write_suite
    from opperf.parent.cli.places import take_output
    from opperf.parent.cli.progress import Bar
    from opperf.parent.commands import replay as replaying
    from opperf.parent.commands.run import drop_journal
    from opperf.parent.documents.trace import Replay
    from opperf.parent.measuring.progress import Silent
    from opperf.parent.planning.request import Request
    from opperf.parent.reports.formats import check_format
    from opperf.parent.reports.replay import default_notes, device_text, document, left_out

    options_of_run = run_options(keeping, report)
    check_format(report.format, checks=not keeping.dry_run)
    read = [*traces, kineto]
    take_output(save_suite, force=report.force, inputs=read)
    if not keeping.dry_run:
        lock_outputs(report, read, keeping)
    request = Request(what, where, sampling, how, jobs=jobs, memory_limit=memory_limit)
    measuring = replaying.settings(request)
    schemas = replaying.schemas_of(request, measuring, Silent())
    trace = replaying.read_trace(traces, kineto, subgraph, iterations, schemas)
    for line in default_notes(trace):
        tell(line)
    if trace.joined is not None:
        typer.echo(f"{kineto}: found {trace.joined}", err=True)
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
