"""Shares of a whole, a bar each, the largest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opperf.parent.pages.charts.drawing import LINE, Drawing
from opperf.parent.pages.charts.intervals import FIGURES, LABEL, ROOM


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
        step = 2 * LINE + 2 if roomy else 3 * LINE + 4
        drawing = Drawing(width, 0, self.title)
        largest = max((bar.share for bar in self.bars), default=1.0) or 1.0
        for place, bar in enumerate(self.bars):
            top = step * place
            drawing.text(0, top + 14, bar.label, room=LABEL if roomy else width - FIGURES)
            drawing.text(0, top + 28, bar.detail, "faint", room=LABEL if roomy else width)
            drawing.text(width, top + (20 if roomy else 14), bar.figures, "right")
            y = top + 8 if roomy else top + 2 * LINE + 2
            drawing.rect(left, y, (right - left) * bar.share / largest, 14, "bar", f"{bar.label}: {bar.figures}")
        return drawing.close(step * len(self.bars) + 4)
