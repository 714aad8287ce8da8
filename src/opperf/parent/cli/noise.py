"""`opperf noise`: how far identical code moves on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from opperf.parent.cli import options
from opperf.parent.cli.options import grouped


@grouped
def noise(
    operators: options.Operators = None,
    *,
    what: options.What,
    where: options.Where,
    repeats: Annotated[
        int, typer.Option(metavar="N", help="Number of times to compare each operator with itself.")
    ] = 3,
    judging: options.Judging,
    how: options.How,
    jobs: options.Jobs = "1",
    report: options.Report,
) -> None:
    """Measure how much identical code varies on this machine.

    It compares operators with themselves. Comparisons and gates on this machine use the result.
    """
    from opperf.domain.errors import way_out
    from opperf.parent import noise as studying
    from opperf.parent.cli.keeping import keep, publish, take_places
    from opperf.parent.cli.options import command, inputs, labels, request
    from opperf.parent.cli.progress import Bar
    from opperf.parent.reports.formats import check_format
    from opperf.parent.reports.noise import document

    check_format(report.format, checks=True)
    take_places(report, inputs(operators, what))
    bar = Bar()
    study, cause = studying.noise(
        operators or (),
        {**request(what, where, how), "jobs": jobs},
        bar,
        repeats=repeats,
        labels=labels(report),
        command=command(),
        **vars(judging),
    )
    try:
        studying.store(study, bar.note)
    finally:
        publish(study, document(study), report, f"{len(study.floors)} floors")
    keep(study, report)
    if cause is not None:
        raise way_out(cause)
    if not study.floors:
        raise typer.Exit(3)
