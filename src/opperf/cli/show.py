"""`opperf show`: print result files again, in any format, merged."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer


def show(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Result files, or journals of runs that ended early.")],
    *,
    format: Annotated[Optional[str], typer.Option(metavar="F", help="console, json, csv or md.")] = None,
    output: Annotated[Optional[Path], typer.Option(metavar="FILE", help="Write there instead of printing.")] = None,
) -> None:
    """Print result files again, in any format. Several are merged; of one trial the last file's record counts."""
    from opperf.cli.output import check_format, deliver
    from opperf.reports.table import merge
    from opperf.session import read_results

    check_format(format, output)
    runs = [read_results(file) for file in files]
    deliver(runs[0] if len(runs) == 1 else merge(runs), format, output)
