"""`opperf noise`: how far identical code moves on this machine."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from opperf.cli import options


def noise(
    operators: options.Operators = None,
    *,
    framework: options.Framework = None,
    plugin: options.Plugin = None,
    category: options.Category = None,
    every: options.Every = False,
    skip: options.Skip = None,
    suite: options.SuiteFile = None,
    environment: options.Environment = None,
    device: options.Device = None,
    dtype: options.Dtype = None,
    values: options.Values = None,
    random: options.Random = None,
    size: options.Size = None,
    direction: options.Direction = None,
    mode: options.Mode = None,
    inputs: options.Input = None,
    attribute: options.Attribute = None,
    repeats: Annotated[int, typer.Option(metavar="N", help="Comparisons of each operator with itself.")] = 3,
    pairs: options.Pairs = 5,
    tolerance: options.Tolerance = "2%",
    budget: options.Budget = None,
    threads: options.Threads = 1,
    cpus: options.Cpus = None,
    engine: options.Engine = "naive",
    allocator: options.Allocator = "fixed",
    timeout: options.Timeout = "120",
    seed: options.Seed = 0,
    label: options.Label = None,
    format: options.Format = None,
    output: options.Output = None,
) -> None:
    """Compare operators with themselves, and keep how far they move: comparisons and gates on this machine use it."""
    from opperf.analysis.verdict import Rule
    from opperf.cli.output import check_format, write_report
    from opperf.cli.progress import Bar
    from opperf.cli.selecting import selection, settings
    from opperf.errors import InputError
    from opperf.noise import Noise, store
    from opperf.reports.noise import render
    from opperf.sources.user_inputs import pairs as read_pairs
    from opperf.units import parse_percent

    check_format(format, output)
    for name, value, least in (("--pairs", pairs, 3), ("--repeats", repeats, 1)):
        if value < least:
            raise InputError(f"`{name}` is {value}, expected a whole number >= {least}")
    selected = selection(
        operators=operators, category=category, every=every, skip=skip, suite=suite, dtype=dtype, values=values,
        random=random, size=size, direction=direction, inputs=inputs, attribute=attribute, plugin=plugin,
        frameworks=framework or (), environments=environment or (), devices=device or (), modes=mode or (),
        threads=threads, engine=engine, allocator=allocator,
    )  # fmt: skip
    measuring = settings(timeout=timeout, budget=budget, cpus=cpus, seed=seed)
    bar = Bar()
    study = Noise(measuring, Rule(tolerance=parse_percent(tolerance, name="`--tolerance`"), pairs=pairs), bar)
    labels = read_pairs(label or (), "--label")
    trials = study.trials(selected)
    stopped: BaseException | None = None
    try:
        study.run(trials, repeats)
    except (KeyboardInterrupt, SystemExit) as stop:
        stopped = stop
    found = study.document(labels=labels, command=("opperf", *sys.argv[1:]))
    store(found, bar.note)
    write_report(lambda chosen: render(found, chosen), format, output, f"{len(found.floors)} floors")
    if stopped is not None:
        raise SystemExit(stopped.code if isinstance(stopped, SystemExit) else 130) from None
    if not found.floors:
        raise typer.Exit(3)
