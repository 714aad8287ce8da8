"""`opperf replay`: run a recorded workload again, operator by operator."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from opperf.parent.cli import options
from opperf.parent.cli.option_groups import grouped
from opperf.parent.cli.run import measure

if TYPE_CHECKING:
    from opperf.domain.record import Run
    from opperf.domain.trace import Trace

Option = typer.Option
#: A case of a trace may need one of so many parts of the machine's memory, and so many bytes in any case.
MEMORY_SHARE, LEAST_LIMIT = 12, 1 << 30


@grouped
def replay(
    traces: Annotated[list[Path], typer.Argument(metavar="TRACE...", help="PyTorch execution traces.")],
    *,
    kineto: Annotated[
        Optional[Path], Option(metavar="FILE", help="Kineto trace of the same run, for the time of each call.")
    ] = None,
    subgraph: Annotated[Optional[str], Option(metavar="LABEL", help="Replay only what ran below this label.")] = None,
    iterations: Annotated[
        Optional[str], Option(metavar="N|FIRST-LAST", help="Replay only these profiler steps, counted from 0.")
    ] = None,
    top: Annotated[
        Optional[int], Option(metavar="N", min=1, help="Maximum number of rows to print, the most expensive first.")
    ] = None,
    save_suite: Annotated[
        Optional[Path], Option(metavar="FILE", help="Write the cases as a suite for `run` and `compare`.")
    ] = None,
    plugin: options.Plugin = None,
    memory_limit: Annotated[
        Optional[str], Option(metavar="SIZE", help="Leave out cases that need more. Default: a twelfth of memory.")
    ] = None,
    environment: options.Environment = None,
    device: options.Device = None,
    threads: options.Threads = 1,
    sampling: options.Sampling,
    how: options.How,
    keeping: options.Keeping,
    report: options.Report,
) -> None:
    """Run every operator of a recorded program by itself.

    What each costs, and its share of the whole, stands beside what was recorded.
    """
    from opperf.domain.errors import InputError
    from opperf.domain.plan import Plan
    from opperf.domain.trace import Replay
    from opperf.domain.units import parse_bytes
    from opperf.parent.cli.output import check_format, write_report, write_suite
    from opperf.parent.cli.places import take_output
    from opperf.parent.cli.screen import tell
    from opperf.parent.cli.selecting import run_options, settings
    from opperf.parent.planning.selection import Selection
    from opperf.parent.reports.replay import left_out, render
    from opperf.parent.session import Session
    from opperf.parent.sources.plugin_file import plugin_file, workloads
    from opperf.parent.store.journal import journal_of

    wanted = run_options(keeping, report)
    check_format(report.format)
    read = [*traces, kineto]
    take_output(save_suite, force=report.force, inputs=read)
    if not keeping.dry_run:
        take_output(wanted.output, force=report.force, inputs=read, resume=keeping.resume, resumes=True)
    limit = default_limit() if memory_limit is None else parse_bytes(memory_limit, name="`--memory-limit`")
    measuring = settings(how, sampling, latency=False, memory_limit=limit, by_share=True)
    trace = _read(traces, kineto, subgraph, iterations)
    if trace.joined is not None:
        typer.echo(f"{kineto}: found {trace.joined}", err=True)
    if save_suite is not None:
        write_suite(trace.suite(), save_suite)
    if keeping.dry_run:
        for line in left_out(trace):
            tell(line)
    selected = Selection(
        suite=trace.suite(costly_first=True),
        frameworks=("torch",),
        environments=environment or (),
        devices=device or (),
        plugins=workloads([plugin_file(path) for path in plugin or ()]).plugins,
        directions=("forward",),
        threads=threads,
    )

    def deliver(run: Run) -> None:
        found = Replay(trace, run)
        what = f"{len(run.records)} records"
        write_report(
            lambda chosen, screen: render(found, chosen, top, screen.width), report.format, wanted.output, what
        )

    if not trace.cases and not keeping.dry_run:
        with Session(selected, measuring) as session:
            deliver(session.run(Plan((), measuring), wanted))
        if wanted.output is not None:
            journal_of(wanted.output).unlink(missing_ok=True)
        raise InputError("no operator of the trace can be run again", hint="the report has the reason of each")
    measure(selected, measuring, wanted, deliver, keeping)


def default_limit() -> int:
    """Return the bytes that a case may need: a share of the machine's memory, so that the machine stays usable."""
    import psutil

    return max(LEAST_LIMIT, psutil.virtual_memory().total // MEMORY_SHARE)


def _read(traces: list[Path], kineto: Path | None, subgraph: str | None, iterations: str | None) -> Trace:
    """Read the traces; raises `InputError`."""
    from opperf.domain.errors import InputError
    from opperf.parent.sources.execution_trace.kineto import read_kineto
    from opperf.parent.sources.execution_trace.reading import read_traces

    if kineto is not None and len(traces) > 1:
        raise InputError("`--kineto` goes with one trace", hint="replay the traces one by one")
    return read_traces(
        traces,
        subgraph=subgraph,
        steps=None if iterations is None else _steps(iterations),
        kineto=None if kineto is None else read_kineto(kineto),
    )


def _steps(text: str) -> tuple[int, int]:
    """Read `--iterations`: the first step, and the first that is left out."""
    from opperf.domain.errors import InputError

    found = re.fullmatch(r"(\d+)(?:-(\d+))?", text.strip())
    first = int(found[1]) if found else 0
    last = int(found[2] or found[1]) if found else -1
    if last < first:
        raise InputError(f"`--iterations` is `{text}`, expected one step or a range", hint="write for example `1-3`")
    return first, last + 1
