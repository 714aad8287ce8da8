"""Texts of a program for a chart: plotly reads some markup in them, and none of theirs."""

from __future__ import annotations

from html import escape

from opperf.parent.reports.escaping import one_line

#: Characters of a name in a chart. Names of kernels are longer than a screen is wide.
LONGEST = 60


def marked(text: str, longest: int = LONGEST) -> str:
    """Return a text that plotly shows as it is; long ones are cut.

    >>> marked("a<b>"), marked("abcdef", 4)
    ('a&lt;b&gt;', 'abc…')
    """
    line = one_line(text)
    return escape(line if len(line) <= longest else f"{line[: longest - 1]}…", quote=False)
