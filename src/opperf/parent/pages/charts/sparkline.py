"""A history as small as a word: a line with its band, which stands in the row of a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement

from opperf.parent.reports.text import one_line

#: Pixels. The width is of so many builds as a chart has at most, so that charts in one column have the same axis.
WIDTH, HEIGHT, MARGIN = 100, 22, 3
#: Ratios within so much of 1 look flat: a chart as high as its noise would show nothing else.
LEAST = 0.02


def sparkline(spots: Sequence[tuple[int, float, float | None, float | None]], count: int, words: str) -> Element | None:
    """Return the drawing of ratios at places of `count`, each with its interval, and 1 as a line; None of no ratio.

    `words` say what is to be seen, to those who cannot.
    """
    if not spots:
        return None
    ends = [end for spot in spots for end in spot[1:] if end is not None and end > 0]
    reach = max(math.log1p(LEAST), *(abs(math.log(end)) for end in ends))
    step = (WIDTH - 2 * MARGIN) / max(count - 1, 1)

    def across(place: int) -> str:
        return f"{MARGIN + step * place:.0f}"

    def upright(ratio: float) -> str:
        return f"{HEIGHT / 2 - math.log(ratio) / reach * (HEIGHT / 2 - MARGIN):.1f}"

    facts = {"class": "spark", "viewBox": f"0 0 {WIDTH} {HEIGHT}", "width": str(WIDTH), "height": str(HEIGHT)}
    drawing = Element("svg", {**facts, "role": "img", "aria-label": one_line(words)})
    SubElement(drawing, "line", {"x1": "0", "x2": str(WIDTH), "y1": upright(1.0), "y2": upright(1.0)})
    bounds = [(place, low, high) for place, _, low, high in spots if low is not None and high is not None]
    if len(bounds) > 1:
        upper = [f"{across(place)},{upright(high)}" for place, _, high in bounds]
        lower = [f"{across(place)},{upright(low)}" for place, low, _ in reversed(bounds)]
        SubElement(drawing, "polygon", {"points": " ".join([*upper, *lower])})
    SubElement(drawing, "polyline", {"points": " ".join(f"{across(spot[0])},{upright(spot[1])}" for spot in spots)})
    place, last = spots[-1][:2]
    SubElement(drawing, "circle", {"cx": across(place), "cy": upright(last), "r": "2.5"})
    return drawing
