"""Where a report goes: to stdout, to a file, or to both."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from opperf.errors import InputError, unknown
from opperf.reports import FORMATS, render
from opperf.store.run_file import write_text

if TYPE_CHECKING:
    from opperf.record import Run

SUFFIXES = {".json": "json", ".csv": "csv", ".md": "md"}


def check_format(format: str | None, output: Path | None) -> None:
    """Raise `InputError` for a format that is not known and a place that cannot be written, before anything runs."""
    if format is not None and format not in FORMATS:
        raise unknown("format", format, FORMATS, hint=f"known: {', '.join(FORMATS)}")
    if output is not None and (output.is_dir() or not output.absolute().parent.is_dir()):
        raise InputError(f"cannot write `{output}`", hint="give a file in a folder that exists", slug="output")


def deliver(run: Run, format: str | None, output: Path | None) -> None:
    """Print the report, or write it.

    A file gets the named format, or the one of its suffix, or JSON. With a file and no named format the table is
    printed too.
    """
    if output is not None:
        write_text(output, render(run, format or SUFFIXES.get(output.suffix, "json")))
        typer.echo(f"wrote {output}: {len(run.records)} records", err=True)
        if format is not None:
            return
    chosen = format or "console"
    if chosen == "console" and sys.stdout.isatty():
        text = render(run, chosen, width=shutil.get_terminal_size().columns, color=True)
    else:
        text = render(run, chosen)
    typer.echo(text, nl=False)
