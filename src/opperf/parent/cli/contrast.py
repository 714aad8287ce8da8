"""`opperf contrast`: the operators in which one framework is far behind another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from opperf.domain.plan import Settings
from opperf.parent.cli import options
from opperf.parent.sources.option import Only, Option
from opperf.parent.sources.options import Check, Contrasting, How, Jobs, NoCheck, What


def contrast(
    operators: options.Operators = None,
    *,
    base: Annotated[
        Optional[str], typer.Option(metavar="SIDE", help="Side to measure against, such as `numpy`.")
    ] = None,
    new: Annotated[
        Optional[list[str]],
        typer.Option(metavar="SIDE", help="Side whose gaps are searched, such as `torch`. Repeatable."),
    ] = None,
    what: What,
    contrasting: Contrasting,
    how: How,
    jobs: Jobs = Settings.jobs,
    check: Check = None,
    no_check: NoCheck = False,
    resume: Annotated[
        Optional[Path], Option("FILE", "Continue an interrupted contrast from its file or journal.")
    ] = None,
    markdown: Annotated[Optional[Path], Option("FILE", "Write a Markdown report.")] = None,
    by: options.By = "operator",
    top: options.Top = None,
    report: Annotated[options.Report, Only("labels", "format", "output", "html", "plot", "database", "force")],
) -> None:
    """Find the operators in which one framework is far behind another.

    It looks briefly at every operator that both sides have, measures those that stand out again, in pairs of fresh
    processes, and ranks the gaps, each with the command that measures it alone.

    Exit codes: 0 something was compared, 2 bad input, 3 something failed and nothing was compared.
    """
    from opperf.domain.units import plural
    from opperf.parent.cli.exit import leave_compared, stop
    from opperf.parent.cli.keeping import keep, lock_outputs, publish
    from opperf.parent.cli.options import Keeping, command, inputs
    from opperf.parent.cli.output import FILE
    from opperf.parent.cli.places import check_report, write_in_page
    from opperf.parent.cli.progress import Bar
    from opperf.parent.commands import contrast as contrasts
    from opperf.parent.planning.request import Request, checking
    from opperf.parent.reports import render
    from opperf.parent.reports.contrast import document
    from opperf.parent.reports.formats import check_format

    check_format(report.format)
    read = inputs(operators, what)
    lock_outputs(report, read, Keeping(resume=resume))
    check_report(markdown, "opperf", force=report.force, inputs=read)
    output = report.output or resume
    order = contrasts.Order(contrasting, output, resume, report.labels, command())
    request = Request(what, how=how, jobs=jobs, check=checking(check, no_check=no_check))
    bar = Bar()
    run, cause = contrasts.contrast(operators or (), request, order, bar, base=base, new=new or ())
    result = document(run, contrasting.factor, top, by)
    publish(run, result, report, plural(len(run.comparisons), "comparison"), output)
    if markdown is not None:
        write_in_page(markdown, render(result, "md", width=FILE.width, color=FILE.color))
    keep(run, report)
    if cause is not None:
        stop(cause, output)
    order.drop_journal()
    leave_compared(run.comparisons)
