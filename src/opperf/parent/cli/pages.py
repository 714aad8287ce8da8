"""Where a command's pages and pictures go, beside its report."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from opperf.domain.errors import InputError

if TYPE_CHECKING:
    from opperf.parent.pages.figures import Result
    from opperf.parent.reports.document import Document

#: What stands near the beginning of every page and picture, by which a command knows its own.
MARK = "opperf"


def check_pages(html: Path | None, plot: Path | None, *, force: bool, inputs: Iterable[Path | None] = ()) -> None:
    """Raise `InputError` for a place that cannot be written, or where something else stands, before anything runs."""
    from opperf.parent.cli.places import check_report

    read = [*inputs]
    for place in (html, plot):
        check_report(place, MARK, force=force, inputs=read)
    if html is not None and html == plot:
        raise InputError(f"page and picture both go to `{html}`", hint="give each a file of its own", slug="output")


def write_pages(result: Result, document: Document, html: Path | None, plot: Path | None) -> None:
    """Write the page of a result, and its picture, where they are asked for."""
    if html is None and plot is None:
        return
    from opperf.domain.files.destination import write_text
    from opperf.parent.pages.charts import picture
    from opperf.parent.pages.figures import charts
    from opperf.parent.pages.frozen import page

    several = charts(result)
    if html is not None:
        write_text(html, page(result, document, several))
        typer.echo(f"wrote {html}: {len(several)} charts", err=True)
    if plot is not None and not several:
        typer.echo(f"{plot} is not written: nothing was measured that a picture could show", err=True)
    elif plot is not None:
        write_text(plot, picture(several))
        typer.echo(f"wrote {plot}: {len(several)} charts", err=True)
