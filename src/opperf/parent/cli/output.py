"""Where a report goes: to stdout, to a file, or to both."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from opperf.domain.errors import OpperfError
from opperf.domain.files.destination import write_text
from opperf.parent.cli.places import emit
from opperf.parent.cli.screen import FILE, screen, tell
from opperf.parent.reports import render
from opperf.parent.reports.formats import FORMATS

if TYPE_CHECKING:
    from opperf.domain.record import Run
    from opperf.domain.suite import LeftOut, Suite
    from opperf.parent.reports.document import Document, Screen


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


def deliver(document: Document, format: str | None = None, output: Path | None = None, what: str = "") -> None:
    """Print a report, or write it, in a format that is made for where it is read; `what` says what a file holds.

    A file gets the named format, or the one of its suffix, or JSON. With a file and no named format the table is
    printed too.
    """
    trouble: OpperfError | None = None
    if output is not None:
        try:
            write_text(output, _render(document, format or _of_suffix(output), FILE))
        except OpperfError as error:
            trouble = error  # what was measured is printed all the same
        else:
            typer.echo(f"wrote {output}: {what}", err=True)
            if format is not None:
                return
    emit(_render(document, format or "console", screen()))
    if trouble is not None:
        raise trouble


def deliver_run(run: Run, format: str | None, output: Path | None, top: int | None = None) -> None:
    """Print the report of a run, or write it; `top` bounds the rows that people are shown."""
    from opperf.parent.reports.run import document

    deliver(document(run, top), format, output, f"{len(run.records)} records")


def _render(document: Document, format: str, place: Screen) -> str:
    return render(document, format, width=place.width, color=place.color)


def _of_suffix(output: Path) -> str:
    return next((name for name, one in FORMATS.items() if one.suffix == output.suffix), "json")
