"""`opperf compare`: compare two sides, live and interleaved."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from opperf.domain.plan import Settings
from opperf.parent.cli import options
from opperf.parent.sources.options import (
    Building,
    Check,
    ComparingClock,
    Deciding,
    Explain,
    How,
    Jobs,
    Metric,
    NoCheck,
    OnFleet,
    What,
)


def compare(
    operators: options.Subjects = None,
    *,
    base: Annotated[
        Optional[str],
        typer.Option(metavar="SIDE", help="Side to compare with: `torch`, `numpy==1.26.4`, `torch;threads=2`."),
    ] = None,
    new: Annotated[
        Optional[list[str]], typer.Option(metavar="SIDE", help="Side to compare with the base. Repeatable.")
    ] = None,
    what: What,
    second: Annotated[
        Optional[Path],
        typer.Option(
            "--with", metavar="FILE", help="Compare the suite of `--suite` with another one, module by module."
        ),
    ] = None,
    deciding: Deciding,
    building: Building,
    processes: Annotated[
        Optional[int], typer.Option(metavar="K", help="Number of processes per side: the same as `--pairs`.")
    ] = None,
    how: How,
    jobs: Jobs = Settings.jobs,
    metric: Metric = Settings.metric,
    clock: ComparingClock = Settings.clock,
    check: Check = None,
    no_check: NoCheck = False,
    explain: Explain = False,
    fleet: OnFleet,
    no_samples: Annotated[
        bool, typer.Option("--no-samples", help="Keep only verdicts, ratios and times, not what each pair said.")
    ] = False,
    by: options.By = "operator",
    report: options.Report,
) -> None:
    """Compare two sides: slower, faster, the same or inconclusive.

    It measures interleaved pairs of fresh processes. Without sides, it compares two result files: `opperf compare
    old.json new.json`. With `--with` it compares two suites: a model that changed, or one model in two frameworks.

    Exit codes: 0 something was compared, 2 bad input, 3 something failed and nothing was compared.
    """
    from opperf.domain.errors import way_out
    from opperf.domain.units import plural
    from opperf.parent.cli.exit import leave_compared
    from opperf.parent.cli.keeping import check_asv_results, keep, lock_outputs, publish
    from opperf.parent.cli.options import command, inputs
    from opperf.parent.cli.progress import Bar
    from opperf.parent.commands import compare as comparing
    from opperf.parent.commands import compare_suites as suites
    from opperf.parent.planning.request import Request, checking, decisive
    from opperf.parent.planning.wishes import wishes
    from opperf.parent.reports import report_of

    read = [*inputs(operators, what), *(map(Path, operators or ()) if base is None and not new else ())]
    lock_outputs(report, [*read, second])
    check_asv_results(report, operators)
    which = checking(check, no_check=no_check)
    nodes, keeps = wishes(fleet), not no_samples
    order = comparing.Order(deciding, building, explain, report.labels, command(), nodes, processes, keep_samples=keeps)
    if second is not None:
        idle = {
            "operators": operators,
            "--new": (new or ())[1:],
            "--explain": explain,
            "--fleet": fleet.fleet,
            "--metric": metric != Settings.metric,
            "--clock": clock != Settings.clock,
            "--repo": building.repo,
            "--build": building.build,
        }
        suites.refuse(name for name, value in idle.items() if value)
        request = Request(what, how=how, jobs=jobs, check=which)
        result = suites.compare_suites(request, second, order, Bar(), base=base, new=new[0] if new else None)
        publish(result.change, report_of(result.change, by=by), report, "two suites")
        keep(result.change.run, report)
        if result.cause is not None:
            raise way_out(result.cause)
        if result.change.verdict.verdict == "failed":
            raise typer.Exit(3)
        return
    comparison_run, cause = comparing.compare(
        operators or (),
        Request(what, how=how, jobs=jobs, check=which, **decisive(clock, metric)),
        order,
        Bar(),
        base=base,
        new=new or (),
    )
    publish(
        comparison_run, report_of(comparison_run, by=by), report, plural(len(comparison_run.comparisons), "comparison")
    )
    keep(comparison_run, report)
    if cause is not None:
        raise way_out(cause)
    leave_compared(comparison_run.comparisons)
