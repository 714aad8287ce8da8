"""Charts: each is one file that draws SVG at any width, without a script or library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, tostring

from opperf.parent.pages.charts.drawing import HEADING, Chart, Drawing
from opperf.parent.pages.charts.intervals import Intervals, Row
from opperf.parent.reports.document import Table
from opperf.parent.reports.formats.html import add_table
from opperf.parent.reports.text import one_line

__all__ = ["MEDIUM", "NARROW", "STYLE", "WIDE", "Chart", "figure", "picture"]

#: The widths at which a page has every chart, in pixels: for a screen, half of one, and a phone.
WIDE, MEDIUM, NARROW = 1160, 760, 360
WIDTHS = {"wide": WIDE, "medium": MEDIUM, "narrow": NARROW}
#: Those of what stands behind a row, which needs no more room.
WIDTHS_BEHIND = {"wide medium": MEDIUM, "narrow": NARROW}
#: What is left free around a picture, in pixels.
MARGIN = 16
STYLE = (Path(__file__).parent / "charts.css").read_text(encoding="utf-8")


def figure(chart: Chart) -> str:
    """Return a chart as a piece of HTML, drawn for each width: the page's style shows the one that fits."""
    figure = Element("figure")
    SubElement(figure, "h2").text = one_line(chart.title)
    SubElement(figure, "figcaption").text = chart.caption
    if isinstance(chart, Intervals) and any(row.behind or row.group for row in chart.rows):
        _rows(figure, chart)
    else:
        _drawings(figure, chart.draw)
    text: bytes = tostring(figure, encoding="us-ascii", method="html")
    return text.decode("ascii")


def _drawings(parent: Element, draw: Callable[[int], Drawing], widths: Mapping[str, int] = WIDTHS) -> None:
    for name, width in widths.items():
        drawing = draw(width).element
        drawing.set("class", f"chart {name}")
        parent.append(drawing)


def _rows(parent: Element, chart: Intervals) -> None:
    """Add rows that open, in groups that fold; the first group is open."""
    for place, (name, group) in enumerate(groupby(chart.rows, key=lambda row: row.group)):
        rows = [*group]
        inside = parent
        if name:
            inside = SubElement(parent, "details", {"class": "group", **({} if place else {"open": ""})})
            SubElement(inside, "summary").text = one_line(name)
        if not any(row.behind for row in rows):
            _drawings(inside, partial(chart.draw_rows, rows))
            continue
        _drawings(inside, chart.draw_head)
        for row in rows:
            _row(inside, chart, row)
        _drawings(inside, chart.draw_foot)


def _row(parent: Element, chart: Intervals, row: Row) -> None:
    """Add a row, and what opens below it."""
    if not row.behind:
        _drawings(parent, partial(chart.draw_row, row))
        return
    element = SubElement(parent, "details", {"class": "row"})
    _drawings(SubElement(element, "summary"), partial(chart.draw_row, row))
    for part in row.behind:
        if isinstance(part, Table):
            add_table(element, part, row.label)
        else:
            SubElement(element, "p", {"class": "faint"}).text = part.caption
            _drawings(element, part.draw, WIDTHS_BEHIND)


def picture(charts: Sequence[Chart]) -> str:
    """Return charts below each other as one file of SVG, which brings its own style along."""
    drawings = [chart.draw(MEDIUM) for chart in charts]
    height = sum(drawing.height + HEADING for drawing in drawings)
    picture = Drawing(MEDIUM + 2 * MARGIN, height + MARGIN, " and ".join(chart.title for chart in charts))
    SubElement(picture.element, "style").text = STYLE
    picture.rect(0, 0, MEDIUM + 2 * MARGIN, height + MARGIN, "paper")
    top = 0.0
    for chart, drawing in zip(charts, drawings, strict=True):
        picture.text(MARGIN, top + 22, chart.title, "heading")
        drawing.element.attrib |= {"x": str(MARGIN), "y": f"{top + HEADING:g}"}
        picture.element.append(drawing.element)
        top += drawing.height + HEADING
    text: bytes = tostring(picture.element, encoding="us-ascii")
    return f"<!-- made by opperf -->\n{text.decode('ascii')}\n"
