"""Where reports, pages and pictures go; and what people read on a terminal: how wide, in which colours."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import typer

from opperf.domain.errors import InputError, OpperfError
from opperf.domain.files.destination import write_text
from opperf.domain.units import plural
from opperf.parent.cli.places import emit
from opperf.parent.reports import render
from opperf.parent.reports.document import Screen
from opperf.parent.reports.formats import FORMATS

if TYPE_CHECKING:
    from opperf.domain.suite import LeftOut, Suite
    from opperf.parent.pages.charts import Chart
    from opperf.parent.pages.figures import Result
    from opperf.parent.reports.document import Document


FILE = Screen()
#: How wide a table is where nothing says it: in a pipe, and in the logs of CI systems.
COLUMNS = 120


def screen(stream: TextIO | None = None) -> Screen:
    """Return facts about the destination of a stream, stdout by default; its width is None where nothing says it.

    The variable `COLUMNS` says how wide it is, of a pipe too; else the terminal does.
    """
    stream = sys.stdout if stream is None else stream
    terminal = stream is not None and not stream.closed and stream.isatty()
    return Screen(_columns() or (_terminal_columns(stream) if terminal else None), terminal and not _colorless())


def _columns() -> int | None:
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isascii() and columns.isdigit() and len(columns) < 6 and int(columns) else None


def _colorless() -> bool:
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"


def _terminal_columns(stream: TextIO) -> int | None:
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        return None


def tell(text: str, *, indent: int = 0) -> None:
    """Say something on stderr: every line of it is fit for a terminal, and as wide as it."""
    typer.echo("\n".join(_fold(text, screen(sys.stderr).width, indent)), err=True)


def show(text: str) -> None:
    """Print a line of data on stdout."""
    emit("\n".join(_fold(text, screen().width)) + "\n")


def _fold(text: str, width: int | None, indent: int = 0) -> list[str]:
    from opperf.parent.reports.layout import paragraph

    return [part for line in text.split("\n") for part in paragraph(line, width, indent)]


def suite_text(suite: Suite) -> str:
    """Read a suite file."""
    return json.dumps(suite.to_json(), indent=1) + "\n"


def write_suite(suite: Suite, output: Path) -> None:
    """Write a suite, and say how large it is."""
    write_text(output, suite_text(suite))
    typer.echo(f"wrote {output}: {plural(len(suite.cases), 'case')} of {plural(suite.calls, 'call')}", err=True)


def tell_left_out(left_out: Iterable[LeftOut]) -> None:
    """Say which operators no suite can hold."""
    for one in left_out:
        tell(f"left out: {one.name}, {plural(one.count, 'call')}: {one.reason}")


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
    place = screen()
    emit(_render(document, format or "console", replace(place, width=place.width or COLUMNS)))
    if trouble is not None:
        raise trouble


def _render(document: Document, format: str, place: Screen) -> str:
    return render(document, format, width=place.width, color=place.color)


def _of_suffix(output: Path) -> str:
    return next((name for name, one in FORMATS.items() if one.suffix == output.suffix), "json")


#: What stands near the beginning of every page and picture, by which a command knows its own.
MARK = "opperf"


def check_pages(html: Path | None, plot: Path | None, *, force: bool, inputs: Iterable[Path | None] = ()) -> None:
    """Raise `InputError` for a place that cannot be written, or where something else stands, before anything runs."""
    from opperf.parent.cli.places import check_report

    read = [*inputs]
    for place in (html, plot):
        check_report(place, MARK, force=force, inputs=read)
    if plot is not None and plot.suffix.lower() not in ("", ".svg"):
        raise InputError(
            f"the charts are written as SVG, and `{plot}` is named otherwise",
            hint=f"write `{plot.with_suffix('.svg')}`",
            slug="output",
        )
    if html is not None and html == plot:
        raise InputError(
            f"the page and the charts would both be written to `{html}`",
            hint="give each a different file",
            slug="output",
        )


def write_pages(
    result: Result,
    document: Document,
    html: Path | None,
    plot: Path | None,
    drawings: Callable[[], Sequence[Chart]] | None = None,
) -> None:
    """Write the page and the picture of a result if requested, with its own charts unless these are told."""
    if html is None and plot is None:
        return
    from opperf.domain.files.destination import write_text
    from opperf.parent.pages.charts import picture
    from opperf.parent.pages.figures import charts
    from opperf.parent.pages.result_page import page

    if html is not None:
        visible = charts(result) if drawings is None else drawings()
        write_text(html, page(result, document, visible))
        typer.echo(f"wrote {html}: {plural(len(visible), 'chart')}", err=True)
    if plot is None:
        return
    still = charts(result, still=True) if drawings is None else drawings()
    if not still:
        typer.echo(f"{plot} was not written: no measurement to draw", err=True)
    else:
        write_text(plot, picture(still))
        typer.echo(f"wrote {plot}: {plural(len(still), 'chart')}", err=True)
