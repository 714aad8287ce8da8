"""`opperf compare`: two sides, live and interleaved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from opperf.cli import options

if TYPE_CHECKING:
    from opperf.analysis.verdict import Rule


def compare(
    operators: options.Operators = None,
    *,
    base: Annotated[
        Optional[str], typer.Option(metavar="SIDE", help="`torch`, `numpy==1.26.4`, `torch;threads=2`, ...")
    ] = None,
    new: Annotated[
        Optional[list[str]], typer.Option(metavar="SIDE", help="What is compared with the base; may be repeated.")
    ] = None,
    plugin: options.Plugin = None,
    category: options.Category = None,
    every: options.Every = False,
    skip: options.Skip = None,
    suite: options.SuiteFile = None,
    dtype: options.Dtype = None,
    values: options.Values = None,
    random: options.Random = None,
    size: options.Size = None,
    direction: options.Direction = None,
    inputs: options.Input = None,
    attribute: options.Attribute = None,
    pairs: options.Pairs = 5,
    tolerance: options.Tolerance = "2%",
    budget: options.Budget = None,
    timeout: options.Timeout = "120",
    no_check: options.NoCheck = False,
    cpus: options.Cpus = None,
    seed: options.Seed = 0,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what ran on each side where one is slower or faster.")
    ] = False,
    label: options.Label = None,
    format: options.Format = None,
    output: options.Output = None,
) -> None:
    """Compare sides: slower, faster, same or inconclusive, from interleaved pairs of fresh processes.

    Without sides, two result files are compared: `opperf compare old.json new.json`.
    """
    from opperf.analysis.verdict import Rule
    from opperf.cli.live import compare_live
    from opperf.cli.output import check_format, write_report
    from opperf.cli.selecting import selection, settings
    from opperf.errors import InputError
    from opperf.reports import comparisons
    from opperf.sources.user_inputs import pairs as read_pairs
    from opperf.units import parse_percent

    check_format(format, output)
    rule = Rule(tolerance=parse_percent(tolerance, name="`--tolerance`"), pairs=pairs)
    if base is None and not new:
        if explain:
            raise InputError(
                "`--explain` has nothing to run: result files are compared",
                hint="give `--base SIDE` and `--new SIDE`",
                slug="nothing_to_explain",
            )
        _recorded(operators or [], rule, format, output)
        return
    if base is None or not new:
        raise InputError("a comparison needs both `--base SIDE` and `--new SIDE`", hint="or name two result files")
    if pairs < 3:
        raise InputError(f"`--pairs` is {pairs}, expected a whole number >= 3")
    selected = selection(
        operators=operators, category=category, every=every, skip=skip, suite=suite, dtype=dtype, values=values,
        random=random, size=size, direction=direction, inputs=inputs, attribute=attribute, plugin=plugin,
    )  # fmt: skip
    measuring = settings(timeout=timeout, budget=budget, cpus=cpus, seed=seed, check=not no_check)
    labels = read_pairs(label or (), "--label")
    document, stopped = compare_live(selected, base, new, measuring, rule, labels, explain=explain)
    what = f"{len(document.comparisons)} comparisons"
    write_report(lambda chosen: comparisons.render(document, chosen), format, output, what)
    if stopped is not None:
        raise SystemExit(stopped)


def _recorded(files: list[str], rule: Rule, format: str | None, output: Path | None) -> None:
    """Compare two result files."""
    from opperf.analysis.recorded import compare_runs
    from opperf.cli.output import write_report
    from opperf.comparison import ComparisonRun
    from opperf.errors import InputError
    from opperf.reports import comparisons
    from opperf.session import read_results, stored_floors

    if len(files) != 2 or not all(Path(file).is_file() for file in files):
        raise InputError(
            "nothing to compare: give `--base SIDE` and `--new SIDE`, or two result files",
            hint="`opperf compare add --base torch --new jax`, or `opperf compare old.json new.json`",
            slug="nothing_to_compare",
        )
    old, new = (read_results(Path(file)) for file in files)
    document = ComparisonRun(new, tuple(compare_runs(old, new, rule, stored_floors())))
    what = f"{len(document.comparisons)} comparisons"
    write_report(lambda chosen: comparisons.render(document, chosen), format, output, what)
