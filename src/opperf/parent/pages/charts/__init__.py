"""Charts: each is one file that draws SVG at any width, without a script or library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol
from xml.etree.ElementTree import Element, SubElement, tostring

from opperf.parent.pages.charts.drawing import HEADING, Drawing
from opperf.parent.reports.text import one_line

#: The widths at which a page has every chart, in pixels: for a screen, and for a phone.
WIDE, NARROW = 760, 360
#: What is left free around a picture, in pixels.
MARGIN = 16
STYLE = (Path(__file__).parent / "charts.css").read_text(encoding="utf-8")


class Chart(Protocol):
    """What is drawn: a title, a sentence on how it is read, and the drawing at a width."""

    @property
    def title(self) -> str:
        """What stands above it."""
        ...

    @property
    def caption(self) -> str:
        """How it is read."""
        ...

    def draw(self, width: int) -> Drawing:
        """Draw it `width` pixels wide, as high as it needs."""
        ...


def figure(chart: Chart) -> str:
    """Return a chart as a piece of HTML, drawn twice: the page's style shows the one that fits."""
    figure = Element("figure")
    SubElement(figure, "h2").text = one_line(chart.title)
    SubElement(figure, "figcaption").text = chart.caption
    for name, width in (("wide", WIDE), ("narrow", NARROW)):
        drawing = chart.draw(width).element
        drawing.set("class", f"chart {name}")
        figure.append(drawing)
    text: bytes = tostring(figure, encoding="us-ascii", method="html")
    return text.decode("ascii")


def picture(charts: Sequence[Chart]) -> str:
    """Return charts below each other as one file of SVG, which brings its own style along."""
    drawings = [chart.draw(WIDE) for chart in charts]
    height = sum(drawing.height + HEADING for drawing in drawings)
    picture = Drawing(WIDE + 2 * MARGIN, height + MARGIN, " and ".join(chart.title for chart in charts))
    SubElement(picture.element, "style").text = STYLE
    picture.rect(0, 0, WIDE + 2 * MARGIN, height + MARGIN, "paper")
    top = 0.0
    for chart, drawing in zip(charts, drawings, strict=True):
        picture.text(MARGIN, top + 22, chart.title, "heading")
        drawing.element.attrib |= {"x": str(MARGIN), "y": f"{top + HEADING:g}"}
        picture.element.append(drawing.element)
        top += drawing.height + HEADING
    text: bytes = tostring(picture.element, encoding="us-ascii")
    return f"<!-- made by opperf -->\n{text.decode('ascii')}\n"
