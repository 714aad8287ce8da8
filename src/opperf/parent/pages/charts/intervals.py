"""Values with their intervals, a row each: ratios as a forest plot, times of several sides on one line, noise floors.

Rows that have something behind them are drawn one by one, so that a page can open each; all of them have one axis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Union

from opperf.domain.dataclass import dataclass
from opperf.parent.documents.comparison import CHANGES
from opperf.parent.pages.charts.drawing import AXIS, CHARACTER, LINE, Axis, Chart, Drawing
from opperf.parent.reports.document import Table

#: The widths of a row's label and figures next to the plot, and of the whole chart, in pixels.
LABEL, FIGURES, ROOM = 220, 170, 600
#: The same for charts from a width on that has more room.
WIDER, WIDER_LABEL, WIDER_FIGURES = 1000, 340, 220
#: What texts beside the outermost dots of a row with several need, in pixels, and how far they are from them.
BESIDE, GAP = 64, 8


@dataclass(frozen=True)
class Mark:
    """One of several values of a row: its colour, and its text beside it."""

    value: float
    interval: tuple[float, float] | None
    text: str
    level: str


@dataclass(frozen=True)
class Row:
    """A value and its interval, or several `marks`; `dots` is the evidence, `figures` the text at the end.

    `level` is a verdict or a colour. Rows of one `group` fold into it; a page shows `behind` where a row is opened.
    """

    label: str
    detail: str
    value: float | None
    interval: tuple[float, float] | None
    figures: str
    level: str = "s0"
    dots: Sequence[float] = ()
    tip: str = ""
    marks: Sequence[Mark] = ()
    group: str = ""
    behind: Sequence[Union[Chart, Table]] = ()

    @property
    def values(self) -> list[float]:
        """All numbers that the axis must have room for."""
        intervals = [self.interval, *(mark.interval for mark in self.marks)]
        ends = [end for interval in intervals for end in interval or ()]
        values = [self.value, *self.dots, *(mark.value for mark in self.marks), *ends]
        return [value for value in values if value]


@dataclass(frozen=True)
class Intervals:
    """Rows on one axis, which is logarithmic; `mark` is a value that all are held against, `unit` says what it has."""

    title: str
    caption: str
    rows: Sequence[Row]
    show: Callable[[float], str]
    mark: float | None = None
    legend: Sequence[str] = ()
    unit: str = ""

    def draw(self, width: int) -> Drawing:
        """Draw all rows between two axes."""
        return self.draw_rows(self.rows, width)

    def draw_rows(self, rows: Sequence[Row], width: int) -> Drawing:
        """Draw some of the rows between two axes."""
        drawing = Drawing(width, 0, self.title)
        lines = Lines.of(self, width)
        top = lines.head(drawing)
        for place, row in enumerate(rows):
            lines.row(drawing, row, top + lines.step * place)
        return drawing.close(lines.foot(drawing, top + lines.step * len(rows)))

    def draw_head(self, width: int) -> Drawing:
        """Draw the legend and the axis above rows."""
        drawing = Drawing(width, 0, self.title)
        return drawing.close(Lines.of(self, width).head(drawing))

    def draw_row(self, row: Row, width: int) -> Drawing:
        """Draw one row; what it tells is its name."""
        drawing = Drawing(
            width, 0, ", ".join(filter(None, (f"{row.label} {row.detail}".strip(), *row.tip.split("\n"))))
        )
        lines = Lines.of(self, width)
        lines.row(drawing, row, 0)
        return drawing.close(lines.step)

    def draw_foot(self, width: int) -> Drawing:
        """Draw the axis below rows."""
        drawing = Drawing(width, 0, self.title)
        return drawing.close(Lines.of(self, width).foot(drawing, 0))


@dataclass(frozen=True)
class Lines:
    """Where rows lie at a width: label, plot and figures side by side, or stacked where there is no room."""

    chart: Intervals
    width: int
    axis: Axis
    roomy: bool
    label: float
    figures: float

    @classmethod
    def of(cls, chart: Intervals, width: int) -> Lines:
        """Lay out a chart."""
        roomy = width >= ROOM
        least, most = (WIDER_LABEL, WIDER_FIGURES) if width >= WIDER else (LABEL, FIGURES)
        figures = min(most, GAP + CHARACTER * max((len(row.figures) for row in chart.rows), default=0))
        # What short figures leave, labels get where there is less room, and the plot where there is more.
        label = least + (0.0 if width >= WIDER else most - figures)
        beside = BESIDE if any(row.marks for row in chart.rows) else 0
        left, right = (label + 10.0, width - figures - 10.0) if roomy else (16.0, width - 16.0)
        values = [value for row in chart.rows for value in row.values]
        marked = [] if chart.mark is None else [chart.mark]
        axis = Axis.of([*values, *marked], left + beside, right - beside, chart.show)
        return cls(chart, width, axis, roomy, label, figures)

    @property
    def step(self) -> float:
        """The height of a row."""
        return 2 * LINE + 4 if self.roomy else 3 * LINE + 6

    def head(self, drawing: Drawing) -> float:
        """Draw what stands above rows, and return where they begin."""
        top = drawing.legend(self.chart.legend, self.width, 12) + 4 if self.chart.legend else 0.0
        if self.chart.unit:
            drawing.text(0, top + 11, self.chart.unit, "faint", room=self.label if self.roomy else self.width)
            top += 0 if self.roomy else LINE
        self.axis.name(drawing, top + 11)
        return top + LINE

    def foot(self, drawing: Drawing, top: float) -> float:
        """Draw the axis below rows, and return where it ends."""
        self.axis.name(drawing, top + 15)
        return top + AXIS

    def row(self, drawing: Drawing, row: Row, top: float) -> None:
        """Draw a row; no line of the axis crosses its texts."""
        words = self.label if self.roomy else self.width - self.figures
        strip = top if self.roomy else top + 2 * LINE
        self.axis.draw(drawing, strip, top + self.step)
        if self.chart.mark is not None:
            x = self.axis.at(self.chart.mark)
            drawing.line(x, strip, x, top + self.step, "zero")
        drawing.two_lines(top, row.label, row.detail, (words, self.label if self.roomy else self.width))
        verdict = row.level if row.level in CHANGES else ""
        drawing.text(self.width, top + (20 if self.roomy else 14), row.figures, f"right {verdict}", room=self.figures)
        middle = top + LINE + 1 if self.roomy else top + 2 * LINE + 10
        for dot in row.dots:
            drawing.circle(self.axis.at(dot), middle, 3, f"dot {row.level}")
        if row.marks:
            self._marks(drawing, row.marks, middle)
        elif row.value is not None:
            self._value(drawing, row.value, row.interval, row.level, middle)
        if row.tip:
            drawing.rect(0, top, self.width, self.step - 1, "hit", row.tip)

    def _value(
        self, drawing: Drawing, value: float, interval: tuple[float, float] | None, level: str, middle: float
    ) -> None:
        if interval is not None:
            low, high = map(self.axis.at, interval)
            drawing.line(low, middle, high, middle, f"width {level}")
        drawing.circle(self.axis.at(value), middle, 4.5, level)

    def _marks(self, drawing: Drawing, marks: Sequence[Mark], middle: float) -> None:
        """Draw several values on a line, the text of each where there is room: beside the ends, above the others."""
        ordered = sorted(marks, key=lambda mark: mark.value)
        first, last = ordered[0], ordered[-1]
        drawing.line(self.axis.at(first.value), middle, self.axis.at(last.value), middle, "span")
        for mark in ordered:
            self._value(drawing, mark.value, mark.interval, mark.level, middle)
        spots = [(self.axis.at(mark.value), mark) for mark in ordered]
        left, right = (self._end(mark, place) for mark, place in ((first, 0), (last, 1)))
        if len(ordered) > 1:
            drawing.text(left - GAP, middle + 4, first.text, "beside right")
        drawing.text(right + GAP, middle + 4, last.text, "beside")
        free = spots[0][0]
        for (x, mark), (after, _) in pairwise(spots[1:]):
            half = CHARACTER * len(mark.text) / 2
            if x - half > free and x + half < after:
                drawing.text(x, middle - GAP, mark.text, "beside middle")
                free = x + half

    def _end(self, mark: Mark, place: int) -> float:
        """Return where a mark ends on its way out: its dot, or its interval where that is longer."""
        return self.axis.at(mark.value if mark.interval is None else mark.interval[place])


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
