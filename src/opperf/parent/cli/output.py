"""Where a report goes: to stdout, to a file, or to both."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from opperf.domain.errors import OpperfError, unknown
from opperf.domain.files.destination import write_text
from opperf.parent.cli.places import emit
from opperf.parent.cli.screen import FILE, Screen, screen, tell
from opperf.parent.reports import FORMATS, render

if TYPE_CHECKING:
    from opperf.domain.record import Run
    from opperf.domain.suite import LeftOut, Suite

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
    typer.echo(f"wrote {output}: {len(suite.cases)} cases of {suite.calls} calls", err=True)


def tell_left_out(left_out: Iterable[LeftOut]) -> None:
    """Say which operators no suite can hold."""
    for one in left_out:
        tell(f"left out: {one.name}, {one.count} calls: {one.reason}")


def deliver(run: Run, format: str | None, output: Path | None, top: int | None = None) -> None:
    """Print the report of a run, or write it; `top` bounds the rows for people."""

    def rendered(chosen: str, screen: Screen) -> str:
        return render(run, chosen, width=screen.width, color=screen.color, top=top)

    write_report(rendered, format, output, f"{len(run.records)} records")


def write_report(rendered: Callable[[str, Screen], str], format: str | None, output: Path | None, what: str) -> None:
    """Print a report, or write it, in the form that `rendered` makes of a format for where it is read.

    A file gets the named format, or the one of its suffix, or JSON. With a file and no named format the table is
    printed too.
    """
    trouble: OpperfError | None = None
    if output is not None:
        try:
            write_text(output, rendered(format or SUFFIXES.get(output.suffix, "json"), FILE))
        except OpperfError as error:
            trouble = error  # what was measured is printed all the same
        else:
            typer.echo(f"wrote {output}: {what}", err=True)
            if format is not None:
                return
    emit(rendered(format or "console", screen()))
    if trouble is not None:
        raise trouble
