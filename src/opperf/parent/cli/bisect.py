"""`opperf bisect`: the build that made an operator slower or faster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from opperf.domain.units import plural
from opperf.parent.cli import options
from opperf.parent.cli.option_groups import grouped

Option = typer.Option


@grouped
def bisect(
    operators: options.Operators = None,
    *,
    good: Annotated[str, Option(metavar="BUILD", help="Build before the change: `1.26.4`, a commit or `python=PATH`.")],
    bad: Annotated[str, Option(metavar="BUILD", help="Build after the change.")],
    repo: Annotated[Optional[Path], Option(metavar="DIR", help="Search the commits of this Git repository.")] = None,
    build: Annotated[
        Optional[str], Option(metavar="COMMAND", help="Command that builds a commit, such as `pip install .`.")
    ] = None,
    package: Annotated[
        Optional[str], Option(metavar="NAME", help="Search the releases of this package, beside the framework.")
    ] = None,
    pre: Annotated[bool, Option("--pre", help="Include pre-releases.")] = False,
    clock: options.ComparingClock = "wall",
    metric: Annotated[str, Option(metavar="time|memory", help="What to compare.")] = "time",
    what: options.What,
    framework: options.Framework = None,
    device: options.Device = None,
    threads: options.Threads = 1,
    judging: options.Judging,
    how: options.How,
    explain: options.Explain = False,
    resume: Annotated[
        Optional[Path], Option(metavar="FILE", help="Continue an interrupted search from its journal.")
    ] = None,
    label: Annotated[options.Words, Option(metavar="K=V", help="Label to store with the results.")] = None,
    format: options.CheckFormat = None,
    output: options.Output = None,
    html: options.Html = None,
    force: options.Force = False,
) -> None:
    """Find the release or commit that changed an operator.

    Exit codes: 0 every operator has an answer, 2 bad input, 3 an operator could not be measured, 4 inconclusive.

    It first compares good and bad, then the build that tells most per second with one of them, and finally the two
    neighbours of each step. It makes a build only when it needs it, and keeps it. After each comparison it shows what
    is most likely so far, which is also what Ctrl-C and `--budget` leave.
    """
    from opperf.domain.errors import way_out
    from opperf.parent.cli.options import command
    from opperf.parent.cli.options import request as requested
    from opperf.parent.cli.output import check_pages, deliver, write_pages
    from opperf.parent.cli.places import take_output
    from opperf.parent.cli.progress import Bar
    from opperf.parent.commands.bisect.bisect import Order
    from opperf.parent.commands.bisect.bisect import bisect as search
    from opperf.parent.planning.request import comparing_clock
    from opperf.parent.reports.bisect import document
    from opperf.parent.reports.formats import check_format
    from opperf.parent.sources.user_inputs import pairs
    from opperf.parent.store.journal import journal_of

    check_format(format, checks=True)
    read = options.inputs(operators, what)
    take_output(output, force=force, inputs=read)
    check_pages(html, None, force=force, inputs=read)
    journal = None if output is None else journal_of(output)
    order = Order(
        good=good,
        bad=bad,
        repository=repo,
        build=build,
        pre=pre,
        package=package,
        metric=metric,
        **vars(judging),
        explain=explain,
        journal=journal,
        resume=resume,
        labels=pairs(label or (), "--label"),
        command=command(),
    )
    request = {
        **requested(what, how),
        "clock": comparing_clock(clock),
        "framework": framework,
        "device": device,
        "threads": threads,
    }
    result, cause = search(operators or (), request, order, Bar())
    report = document(result)
    deliver(report, format, output, plural(len(result.answers), "answer"))
    write_pages(result, report, html, None)
    if cause is not None:
        raise way_out(cause)
    if journal is not None:
        journal.unlink(missing_ok=True)
    kinds = {answer.kind for answer in result.answers}
    if code := 3 if "failed" in kinds else 4 if "inconclusive" in kinds else 0:
        raise typer.Exit(code)
