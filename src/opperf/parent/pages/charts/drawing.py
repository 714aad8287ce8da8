"""What charts are drawn with: elements of SVG, axes with round numbers, text that fits.

The writer of elements escapes every text, so a name from a file is shown and never acts. Looks are classes of
`charts.css`: no element has inline styles, which a strict content security policy forbids.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol
from xml.etree.ElementTree import Element, SubElement

from opperf.domain.dataclass import dataclass
from opperf.parent.reports.text import one_line

#: What a character is wide, and how much an axis, a heading and a row of text need. Pixels.
CHARACTER, AXIS, HEADING, LINE = 6.3, 26, 32, 16
#: Minimum distance of labels on a horizontal and on a vertical axis, in pixels.
TICK, UPRIGHT = 72, 44
#: How many series have their own colour; further ones share them.
COLORS = 6


class Drawing:
    """An `<svg>` that is being drawn; `height` is known once everything stands."""

    def __init__(self, width: float, height: float, title: str) -> None:
        self.height = height
        self.element = Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "class": "chart",
                "viewBox": f"0 0 {width:g} {height:g}",
                "width": f"{width:g}",
                "height": f"{height:g}",
                "role": "img",
                "aria-label": one_line(title),
            },
        )

    def add(self, tag: str, name: str, tip: str = "", **places: float | str) -> Element:
        """Add an element of a class; `tip` appears on hover."""
        attributes = {key: value if isinstance(value, str) else f"{value:.2f}" for key, value in places.items()}
        element = SubElement(self.element, tag, {"class": name, **attributes})
        if tip:
            SubElement(element, "title").text = "\n".join(map(one_line, tip.split("\n")))
        return element

    def text(self, x: float, y: float, text: str, name: str = "", *, room: float = math.inf) -> None:
        """Write a text, cut to the room that it has."""
        line = one_line(text)
        most = len(line) if room == math.inf else max(1, int(room / CHARACTER))
        element = self.add("text", name, "" if len(line) <= most else line, x=x, y=y)
        tail = list(element)
        element.text = _cut(line, most)
        element[:] = tail

    def two_lines(self, top: float, label: str, detail: str, rooms: tuple[float, float]) -> None:
        """Write the label of a row, and below it the detail, or else the words that a long label has no room for."""
        most = int(rooms[0] / CHARACTER)
        if not detail and len(label) > most and " " in label[:most]:
            end = label.rindex(" ", 0, most + 1)
            label, detail = label[:end], label[end + 1 :]
        self.text(0, top + 14, label, room=rooms[0])
        self.text(0, top + 28, detail, "faint", room=rooms[1])

    def line(self, x1: float, y1: float, x2: float, y2: float, name: str = "") -> None:
        """Draw a line."""
        self.add("line", name, x1=x1, y1=y1, x2=x2, y2=y2)

    def rect(self, x: float, y: float, width: float, height: float, name: str, tip: str = "") -> Element:
        """Draw a rectangle."""
        return self.add("rect", name, tip, x=x, y=y, width=max(width, 0.0), height=height)

    def circle(self, x: float, y: float, radius: float, name: str, tip: str = "") -> None:
        """Draw a dot."""
        self.add("circle", name, tip, cx=x, cy=y, r=radius)

    def lines(self, points: Iterable[tuple[float, float]], name: str, *, area: bool = False) -> None:
        """Draw a line through points, or the area within them."""
        text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.add("polygon" if area else "polyline", name, points=text)

    def close(self, height: float) -> Drawing:
        """Return the drawing, as high as it has become."""
        self.height = height
        width = self.element.get("width")
        self.element.set("height", f"{height:g}")
        self.element.set("viewBox", f"0 0 {width} {height:g}")
        return self

    def legend(self, names: Sequence[str], width: float, y: float) -> float:
        """Write the colour legend on as many lines as it needs; return the position below it."""
        x = 0.0
        for place, name in enumerate(names):
            room = CHARACTER * len(name) + 34
            if x and x + room > width:
                x, y = 0.0, y + LINE
            self.circle(x + 5, y - 4, 4.5, color(place))
            self.text(x + 15, y, name, room=width - 15)
            x += room
        return y + LINE if names else y


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


def color(place: int) -> str:
    """Return the class of a series."""
    return f"s{place % COLORS}"


@dataclass(frozen=True)
class Axis:
    """A stretch of numbers on a stretch of pixels; `begin` may be more than `end`, as on the way up."""

    low: float
    high: float
    begin: float
    end: float
    show: Callable[[float], str]
    log: bool = True

    @classmethod
    def of(
        cls, values: Iterable[float], begin: float, end: float, show: Callable[[float], str], *, log: bool = True
    ) -> Axis:
        """Return an axis that has room for all values, and a little more."""
        several = [value for value in values if math.isfinite(value) and (value > 0 or not log)] or [1.0]
        low, high = min(several), max(several)
        if log:
            margin = max((high / low) ** 0.06, 1.01)
            return cls(low / margin, high * margin, begin, end, show)
        margin = 0.06 * (high - low) or abs(high) * 0.05 or 1.0
        return cls(min(low, 0.0 if low >= 0 else low - margin), high + margin, begin, end, show, log=False)

    def at(self, value: float) -> float:
        """Return the position of a number, clamped to the ends of the axis."""
        inside = min(max(value, self.low), self.high)
        if self.log:
            share = math.log(inside / self.low) / math.log(self.high / self.low)
        else:
            share = (inside - self.low) / (self.high - self.low)
        return self.begin + share * (self.end - self.begin)

    def ticks(self) -> list[float]:
        """Return round numbers, as many as labels have room for."""
        most = max(2, int(abs(self.end - self.begin) / (UPRIGHT if self.end < self.begin else TICK)))
        if self.log and self.high / self.low > 8:
            first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
            for digits in ((1, 2, 5), (1, 3), (1,)):
                several = [digit * 10.0**power for power in range(first, last + 1) for digit in digits]
                inside = [tick for tick in several if self.low <= tick <= self.high]
                if len(inside) <= most:
                    return inside
            return inside[:: -(-len(inside) // most)]
        return _round_numbers(self.low, self.high, most)

    def draw(self, drawing: Drawing, top: float, bottom: float) -> None:
        """Draw the lines of an axis."""
        for tick in self.ticks():
            drawing.line(self.at(tick), top, self.at(tick), bottom)

    def name(self, drawing: Drawing, y: float) -> None:
        """Write the numbers of an axis."""
        for tick in self.ticks():
            drawing.text(self.at(tick), y, self.show(tick), "faint middle")

    def draw_upright(self, drawing: Drawing, left: float, right: float) -> None:
        """Draw an axis along the left, with lines to the right."""
        for tick in self.ticks():
            y = self.at(tick)
            drawing.line(left, y, right, y)
            drawing.text(left - 6, y + 4, self.show(tick), "faint right")


def _round_numbers(low: float, high: float, most: int) -> list[float]:
    """Return the multiples of 1, 2 or 5 times a power of ten that lie between two numbers.

    >>> _round_numbers(0.93, 1.12, 5)
    [0.95, 1.0, 1.05, 1.1]
    """
    step = 10.0 ** math.floor(math.log10((high - low) / most))
    step *= next(digit for digit in (1, 2, 5, 10) if (high - low) / (digit * step) <= most)
    places = range(math.ceil(low / step), math.floor(high / step) + 1)
    return [float(f"{place * step:.10g}") for place in places]


def _cut(line: str, most: int) -> str:
    """Cut a text to so many characters: at its end, or where it is a name with a path ahead, at its beginning.

    >>> _cut("a short text of words", 9), _cut("bench_base.Sort.time_argsort", 13), _cut("add", 9)
    ('a short …', '…time_argsort', 'add')
    """
    if len(line) <= most:
        return line
    return f"…{line[len(line) + 1 - most :]}" if "." in line and " " not in line else f"{line[: most - 1]}…"
