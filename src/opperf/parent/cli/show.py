"""`opperf show`: print result files again, in any format, merged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from opperf.parent.cli import options


def show(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Result files or journals.")],
    *,
    top: Annotated[Optional[int], typer.Option(metavar="N", min=1, help="Maximum number of rows to print.")] = None,
    format: options.CheckFormat = None,
    output: options.Output = None,
) -> None:
    """Print result files again, in any format. Those of several are told apart by run, date, machine, label."""
    from opperf.parent.cli.output import deliver_run
    from opperf.parent.load import read_results
    from opperf.parent.reports.formats import check_format
    from opperf.parent.reports.run import merge
    from opperf.parent.store.output_lock import check_place

    check_format(format, checks=True)
    check_place(output, inputs=files)
    runs = [read_results(file) for file in files]
    deliver_run(merge(runs), format, output, top)
