"""`opperf nightly`: builds judged by the one before and by an anchor, and kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

from opperf.parent.cli import options
from opperf.parent.sources.option import Only, Option, Overrides
from opperf.parent.sources.options import Check, GateOptions, NoCheck, What

if TYPE_CHECKING:
    from opperf.parent.commands.nightly.nightly import Nights
    from opperf.parent.pages.charts import Chart


def nightly(
    operators: options.Subjects = None,
    *,
    what: Annotated[What, Only("select")],
    config: Annotated[Path, Option("FILE", "File with a [nightly] or [tool.opperf.nightly] table.")] = Path(
        "opperf.toml"
    ),
    anchor: Annotated[Optional[str], Option("SIDE", "Compare with this build instead of the file's anchor.")] = None,
    overlap: Annotated[
        bool, Option("", "Compare a new anchor with the previous one, so that histories continue.")
    ] = False,
    again: Annotated[bool, Option("", "Measure builds again that are already in the database.")] = False,
    overrides: Annotated[Overrides[GateOptions], Only("metric", "clock")],
    check: Check = None,
    no_check: NoCheck = False,
    report: Annotated[options.Report, Only("labels", "format", "output", "html", "plot", "database", "force")],
    reviewing: options.Reviewing,
) -> None:
    """Compare builds with an anchor and with the previous build.

    Exit codes: 0 no regression, 1 regression, 2 bad input, 3 a side could not be measured, 4 inconclusive.

    Each build is judged by the one before it. Builds that are already in the database are not measured again. Operators
    that are named here replace those of the file; files of benchmarks are named here alone.
    """
    from dataclasses import replace
    from functools import partial

    from opperf.domain.errors import way_out
    from opperf.parent.cli.gate import Places, deliver, telling
    from opperf.parent.cli.options import command
    from opperf.parent.cli.output import tell
    from opperf.parent.cli.progress import Bar
    from opperf.parent.commands.history import archive
    from opperf.parent.commands.nightly.nightly import Order
    from opperf.parent.commands.nightly.nightly import nightly as measure
    from opperf.parent.commands.notify import notify
    from opperf.parent.planning.request import checking
    from opperf.parent.reports.nightly import document
    from opperf.parent.sources.gate_file import overridden, read_nightly_file

    file = read_nightly_file(config, selects=not operators)
    file = replace(file, gate=overridden(file.gate, overrides))
    places = Places(report, reviewing)
    places.check([config, *options.inputs(operators, file.gate)])
    which = checking(check, no_check=no_check)
    order = Order(operators or (), what, anchor, overlap, again, which, report.labels, command())
    with archive(report.database or file.database, create=True) as store:
        nights = measure(file, store, order, Bar())
        with telling("messages are not sent"):
            notify(store, file.gate.notify, nights.judgement, tell)
    if nights.nights:
        deliver(nights.run, document(nights), nights.judgement, places, partial(_charts, nights))
    else:
        tell("nothing to measure: every build is already in the database")
    code = nights.judgement.exit_code if nights.nights else 0
    raise SystemExit(code) if nights.cause is None else way_out(nights.cause)


def _charts(nights: Nights) -> Sequence[Chart]:
    from opperf.parent.pages.figures import night_charts

    return night_charts(nights.steps, nights.others)
