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
    format: options.Format = None,
    output: options.Output = None,
) -> None:
    """Print result files again, in any format. Those of several are told apart by run, date, machine, label."""
    from opperf.parent.cli.output import check_format, deliver
    from opperf.parent.cli.places import check_place
    from opperf.parent.load import read_results
    from opperf.parent.reports.table import merge

    check_format(format)
    check_place(output, inputs=files)
    runs = [read_results(file) for file in files]
    deliver(runs[0] if len(runs) == 1 else merge(runs), format, output, top)
