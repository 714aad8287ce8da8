"""`opperf compare`: two sides, live and interleaved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from opperf.parent.cli import options
from opperf.parent.cli.option_groups import grouped

if TYPE_CHECKING:
    from opperf.domain.comparison import ComparisonRun
    from opperf.parent.analysis.verdict import Rule


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
    how: options.How,
    no_check: options.NoCheck = False,
    explain: options.Explain = False,
    report: options.Report,
) -> None:
    """Compare two sides: slower, faster, same or inconclusive.

    It measures interleaved pairs of fresh processes. Without sides, two result files are compared: `opperf compare
    old.json new.json`.
    """
    from opperf.domain.errors import InputError
    from opperf.parent.cli.live import base_of, compare_live, sides_named
    from opperf.parent.cli.output import check_format
    from opperf.parent.cli.places import take_output
    from opperf.parent.cli.selecting import inputs, labels, rule, selection, settings

    check_format(report.format)
    read = [*inputs(operators, what), *(map(Path, operators or ()) if base is None and not new else ())]
    take_output(report.output, force=report.force, inputs=read)
    decided = rule(judging, settling)
    operators, base = base_of(operators, base, new)
    if base is None and not new:
        if explain:
            raise InputError(
                "`--explain` has nothing to run: result files are compared",
                hint="give `--base SIDE` and `--new SIDE`",
                slug="nothing_to_explain",
            )
        if settling.settle:
            raise InputError(
                "`--settle` has nothing to go on with: result files are compared",
                hint="give `--base SIDE` and `--new SIDE`",
                slug="nothing_to_settle",
            )
        _write(_recorded(operators or [], decided), report)
        return
    if base is None or not new:
        raise InputError("a comparison needs both `--base SIDE` and `--new SIDE`", hint="or name two result files")
    if judging.pairs < 3:
        raise InputError(f"`--pairs` is {judging.pairs}, expected a whole number >= 3", hint="the default is 5")
    first, *others = sides_named([base, *new])
    tells = any(text.side.implementation is not None for text in (first, *others))
    selected = selection(operators, what, others=tells)
    measuring = settings(how, check=not no_check)
    document, stopped = compare_live(selected, first, others, measuring, decided, labels(report), explain=explain)
    _write(document, report)
    if stopped is not None:
        raise stopped


def _recorded(files: list[str], rule: Rule) -> ComparisonRun:
    """Compare two result files."""
    from opperf.domain.comparison import ComparisonRun
    from opperf.domain.errors import InputError
    from opperf.parent.analysis.recorded import compare_runs
    from opperf.parent.calibration import stored_floors
    from opperf.parent.load import read_results

    if len(files) != 2 or not any(Path(file).is_file() for file in files):
        raise InputError(
            "nothing to compare: give `--base SIDE` and `--new SIDE`, or two result files",
            hint="`opperf compare add --base torch --new jax`, or `opperf compare old.json new.json`",
            slug="nothing_to_compare",
        )
    old, new = (read_results(Path(file)) for file in files)
    return ComparisonRun(new, tuple(compare_runs(old, new, rule, stored_floors())))


def _write(document: ComparisonRun, report: options.Report) -> None:
    from opperf.parent.cli.output import write_report
    from opperf.parent.reports.comparisons import render

    what = f"{len(document.comparisons)} comparisons"
    write_report(lambda chosen, screen: render(document, chosen, screen.width), report.format, report.output, what)
