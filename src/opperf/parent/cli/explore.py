"""`opperf explore`: the cases of an operator that cost too much."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from opperf.domain.plan import Settings
from opperf.domain.units import plural
from opperf.parent.cli import options
from opperf.parent.sources.option import Only, Option
from opperf.parent.sources.options import Explain, Exploring, How, Jobs, Names, What, Where


def explore(
    operators: options.Operators = None,
    *,
    where: Where,
    what: Annotated[What, Only("dtype", "inputs", "attributes", "plugin")],
    direction: Annotated[Names, Option("D", "forward, backward or forward_backward. Default: forward.")] = (),
    search: Exploring,
    how: How,
    jobs: Jobs = Settings.jobs,
    explain: Explain = False,
    save_suite: options.SaveSuite = None,
    resume: options.ResumeSearch = None,
    report: Annotated[options.Report, Only("labels", "format", "output", "html", "plot", "force")],
) -> None:
    """Find sizes that cost an operator more than their neighbours.

    It times many cases briefly, and measures suspicious ones again, in pairs of fresh processes. Each finding is the
    smallest case of its kind, with the sizes that show it and what to use instead.
    """
    from opperf.domain.errors import way_out
    from opperf.parent.cli.keeping import lock_outputs, publish
    from opperf.parent.cli.output import write_suite
    from opperf.parent.cli.places import take_output
    from opperf.parent.cli.progress import Bar
    from opperf.parent.commands.explore.explore import Order
    from opperf.parent.commands.explore.explore import explore as find
    from opperf.parent.planning.request import Request
    from opperf.parent.reports.explore import document
    from opperf.parent.store.journal import journal_of

    read = options.inputs(operators, what)
    lock_outputs(report, read)
    take_output(save_suite, force=report.force, inputs=read)
    journal = None if report.output is None else journal_of(report.output)
    order = Order(search, explain, journal, resume, report.labels, options.command())
    result, cause = find(
        operators or (), Request(replace(what, direction=direction), where, how=how, jobs=jobs), order, Bar()
    )
    publish(result, document(result), report, plural(len(result.anomalies), "finding"))
    if save_suite is not None and result.anomalies:
        write_suite(result.suite(), save_suite)
    if cause is not None:
        raise way_out(cause)
    if journal is not None:
        journal.unlink(missing_ok=True)
