"""`opperf noise`: how far identical code moves on this machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from opperf.domain.plan import Settings
from opperf.domain.units import plural
from opperf.parent.cli import options
from opperf.parent.sources.option import Only
from opperf.parent.sources.options import How, Jobs, Judging, Studying, What, Where


def noise(
    operators: options.Subjects = None,
    *,
    what: What,
    where: Where,
    studying: Studying,
    judging: Judging,
    how: How,
    jobs: Jobs = Settings.jobs,
    report: Annotated[options.Report, Only("labels", "format", "output", "html", "plot", "database", "force")],
) -> None:
    """Measure how much identical code varies on this machine.

    It compares operators with themselves. Comparisons and gates on this machine use the result. A suite may stand in
    place of operators: `opperf noise suite.json --error-rate`.

    Exit codes: 0 a floor was measured, 2 bad input, 3 none was.
    """
    from opperf.domain.errors import way_out
    from opperf.parent.cli.keeping import keep, lock_outputs, publish
    from opperf.parent.cli.options import command, inputs
    from opperf.parent.cli.progress import Bar
    from opperf.parent.commands import noise as noises
    from opperf.parent.planning.request import Request
    from opperf.parent.reports.noise import document

    operators, what = suite_among(operators, what)
    lock_outputs(report, inputs(operators, what))
    bar = Bar()
    order = noises.Order(noises.study(studying), judging, report.labels, command())
    noise_run, cause = noises.noise(operators or (), Request(what, where, how=how, jobs=jobs), order, bar)
    try:
        noises.store(noise_run, bar.note)
    finally:
        publish(noise_run, document(noise_run), report, plural(len(noise_run.floors), "floor"))
    keep(noise_run, report)
    if cause is not None:
        raise way_out(cause)
    if not noise_run.floors:
        raise typer.Exit(3)


def suite_among(operators: options.Words, what: What) -> tuple[options.Words, What]:
    """Return operators and selection, where a suite's file in place of an operator is the suite.

    >>> suite_among(["step.json"], What())[1].suite
    PosixPath('step.json')
    """
    match operators:
        case [name] if name.endswith(".json") and what.suite is None:
            return None, replace(what, suite=Path(name))
    return operators, what
