"""`opperf compare`: two sides, live and interleaved."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from opperf.cli import options
from opperf.cli.run import usable_cpus


def compare(
    operators: options.Operators = None,
    *,
    base: Annotated[str, typer.Option(metavar="SIDE", help="`torch`, `numpy==1.26.4`, `torch;threads=2`, ...")],
    new: Annotated[list[str], typer.Option(metavar="SIDE", help="What is compared with the base; may be repeated.")],
    category: options.Category = None,
    every: options.Every = False,
    skip: options.Skip = None,
    suite: options.SuiteFile = None,
    dtype: options.Dtype = None,
    size: options.Size = None,
    direction: options.Direction = None,
    inputs: options.Input = None,
    attribute: options.Attribute = None,
    pairs: Annotated[int, typer.Option(metavar="K", help="Pairs of processes before the first look.")] = 5,
    tolerance: Annotated[str, typer.Option(metavar="PERCENT", help="A change that nobody minds.")] = "2%",
    budget: options.Budget = None,
    timeout: options.Timeout = "120",
    cpus: options.Cpus = None,
    seed: options.Seed = 0,
    label: options.Label = None,
    format: options.Format = None,
    output: options.Output = None,
) -> None:
    """Compare sides: slower, faster, same or inconclusive, from interleaved pairs of fresh processes."""
    from opperf.analysis.verdict import Rule
    from opperf.cli.output import check_format, write_report
    from opperf.cli.progress import Bar
    from opperf.comparing import Comparing, report
    from opperf.errors import InputError
    from opperf.plan import Settings
    from opperf.planning.selection import Selection
    from opperf.reports import comparisons
    from opperf.sources.user_inputs import pairs as read_pairs
    from opperf.units import parse_duration, parse_percent

    check_format(format, output)
    if pairs < 3:
        raise InputError(f"`--pairs` is {pairs}, expected a whole number >= 3")
    given = read_pairs(inputs or (), "--input")
    selection = Selection(
        operators=operators or (),
        categories=category or (),
        every=every,
        skip=skip or (),
        suite=suite,
        dtypes=dtype or (),
        sizes=size or (),
        directions=direction or (),
        inputs=[given] if given else [],
        attributes=read_pairs(attribute or (), "--attribute"),
    )
    settings = Settings(
        timeout=parse_duration(timeout, name="`--timeout`"),
        budget=None if budget is None else parse_duration(budget, name="`--budget`"),
        cpus=None if cpus is None else usable_cpus(cpus),
        seed=seed,
    )
    rule = Rule(tolerance=parse_percent(tolerance, name="`--tolerance`"), pairs=pairs)
    bar = Bar()
    comparing = Comparing(settings, rule, bar.note)
    contests = comparing.contests(selection, base, new)
    stopped: BaseException | None = None
    try:
        comparing.run(contests)
    except (KeyboardInterrupt, SystemExit) as stop:
        stopped = stop
    labels = read_pairs(label or (), "--label")
    document = report(contests, comparing, labels=labels, command=("opperf", *sys.argv[1:]))
    write_report(lambda chosen: comparisons.render(document, chosen), format, output, f"{len(contests)} comparisons")
    if stopped is not None:
        raise SystemExit(stopped.code if isinstance(stopped, SystemExit) else 130) from None
