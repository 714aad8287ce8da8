"""Reports: one table behind every format, one file per format.

What is shown is a run; times are scaled here and nowhere before. A format is imported when it is first asked for, so
that a command that prints none stays fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from opperf.domain.errors import unknown

if TYPE_CHECKING:
    from opperf.domain.record import Run

#: The formats that a command line offers. `html` is rendered too: notebooks show it.
FORMATS = ("console", "json", "csv", "md")


def render(run: Run, format: str, *, width: int | None = None, color: bool = False, top: int | None = None) -> str:
    """Return a run in one of the formats, with a line break at the end.

    `width` and `color` are the console's: None is as wide as the table needs, which is right for a pipe or a file.
    `top` bounds the rows that people are shown. Raises `InputError` for a format that is not known.
    """
    if format in ("console", "csv", "md", "html"):
        from opperf.parent.reports.table import with_origin

        run = with_origin(run)
    if format == "console":
        from opperf.parent.reports import console

        return console.render(run, width=width, color=color, top=top)
    if format == "json":
        from opperf.parent.reports import json_document

        return json_document.render(run)
    if format == "csv":
        from opperf.parent.reports import csv_rows

        return csv_rows.render(run)
    if format == "md":
        from opperf.parent.reports import markdown

        return markdown.render(run, top=top)
    if format == "html":
        from opperf.parent.reports import html

        return html.render(run)
    raise unknown("format", format, FORMATS, hint=f"known: {', '.join(FORMATS)}")
