"""Where a report goes: to stdout, to a file, or to both."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from opperf.cli.places import emit
from opperf.destination import write_text
from opperf.errors import OpperfError, unknown
from opperf.reports import FORMATS, render

if TYPE_CHECKING:
    from opperf.record import Run
    from opperf.suite import Suite
    from opperf.trace import LeftOut

SUFFIXES = {".json": "json", ".csv": "csv", ".md": "md"}


def check_format(format: str | None) -> None:
    """Raise `InputError` for a format that is not known, before anything runs."""
    if format is not None and format not in FORMATS:
        raise unknown("format", format, FORMATS, hint=f"known: {', '.join(FORMATS)}")


def suite_text(suite: Suite) -> str:
    """Return what a suite file holds."""
    return json.dumps(suite.to_json(), indent=1) + "\n"


def write_suite(suite: Suite, output: Path) -> None:
    """Write a suite, and say how large it is."""
    write_text(output, suite_text(suite))
    calls = sum(entry.count for entry in suite.cases)
    typer.echo(f"wrote {output}: {len(suite.cases)} cases of {calls} calls", err=True)


def tell_left_out(left_out: Iterable[LeftOut]) -> None:
    """Say which operators no suite can hold."""
    for one in left_out:
        typer.echo(f"left out: {one.name}, {one.count} calls: {one.reason}", err=True)


def deliver(run: Run, format: str | None, output: Path | None) -> None:
    """Print the report of a run, or write it."""

    def rendered(chosen: str) -> str:
        if chosen == "console" and output is None and sys.stdout.isatty():
            return render(run, chosen, width=shutil.get_terminal_size().columns, color=True)
        return render(run, chosen)

    write_report(rendered, format, output, f"{len(run.records)} records")


def write_report(rendered: Callable[[str], str], format: str | None, output: Path | None, what: str) -> None:
    """Print a report, or write it, in the form that `rendered` makes of a format.

    A file gets the named format, or the one of its suffix, or JSON. With a file and no named format the table is
    printed too.
    """
    trouble: OpperfError | None = None
    if output is not None:
        try:
            write_text(output, rendered(format or SUFFIXES.get(output.suffix, "json")))
        except OpperfError as error:
            trouble = error  # what was measured is printed all the same
        else:
            typer.echo(f"wrote {output}: {what}", err=True)
            if format is not None:
                return
    emit(rendered(format or "console"))
    if trouble is not None:
        raise trouble
