"""Values with their intervals or alone, a row each: ratios as a forest plot, times, noise floors, bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opperf.domain.dataclass import dataclass
from opperf.parent.pages.charts.drawing import AXIS, LINE, Axis, Drawing

#: The widths of a row's label and figures next to the plot, and of the whole chart, in pixels.
LABEL, FIGURES, ROOM = 220, 170, 600


@dataclass(frozen=True)
class Row:
    """A value and its interval; `dots` is the evidence. `level` is a verdict or a colour, `figures` the text."""

    label: str
    detail: str
    value: float | None
    interval: tuple[float, float] | None
    figures: str
    level: str = "s0"
    dots: Sequence[float] = ()
    tip: str = ""


@dataclass(frozen=True)
class Intervals:
    """Rows on one axis, which is logarithmic; `mark` is a value that all are held against."""

    title: str
    caption: str
    rows: Sequence[Row]
    show: Callable[[float], str]
    mark: float | None = None
    legend: Sequence[str] = ()

    def draw(self, width: int) -> Drawing:
        """Draw label, plot and figures side by side, or stacked where there is no room."""
        roomy = width >= ROOM
        left, right = (LABEL + 10.0, width - FIGURES - 10.0) if roomy else (16.0, width - 16.0)
        step = 2 * LINE + 4 if roomy else 3 * LINE + 6
        drawing = Drawing(width, 0, self.title)
        top = drawing.legend(self.legend, width, 12) if self.legend else 4.0
        bottom = top + step * len(self.rows)
        ends = [value for row in self.rows for value in (row.value, *(row.interval or ()), *row.dots) if value]
        axis = Axis.of([*ends, *(() if self.mark is None else (self.mark,))], left, right, self.show)
        axis.draw(drawing, top, bottom)
        if self.mark is not None:
            drawing.line(axis.at(self.mark), top, axis.at(self.mark), bottom, "zero")
        for place, row in enumerate(self.rows):
            _draw(drawing, row, axis, top + step * place, width, roomy=roomy)
        return drawing.close(bottom + AXIS)


def _draw(drawing: Drawing, row: Row, axis: Axis, top: float, width: int, *, roomy: bool) -> None:
    words = LABEL if roomy else width - FIGURES
    drawing.text(0, top + 14, row.label, room=words)
    drawing.text(0, top + 28, row.detail, "faint", room=LABEL if roomy else width)
    verdict = row.level if row.level in ("slower", "faster") else ""
    drawing.text(width, top + (20 if roomy else 14), row.figures, f"right {verdict}")
    middle = top + LINE + 1 if roomy else top + 2 * LINE + 8
    for dot in row.dots:
        drawing.circle(axis.at(dot), middle, 3, f"dot {row.level}")
    if row.interval is not None:
        low, high = map(axis.at, row.interval)
        drawing.line(low, middle, high, middle, f"width {row.level}")
    if row.value is not None:
        drawing.circle(axis.at(row.value), middle, 4.5, row.level)
    if row.tip:
        drawing.rect(0, top, width, LINE * (2 if roomy else 3) + 3, "hit", row.tip)


@dataclass(frozen=True)
class Bar:
    """A share, its label and its figures."""

    label: str
    detail: str
    share: float
    figures: str


@dataclass(frozen=True)
class Bars:
    """Bars as long as their shares, the largest as long as there is room."""

    title: str
    caption: str
    bars: Sequence[Bar]

    def draw(self, width: int) -> Drawing:
        """Draw label, bar and figures side by side, or stacked where there is no room."""
        roomy = width >= ROOM
        left, right = (LABEL + 10.0, width - FIGURES - 10.0) if roomy else (0.0, float(width))
        lines = 1 + any(bar.detail for bar in self.bars)
        step = lines * LINE + 4 + (0 if roomy else LINE)
        drawing = Drawing(width, 0, self.title)
        largest = max((bar.share for bar in self.bars), default=1.0) or 1.0
        for place, bar in enumerate(self.bars):
            top = step * place
            middle = LINE * (lines - 1) / 2 if roomy else 0.0
            drawing.text(0, top + 14, bar.label, room=LABEL if roomy else width - FIGURES)
            if bar.detail:
                drawing.text(0, top + 28, bar.detail, "faint", room=LABEL if roomy else width)
            drawing.text(width, top + 14 + middle, bar.figures, "right")
            y = top + 2 + middle if roomy else top + lines * LINE + 2
            drawing.rect(left, y, (right - left) * bar.share / largest, 14, "bar", f"{bar.label}: {bar.figures}")
        return drawing.close(step * len(self.bars) + 4)
