"""Differences between two states, a row each: a bar to the right for more, to the left for less."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opperf.domain.dataclass import dataclass
from opperf.parent.pages.charts.drawing import AXIS, LINE, Axis, Drawing
from opperf.parent.pages.charts.intervals import FIGURES, LABEL, ROOM


@dataclass(frozen=True)
class Difference:
    """How much more or less something is after than before; `alone` is `before` or `after` where only that has it."""

    label: str
    detail: str
    value: float
    figures: str
    alone: str = ""
    tip: str = ""


@dataclass(frozen=True)
class Differences:
    """Bars from nothing on one linear axis; those of what only one state has are hollow."""

    title: str
    caption: str
    rows: Sequence[Difference]
    show: Callable[[float], str]

    def draw(self, width: int) -> Drawing:
        """Draw label, bar and figures side by side, or stacked where there is no room."""
        roomy = width >= ROOM
        left, right = (LABEL + 10.0, width - FIGURES - 10.0) if roomy else (26.0, width - 26.0)
        step = 2 * LINE + 4 if roomy else 3 * LINE + 8
        rooms = (LABEL, LABEL) if roomy else (width - FIGURES, width)
        drawing = Drawing(width, 0, self.title)
        bottom = 4.0 + step * len(self.rows)
        values = [row.value for row in self.rows]
        axis = Axis(*_ends(values), left, right, self.show, log=False)
        axis.name(drawing, bottom + 15)
        for place, row in enumerate(self.rows):
            top = 4.0 + step * place
            strip = top if roomy else top + 2 * LINE  # no line crosses a text
            axis.draw(drawing, strip, top + step)
            drawing.line(axis.at(0), strip, axis.at(0), top + step, "zero")
            drawing.two_lines(top, row.label, row.detail, rooms)
            level = "slower" if row.value > 0 else "faster"
            drawing.text(width, top + (20 if roomy else 14), row.figures, f"right {level}")
            begin, end = sorted((axis.at(0), axis.at(row.value)))
            y = top + (6 if roomy else 2 * LINE + 2)
            bar = drawing.rect(begin, y, max(end - begin, 1.5), 14, level, row.tip)
            if row.alone:
                bar.set("fill-opacity", "0.15")
                bar.set("stroke-dasharray", "3 2")
        return drawing.close(bottom + AXIS)


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis that has room for all values and for nothing."""
    low, high = min(0.0, *values), max(0.0, *values)
    margin = 0.04 * (high - low) or 1.0
    return low - margin if low else 0.0, high + margin if high or not low else 0.0
