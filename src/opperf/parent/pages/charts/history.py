"""Series over builds or runs: lines with the bands of their intervals, and where they change."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from opperf.domain.dataclass import dataclass
from opperf.domain.stats.order import median
from opperf.parent.pages.charts.drawing import AXIS, CHARACTER, LINE, Axis, Drawing, color

#: The height of the plot, that of one where nothing changes, and the width of the labels of the upright axis. Pixels.
HEIGHT, FLAT, LABELS = 220, 64, 72
#: No more builds have dots; the line is enough for others.
MANY = 60
#: How wide a place is that a pointer can find. Pixels.
POINTER = 8


@dataclass(frozen=True)
class Moment:
    """A value at a place; `place` counts builds or runs from 0, and `tip` says which one it is."""

    place: int
    value: float
    interval: tuple[float, float] | None
    tip: str


@dataclass(frozen=True)
class Line:
    """A series of one colour, in the order of places."""

    name: str
    moments: Sequence[Moment]


@dataclass(frozen=True)
class Step:
    """A change between two places, and its size: `slower`, `faster`, or `inconclusive` where it says little."""

    after: int
    text: str
    level: str
    tip: str


@dataclass(frozen=True)
class History:
    """Lines over the same builds, whose names stand below; `mark` is a value that all are held against.

    `unit` is what the numbers of the upright axis have, where they do not say so themselves.
    """

    title: str
    caption: str
    builds: Sequence[str]
    lines: Sequence[Line]
    show: Callable[[float], str]
    steps: Sequence[Step] = ()
    mark: float | None = None
    unit: str = ""

    def draw(self, width: int) -> Drawing:
        """Draw the legend, the axes, bands, lines, changes and dots."""
        drawing = Drawing(width, 0, self.title)
        names = [line.name for line in self.lines]
        stretch = (width - 24 - LABELS) / max(len(self.builds) - 1, 1)

        def across(place: float) -> float:
            return LABELS + 8 + stretch * place

        marks = _step_marks([(across(max(step.after - 0.5, 0)), step.text) for step in self.steps], width)
        top = drawing.legend(names, width, 12) if len(names) > 1 else 0.0
        if self.unit:
            drawing.text(0, top + 11, self.unit, "faint", room=width)
        top += LINE * (1 + max((level + 1 for _, level in marks), default=0))
        moments = [moment for line in self.lines for moment in line.moments]
        ends = [end for moment in moments for end in (moment.value, *(moment.interval or ()))]
        bottom = top + (HEIGHT if len({*ends}) > 1 else FLAT)
        upright = Axis.of([*ends, *(() if self.mark is None else (self.mark,))], bottom, top, self.show)
        upright.draw_upright(drawing, LABELS, width - 8)
        if self.mark is not None:
            drawing.line(LABELS, upright.at(self.mark), width - 8, upright.at(self.mark), "zero")
        self._name_builds(drawing, across, bottom)
        for place, line in enumerate(self.lines):
            _band(drawing, line, color(place), across, upright)
            spots = [(across(moment.place), upright.at(moment.value)) for moment in line.moments]
            drawing.lines(spots, f"curve {color(place)}")
        for step, (middle, level) in zip(self.steps, marks, strict=True):
            x, y = across(max(step.after - 0.5, 0)), top - LINE * level - 5
            drawing.line(x, top, x, bottom, f"step {step.level}")
            drawing.text(middle, y, step.text, f"middle {step.level}")
        for place, line in enumerate(self.lines):
            if len(self.builds) <= MANY:
                for moment in line.moments:
                    drawing.circle(across(moment.place), upright.at(moment.value), 3.5, color(place))
            hit = max(stretch, POINTER)
            for moment in _outstanding(line.moments, max(1, round(POINTER / stretch))):
                x, y = across(moment.place), upright.at(moment.value)
                drawing.rect(x - hit / 2, y - 12, hit, 24, "hit", moment.tip)
        return drawing.close(bottom + AXIS)

    def _name_builds(self, drawing: Drawing, across: Callable[[float], float], bottom: float) -> None:
        """Write the names of as many builds as there is room for, the last among them."""
        width = CHARACTER * max((len(build) for build in self.builds), default=1) + 12
        free = math.inf
        for place in range(len(self.builds) - 1, -1, -1):
            x, last = across(place), free == math.inf
            end = x + 8 if last else x + width / 2
            if end <= free and end - width >= 0:
                drawing.text(
                    end if last else x, bottom + 15, self.builds[place], f"faint {'right' if last else 'middle'}"
                )
                free = end - width


def _outstanding(moments: Sequence[Moment], places: int) -> Iterator[Moment]:
    """Yield of each so many places the moment that lies farthest from the middle of all: what a pointer looks for."""
    middle = median([moment.value for moment in moments] or [0.0])
    for _, near in groupby(moments, key=lambda moment: moment.place // places):
        yield max(near, key=lambda moment: abs(moment.value - middle))


def _step_marks(texts: Sequence[tuple[float, str]], width: int) -> list[tuple[float, int]]:
    """Return where texts stand above a plot, so that none lies upon another: the middle of each, and its line.

    >>> _step_marks([(100, "+9 %"), (104, "-3 %"), (300, "+2 %")], 400)
    [(100, 0), (104, 1), (300, 0)]
    """
    places, free = [], [0.0]
    for x, text in texts:
        half = CHARACTER * len(text) / 2 + 3
        middle = min(max(x, half), width - half)
        line = next((line for line, end in enumerate(free) if middle - half >= end), len(free))
        free[line:] = [middle + half, *free[line + 1 :]]
        places.append((middle, line))
    return places


def _band(drawing: Drawing, line: Line, name: str, across: Callable[[float], float], upright: Axis) -> None:
    for has, some in groupby(line.moments, key=lambda moment: moment.interval is not None):
        intervals = [(across(one.place), one.interval) for one in some if one.interval is not None]
        if has and len(intervals) > 1:
            upper = [(x, upright.at(interval[1])) for x, interval in intervals]
            lower = [(x, upright.at(interval[0])) for x, interval in reversed(intervals)]
            drawing.lines([*upper, *lower], f"band {name}", area=True)
        elif has:
            ((x, interval),) = intervals
            drawing.line(x, upright.at(interval[0]), x, upright.at(interval[1]), f"width {name}")
