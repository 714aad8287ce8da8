"""`opperf nightly`: builds judged by the one before and by an anchor, and kept."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from opperf.parent.cli import options
from opperf.parent.cli.option_groups import grouped

Option = typer.Option


@grouped
def nightly(
    *,
    config: Annotated[
        Path, Option(metavar="FILE", help="File with a [nightly] or [tool.opperf.nightly] table.")
    ] = Path("opperf.toml"),
    anchor: Annotated[
        Optional[str], Option(metavar="SIDE", help="Compare with this build instead of the file's anchor.")
    ] = None,
    overlap: Annotated[
        bool, Option("--overlap", help="Compare a new anchor with the previous one, so that histories continue.")
    ] = False,
    again: Annotated[bool, Option("--again", help="Measure builds again that are already in the database.")] = False,
    clock: Annotated[Optional[str], Option(metavar="wall|instructions", help=options.COMPARING_CLOCK)] = None,
    check: options.Check = None,
    no_check: options.NoCheck = False,
    report: options.Report,
    markdown: Annotated[Optional[Path], Option(metavar="FILE", help="Write a Markdown report.")] = None,
    junit: Annotated[Optional[Path], Option(metavar="FILE", help="Write a JUnit XML report.")] = None,
    github: Annotated[
        Optional[bool],
        Option("--github/--no-github", help="Write annotations and a step summary. Default: in GitHub Actions."),
    ] = None,
) -> None:
    """Compare builds with an anchor and with the previous build.

    Exit codes: 0 no regression, 1 regression, 2 bad input, 3 a side could not be measured, 4 inconclusive.

    Each build is judged by the one before it. Builds that are already in the database are not measured again.
    """
    from dataclasses import replace

    from opperf.domain.errors import way_out
    from opperf.parent.cli.gate import Places, deliver
    from opperf.parent.cli.options import command, labels
    from opperf.parent.cli.output import tell
    from opperf.parent.cli.progress import Bar
    from opperf.parent.commands.history import archive
    from opperf.parent.commands.nightly.nightly import Order
    from opperf.parent.commands.nightly.nightly import nightly as measure
    from opperf.parent.planning.request import checking, comparing_clock
    from opperf.parent.reports.nightly import document
    from opperf.parent.sources.gate_file import read_nightly_file

    file = read_nightly_file(config)
    if clock is not None:
        file = replace(file, gate=replace(file.gate, clock=comparing_clock(clock)))
    places = Places(report.format, report.output, markdown, junit, github, report.html, report.plot, report.force)
    places.check([config, file.gate.suite])
    order = Order(anchor, overlap, again, checking(check, no_check=no_check), labels(report), command())
    with archive(report.database or file.database, create=True) as store:
        nights = measure(file, store, order, Bar())
    if nights.nights:
        deliver(nights.run, document(nights), nights.judgement, places)
    else:
        tell("nothing to measure: every build is already in the database")
    code = nights.judgement.exit_code if nights.nights else 0
    raise SystemExit(code) if nights.cause is None else way_out(nights.cause)
