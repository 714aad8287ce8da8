"""`opperf compare`: compare two sides, live and interleaved."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from opperf.domain.dataclass import dataclass
from opperf.parent.cli import options
from opperf.parent.cli.option_groups import grouped

PairBudget = Annotated[
    Optional[str], typer.Option(metavar="SECONDS", help="Sampling time of a case in each pair. Default: as needed.")
]
PairPrecision = Annotated[
    Optional[str],
    typer.Option(
        metavar="P", help="Stop sampling in a pair once its ratio is this precise. Default: half the tolerance."
    ),
]


@dataclass(frozen=True)
class PairSampling:
    """How many pairs there are, and how long each takes samples, in the words of `run`."""

    processes: Annotated[
        Optional[int], typer.Option(metavar="K", help="Number of processes per side: the same as `--pairs`.")
    ] = None
    trial_budget: PairBudget = None
    precision: PairPrecision = None


@grouped
def compare(
    operators: options.Operators = None,
    *,
    base: Annotated[
        Optional[str],
        typer.Option(metavar="SIDE", help="Side to compare with: `torch`, `numpy==1.26.4`, `torch;threads=2`."),
    ] = None,
    new: Annotated[
        Optional[list[str]], typer.Option(metavar="SIDE", help="Side to compare with the base. Repeatable.")
    ] = None,
    what: options.What,
    judging: options.Judging,
    settling: options.Settling,
    sampling: PairSampling,
    how: options.How,
    jobs: options.Jobs = "1",
    clock: options.ComparingClock = "wall",
    check: options.Check = None,
    no_check: options.NoCheck = False,
    explain: options.Explain = False,
    fleet: options.OnFleet,
    no_samples: Annotated[
        bool, typer.Option("--no-samples", help="Keep only verdicts, ratios and times, not what each pair said.")
    ] = False,
    report: options.Report,
) -> None:
    """Compare two sides: slower, faster, the same or inconclusive.

    It measures interleaved pairs of fresh processes. Without sides, it compares two result files: `opperf compare
    old.json new.json`.

    Exit codes: 0 something was compared, 2 bad input, 3 something failed and nothing was compared.
    """
    from opperf.domain.errors import way_out
    from opperf.domain.units import plural
    from opperf.parent.cli.keeping import keep, publish, take_places
    from opperf.parent.cli.options import inputs, request, wishes
    from opperf.parent.cli.options import judging as judging_of
    from opperf.parent.cli.progress import Bar
    from opperf.parent.commands import compare as comparing
    from opperf.parent.planning.request import checking, comparing_clock
    from opperf.parent.reports.comparison import document
    from opperf.parent.reports.formats import check_format

    check_format(report.format, checks=True)
    read = [*inputs(operators, what), *(map(Path, operators or ()) if base is None and not new else ())]
    take_places(report, read)
    comparison_run, cause = comparing.compare(
        operators or (),
        {
            **request(what, how),
            "jobs": jobs,
            "clock": comparing_clock(clock),
            "check": checking(check, no_check=no_check),
        },
        judging_of(
            *(judging, settling, report),
            **vars(sampling),
            explain=explain,
            fleet=wishes(fleet),
            keep_samples=not no_samples,
        ),
        Bar(),
        base=base,
        new=new or (),
    )
    publish(comparison_run, document(comparison_run), report, plural(len(comparison_run.comparisons), "comparison"))
    keep(comparison_run, report)
    if cause is not None:
        raise way_out(cause)
    kinds = {one.verdict.verdict for one in comparison_run.comparisons}
    if "failed" in kinds and kinds <= {"failed", "skipped"}:
        raise typer.Exit(3)
