"""`opperf noise`: how far identical code moves on this machine."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from opperf.parent.cli import options
from opperf.parent.cli.option_groups import grouped


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
    """Compare operators with themselves, and keep how far they move.

    Comparisons and gates on this machine use it.
    """
    from opperf.domain.errors import InputError, way_out
    from opperf.domain.plan import check_most
    from opperf.parent.cli.output import check_format, write_report
    from opperf.parent.cli.places import take_output
    from opperf.parent.cli.progress import Bar, planning
    from opperf.parent.cli.selecting import inputs, labels, rule, selection, settings
    from opperf.parent.noise import Noise, prove, store
    from opperf.parent.reports.noise import render

    check_format(report.format)
    take_output(report.output, force=report.force, inputs=inputs(operators, what))
    prove()
    for name, value, least in (("--pairs", judging.pairs, 3), ("--repeats", repeats, 1)):
        if value < least:
            raise InputError(f"`{name}` is {value}, expected a whole number >= {least}")
        check_most(name, value, "pairs")
    selected = selection(operators, what, where)
    measuring = settings(how)
    bar = Bar()
    study = Noise(measuring, rule(judging), bar)
    labelled = labels(report)
    with planning(bar):
        trials = study.trials(selected)
    stopped: BaseException | None = None
    try:
        study.run(trials, repeats)
    except InputError:
        raise
    except BaseException as stop:  # a fault of opperf's own among them: hours of measuring may lie behind
        stopped = way_out(stop)
    found = study.document(labels=labelled, command=("opperf", *sys.argv[1:]))
    count = f"{len(found.floors)} floors"
    try:
        store(found, bar.note)
    finally:
        write_report(lambda chosen, screen: render(found, chosen, screen.width), report.format, report.output, count)
    if stopped is not None:
        raise stopped
    if not found.floors:
        raise typer.Exit(3)
