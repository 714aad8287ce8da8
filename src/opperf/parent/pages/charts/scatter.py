"""Points on two logarithmic axes: time against size, and how close operators come to the limits of the machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opperf.domain.dataclass import dataclass
from opperf.parent.pages.charts.drawing import AXIS, LINE, Axis, Drawing, color

#: The height of the plot, and the width of the labels of the upright axis. Pixels.
HEIGHT, LABELS = 280, 84
#: Up to this many points are labelled; hovering shows the name of any point.
MOST_NAMES = 14


@dataclass(frozen=True)
class Point:
    """A point; `interval` is the interval of its height, `limit` the largest possible height at its place."""

    x: float
    y: float
    name: str
    tip: str
    interval: tuple[float, float] | None = None
    limit: float | None = None


@dataclass(frozen=True)
class Series:
    """Points of one colour, joined by a line where they are `joined`."""

    name: str
    points: Sequence[Point]
    joined: bool = False


@dataclass(frozen=True)
class Ceiling:
    """A line that is a limit, from one place to another."""

    name: str
    begin: tuple[float, float]
    end: tuple[float, float]


@dataclass(frozen=True)
class Scatter:
    """Series on two axes, each with its name."""

    title: str
    caption: str
    series: Sequence[Series]
    x: tuple[str, Callable[[float], str]]
    y: tuple[str, Callable[[float], str]]
    ceilings: Sequence[Ceiling] = ()

    def draw(self, width: int) -> Drawing:
        """Draw the legend, the axes, the limits and the points."""
        drawing = Drawing(width, 0, self.title)
        top = drawing.legend([one.name for one in self.series], width, 12)
        drawing.text(0, top + 4, self.y[0], "faint")
        top += LINE - 4
        bottom = top + HEIGHT
        points = [point for one in self.series for point in one.points]
        ends = [end for ceiling in self.ceilings for end in (ceiling.begin, ceiling.end)]
        heights = [height for point in points for height in (point.y, point.limit, *(point.interval or ())) if height]
        across = Axis.of([*(point.x for point in points), *(x for x, _ in ends)], LABELS, width - 12, self.x[1])
        upright = Axis.of([*heights, *(y for _, y in ends)], bottom, top, self.y[1])
        across.draw(drawing, top, bottom)
        across.name(drawing, bottom + 15)
        upright.draw_upright(drawing, LABELS, width - 12)
        drawing.text(width, bottom + 2 * LINE - 1, self.x[0], "faint right")
        for ceiling in self.ceilings:
            spots = [(across.at(x), upright.at(y)) for x, y in (ceiling.begin, ceiling.end)]
            drawing.lines(spots, "ceiling")
            drawing.text(spots[0][0] + 6, spots[0][1] - 6, ceiling.name, "faint", room=width / 2)
        for place, one in enumerate(self.series):
            _points(drawing, one, color(place), across, upright, labels=len(points) <= MOST_NAMES)
        return drawing.close(bottom + AXIS + 8)


def _points(drawing: Drawing, series: Series, name: str, across: Axis, upright: Axis, *, labels: bool) -> None:
    spots = [(across.at(point.x), upright.at(point.y)) for point in series.points]
    if series.joined and len(spots) > 1:
        drawing.lines(spots, f"curve {name}")
    for point, (x, y) in zip(series.points, spots, strict=True):
        if point.limit is not None:
            drawing.line(x, y, x, upright.at(point.limit), "zero")
            drawing.line(x - 5, upright.at(point.limit), x + 5, upright.at(point.limit), "ceiling")
        if point.interval is not None:
            drawing.line(x, upright.at(point.interval[0]), x, upright.at(point.interval[1]), f"width {name}")
        drawing.circle(x, y, 4.5, name, point.tip)
        if labels and point.name:
            after = x < (across.begin + across.end) / 2
            drawing.text(x + (9 if after else -9), y + 4, point.name, "faint" if after else "faint right")
