"""`opperf explore`: the cases of an operator that cost too much."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from opperf.domain.units import plural
from opperf.parent.cli import options
from opperf.parent.cli.option_groups import grouped

Option = typer.Option


@grouped
def explore(
    operators: options.Operators = None,
    *,
    where: options.Where,
    dtype: Annotated[options.Words, Option(metavar="D", help="Element type to use instead of float32.")] = None,
    direction: Annotated[
        options.Words, Option(metavar="D", help="forward, backward or forward_backward. Default: forward.")
    ] = None,
    inputs: options.Input = None,
    attribute: Annotated[
        options.Words, Option(metavar="NAME=VALUE", help="Value of an attribute, such as `axis=1`.")
    ] = None,
    plugin: options.Plugin = None,
    objective: Annotated[
        Optional[str],
        Option(
            metavar="O",
            help="What to look for: cliff, memory, slower-than or peak-share. Default: cliff, or slower-than with "
            "--against.",
        ),
    ] = None,
    against: Annotated[
        Optional[str], Option(metavar="SIDE", help="Look for cases where this side is faster, such as `torch`.")
    ] = None,
    dims: Annotated[
        Optional[str], Option(metavar="RANGES", help="Sizes to explore, such as `m=1..4096,k=256`.")
    ] = None,
    factor: Annotated[float, Option(metavar="X", help="Smallest ratio worth reporting.")] = 1.2,
    looks: Annotated[int, Option(metavar="N", help="Maximum number of cases to look at per operator.")] = 500,
    how: options.How,
    jobs: options.Jobs = "1",
    explain: options.Explain = False,
    save_suite: Annotated[
        Optional[Path], Option(metavar="FILE", help="Write the cases to a suite file, for `compare` and `gate`.")
    ] = None,
    resume: Annotated[
        Optional[Path], Option(metavar="FILE", help="Continue an interrupted search from its journal.")
    ] = None,
    label: Annotated[options.Words, Option(metavar="K=V", help="Label to store with the results.")] = None,
    format: options.CheckFormat = None,
    output: options.Output = None,
    html: options.Html = None,
    plot: options.Plot = None,
    force: options.Force = False,
) -> None:
    """Find sizes that cost an operator more than their neighbours.

    It times many cases briefly, and measures suspicious ones again, in pairs of fresh processes. Each finding is the
    smallest case of its kind, with the sizes that show it and what to use instead.
    """
    from opperf.domain.errors import way_out
    from opperf.parent.cli.options import command
    from opperf.parent.cli.output import check_pages, deliver, write_pages, write_suite
    from opperf.parent.cli.places import take_output
    from opperf.parent.cli.progress import Bar
    from opperf.parent.commands.explore.explore import Order
    from opperf.parent.commands.explore.explore import explore as search
    from opperf.parent.reports.explore import document
    from opperf.parent.reports.formats import check_format
    from opperf.parent.sources.user_inputs import input_cases, pairs
    from opperf.parent.store.journal import journal_of

    check_format(format, checks=True)
    what = options.What(plugin=plugin)
    read = options.inputs(operators, what)
    take_output(output, force=force, inputs=read)
    take_output(save_suite, force=force, inputs=read)
    check_pages(html, plot, force=force, inputs=read)
    request = {
        **vars(where),
        **vars(how),
        "jobs": jobs,
        "dtype": dtype,
        "direction": direction,
        "plugin": plugin,
        "inputs": input_cases(inputs or ()),
        "attributes": pairs(attribute or (), "--attribute"),
    }
    journal = None if output is None else journal_of(output)
    order = Order(
        objective=objective,
        against=against,
        dims=dims,
        factor=factor,
        looks=looks,
        explain=explain,
        journal=journal,
        resume=resume,
        labels=pairs(label or (), "--label"),
        command=command(),
    )
    result, cause = search(operators or (), request, order, Bar())
    report = document(result)
    deliver(report, format, output, plural(len(result.anomalies), "finding"))
    write_pages(result, report, html, plot)
    if save_suite is not None and result.anomalies:
        write_suite(result.suite(), save_suite)
    if cause is not None:
        raise way_out(cause)
    if journal is not None:
        journal.unlink(missing_ok=True)
