"""`opperf bisect`: the build that made an operator slower or faster."""

from __future__ import annotations

from typing import Annotated

import typer

from opperf.domain.plan import Settings
from opperf.domain.units import plural
from opperf.parent.cli import options
from opperf.parent.sources.option import Only
from opperf.parent.sources.options import Bisecting, ComparingClock, Explain, How, Judging, What, Where


def bisect(
    operators: options.Subjects = None,
    *,
    search: Bisecting,
    clock: ComparingClock = Settings.clock,
    what: What,
    where: Annotated[Where, Only("framework", "device", "threads")],
    judging: Judging,
    how: How,
    explain: Explain = False,
    resume: options.ResumeSearch = None,
    report: Annotated[options.Report, Only("labels", "format", "output", "html", "force")],
) -> None:
    """Find the release or commit that changed an operator.

    Exit codes: 0 every operator has an answer, 2 bad input, 3 an operator could not be measured, 4 inconclusive.

    It first compares good and bad, then the build that tells most per second with one of them, and finally the two
    neighbours of each step. It makes a build only when it needs it, and keeps it. After each comparison it shows what
    is most likely so far, which is also what Ctrl-C and `--budget` leave.
    """
    from opperf.domain.errors import way_out
    from opperf.parent.cli.keeping import lock_outputs, publish
    from opperf.parent.cli.progress import Bar
    from opperf.parent.commands.bisect.bisect import Order
    from opperf.parent.commands.bisect.bisect import bisect as find
    from opperf.parent.planning.request import Request, decisive
    from opperf.parent.reports.bisect import document
    from opperf.parent.store.journal import journal_of

    lock_outputs(report, options.inputs(operators, what))
    journal = None if report.output is None else journal_of(report.output)
    order = Order(search, judging, explain, journal, resume, report.labels, options.command())
    request = Request(what, where, how=how, **decisive(clock, search.metric))
    result, cause = find(operators or (), request, order, Bar())
    publish(result, document(result), report, plural(len(result.answers), "answer"))
    if cause is not None:
        raise way_out(cause)
    if journal is not None:
        journal.unlink(missing_ok=True)
    kinds = {answer.kind for answer in result.answers}
    if code := 3 if "failed" in kinds else 4 if "inconclusive" in kinds else 0:
        raise typer.Exit(code)
