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
    repeats: Annotated[int, typer.Option(metavar="N", help="Comparisons of each operator with itself.")] = 3,
    judging: options.Judging,
    how: options.How,
    report: options.Report,
) -> None:
    """Measure how far identical code moves on this machine.

    It compares operators with themselves. Comparisons and gates on this machine use the result.
    """
    from opperf.domain.errors import way_out
    from opperf.parent import noise as studying
    from opperf.parent.cli.keeping import check_database, keep
    from opperf.parent.cli.options import command, inputs, labels, request
    from opperf.parent.cli.output import check_pages, deliver, write_pages
    from opperf.parent.cli.places import take_output
    from opperf.parent.cli.progress import Bar
    from opperf.parent.reports.formats import check_format
    from opperf.parent.reports.noise import document

    check_format(report.format, checks=True)
    take_output(report.output, force=report.force, inputs=inputs(operators, what))
    check_pages(report.html, report.plot, force=report.force, inputs=inputs(operators, what))
    check_database(report.database)
    bar = Bar()
    study, cause = studying.noise(
        operators or (),
        request(what, where, how),
        bar,
        repeats=repeats,
        labels=labels(report),
        command=command(),
        **vars(judging),
    )
    count = f"{len(study.floors)} floors"
    try:
        studying.store(study, bar.note)
    finally:
        made = document(study)
        deliver(made, report.format, report.output, count)
        write_pages(study, made, report.html, report.plot)
    keep(study, report)
    if cause is not None:
        raise way_out(cause)
    if not study.floors:
        raise typer.Exit(3)
