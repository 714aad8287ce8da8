"""The samples of each process, as shares of their record's median: how processes differ, and how each scatters."""

from __future__ import annotations

from collections.abc import Sequence

from opperf.domain.dataclass import dataclass
from opperf.domain.stats.order import median, quantile
from opperf.domain.units import format_seconds
from opperf.parent.pages.charts.drawing import AXIS, LINE, Axis, Drawing
from opperf.parent.pages.charts.intervals import FIGURES, LABEL, ROOM

#: The heights of a process's shape, and the places in which samples are counted for it.
HEIGHT, BINS = 18, 48
#: The axis ends at these quantiles of the samples; samples beyond them are drawn at its end.
TAILS = 0.01, 0.99
#: The widest that an axis may be, as a share of the median.
FARTHEST = 4.0


@dataclass(frozen=True)
class Spread:
    """The times that count of one record, by process, and their median as the record has it, in seconds."""

    label: str
    detail: str
    processes: Sequence[Sequence[float]]
    median: float


@dataclass(frozen=True)
class Distributions:
    """The spreads of several records on one axis."""

    title: str
    caption: str
    spreads: Sequence[Spread]

    def draw(self, width: int) -> Drawing:
        """Draw a shape for each process."""
        roomy = width >= ROOM
        left, right = (LABEL + 10.0, width - FIGURES - 10.0) if roomy else (16.0, width - 16.0)
        above = 0 if roomy else 2 * LINE + 4
        heights = [max(above + HEIGHT * len(one.processes), 2 * LINE) + 8 for one in self.spreads]
        ends = [
            quantile(sorted(times), tail) / one.median
            for one in self.spreads
            for times in one.processes
            for tail in TAILS
        ]
        ends = [min(max(end, 1 / FARTHEST), FARTHEST) for end in ends if end > 0]
        axis = Axis.of([*ends, 1.0], left, right, lambda share: f"{100 * share:g} %")
        rooms = (LABEL, LABEL) if roomy else (width - FIGURES, width)
        drawing = Drawing(width, 0, self.title)
        bottom = float(sum(heights))
        axis.draw(drawing, 0, bottom)
        axis.name(drawing, bottom + 15)
        if roomy:
            drawing.text(0, bottom + 15, "of the median", "faint", room=LABEL)
        drawing.line(axis.at(1.0), 0, axis.at(1.0), bottom, "zero")
        top = 0.0
        for spread, height in zip(self.spreads, heights, strict=True):
            drawing.two_lines(top, spread.label, spread.detail, rooms)
            drawing.text(width, top + 14, format_seconds(spread.median), "right")
            for place, times in enumerate(spread.processes):
                _shape(drawing, times, spread.median, axis, top + above + HEIGHT * (place + 0.5), place)
            top += height
        return drawing.close(bottom + AXIS)


def _shape(
    drawing: Drawing, times: Sequence[float], median_of_all: float, axis: Axis, middle: float, place: int
) -> None:
    """Draw how many samples of a process lie where, mirrored, with a line at their median."""
    counts = [0] * BINS
    width = (axis.end - axis.begin) / BINS
    for time in times:
        share = time / median_of_all
        spot = int((axis.at(share if share > 0 else axis.low) - axis.begin) / width)
        counts[min(spot, BINS - 1)] += 1
    counts = [0, *counts, 0]
    heights = [(counts[i] + 2 * counts[i + 1] + counts[i + 2]) / 4 for i in range(BINS)]
    scale = (HEIGHT / 2 - 1) / max(heights)
    inside = [i for i, height in enumerate(heights) if height]
    upper = [(axis.begin + width * (i + 0.5), heights[i] * scale) for i in range(inside[0], inside[-1] + 1)]
    drawing.lines(
        [*((x, middle - y) for x, y in upper), *((x, middle + y) for x, y in reversed(upper))], "hull", area=True
    )
    median_of_process = median(times)
    x = axis.at(median_of_process / median_of_all)
    drawing.line(x, middle - HEIGHT / 2 + 1, x, middle + HEIGHT / 2 - 1, "width s0")
    far = sum(not axis.low <= time / median_of_all <= axis.high for time in times)
    tip = f"process {place + 1}: median {format_seconds(median_of_process)} of {len(times)} samples"
    tip += f"\n{format_seconds(min(times))} to {format_seconds(max(times))}"
    tip += f"\n{far} beyond the axis" if far else ""
    drawing.rect(axis.begin, middle - HEIGHT / 2, axis.end - axis.begin, HEIGHT, "hit", tip)
