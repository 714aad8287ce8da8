"""Levels of builds in their order, as a staircase: what was measured with its interval, and what was not.

Builds that nobody measured take one place together, so that a history of thousands of commits has room.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from opperf.domain.dataclass import dataclass
from opperf.parent.pages.charts.drawing import CHARACTER, LINE, Axis, Drawing

#: The height of the plot, the width of the labels of the upright axis, and what is free at the right. Pixels.
HEIGHT, LABELS, RIGHT = 220, 60, 12
#: The least width of a place whose name is written, and the most characters of one, which is turned by 45 degrees.
NAMED, LONGEST = 12, 16
#: Half the width of the end of an interval, and of the cross of a build that could not be measured. Pixels.
CAP, CROSS = 3, 4


@dataclass(frozen=True)
class Place:
    """A build, or `count` builds in a row that nobody measured; `tip` says which.

    One without a `value` was not measured: a single one with `failed` could not be.
    """

    name: str
    tip: str
    value: float | None = None
    interval: tuple[float, float] | None = None
    count: int = 1
    failed: bool = False


@dataclass(frozen=True)
class Tread:
    """A stretch of places of one level, from the first of them to the last."""

    first: int
    last: int
    value: float


@dataclass(frozen=True)
class Riser:
    """A change at a place: its text, and whether that is `slower` or `faster`."""

    place: int
    text: str
    level: str


@dataclass(frozen=True)
class Staircase:
    """Places along the bottom and their values upwards, on a logarithmic axis; `mark` is that of the first build.

    Without `treads` no level is drawn; `doubt` are two places between which something changes that has no place yet.
    """

    title: str
    caption: str
    places: Sequence[Place]
    show: Callable[[float], str]
    treads: Sequence[Tread] = ()
    risers: Sequence[Riser] = ()
    doubt: tuple[int, int] | None = None
    mark: float = 1.0
    unit: str = "ratio"

    def draw(self, width: int) -> Drawing:
        """Draw the axis, what was not measured, the levels with their changes, and the builds."""
        drawing = Drawing(width, 0, self.title)
        top = LINE * 1.5
        bottom = top + HEIGHT
        ends = [end for place in self.places for end in (place.value, *(place.interval or ())) if end]
        upright = Axis.of([*ends, self.mark], bottom, top, self.show)
        stretch = (width - LABELS - RIGHT) / max(len(self.places), 1)

        def across(place: float) -> float:
            return LABELS + stretch * (place + 0.5)

        if self.doubt is not None:
            left, right = map(across, self.doubt)
            drawing.rect(left, top, right - left, bottom - top, "band inconclusive", "it changes between these")
        upright.draw_upright(drawing, LABELS, width - RIGHT)
        drawing.text(0, 11, self.unit, "faint", room=LABELS)
        drawing.line(LABELS, upright.at(self.mark), width - RIGHT, upright.at(self.mark), "zero")
        self._draw_levels(drawing, upright, across, stretch, width)
        for i, place in enumerate(self.places):
            _draw_place(drawing, place, across(i), upright, bottom)
            drawing.rect(across(i - 0.5), top, stretch, HEIGHT, "hit", place.tip)
        return drawing.close(bottom + self._name_places(drawing, across, stretch, bottom))

    def _draw_levels(
        self, drawing: Drawing, upright: Axis, across: Callable[[float], float], stretch: float, width: int
    ) -> None:
        points = [
            (across(end), upright.at(tread.value))
            for tread in self.treads
            for end in (tread.first - 0.5, tread.last + 0.5)
        ]
        if points:
            drawing.lines(points, "curve s0")
        for riser in self.risers:
            x = across(riser.place - 0.5)
            late = x + CHARACTER * len(riser.text) > width - RIGHT
            drawing.line(x, LINE, x, LINE * 1.5 + HEIGHT, f"step {riser.level}")
            drawing.text(x + (-4 if late else 4), LINE, riser.text, f"{riser.level} {'right' if late else ''}")

    def _name_places(self, drawing: Drawing, across: Callable[[float], float], stretch: float, bottom: float) -> float:
        """Write the names of builds at a slant, of all that have room for it; return the height of the longest."""
        important = {0, len(self.places) - 1, *(riser.place for riser in self.risers)}
        longest = 0
        for i, place in enumerate(self.places):
            if (place.value is None and not place.failed) or (stretch < NAMED and i not in important):
                continue
            name = place.name if len(place.name) <= LONGEST else f"{place.name[: LONGEST - 1]}…"
            x, y = across(i) + 4, bottom + 2 * LINE
            drawing.text(x, y, name, "faint right")
            drawing.element[-1].set("transform", f"rotate(-45 {x:.2f} {y:.2f})")
            longest = max(longest, len(name))
        return 2 * LINE + longest * CHARACTER * math.sin(math.pi / 4) + 8


def _draw_place(drawing: Drawing, place: Place, x: float, upright: Axis, bottom: float) -> None:
    """Draw the dot of a build with its interval; below the plot a cross for one that failed, or the count of others."""
    if place.value is not None:
        if place.interval is not None:
            low, high = map(upright.at, place.interval)
            drawing.line(x, low, x, high, "width s0")
            for y in (low, high):
                drawing.line(x - CAP, y, x + CAP, y, "width s0")
        drawing.circle(x, upright.at(place.value), 4, "s0")
    elif place.failed:
        y = bottom + 10
        drawing.line(x - CROSS, y - CROSS, x + CROSS, y + CROSS, "width slower")
        drawing.line(x - CROSS, y + CROSS, x + CROSS, y - CROSS, "width slower")
    else:
        drawing.text(x, bottom + 14, f"{place.count}", "faint middle")
