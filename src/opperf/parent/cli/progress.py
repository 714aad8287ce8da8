"""Progress on stderr: a bar with the time left on a terminal, now and then a line elsewhere.

The bar has no thread of its own. It is drawn between trials, never while a sample is taken.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from opperf.domain.measurement import Outcome
from opperf.domain.plan import Trial
from opperf.parent.cli.output import tell
from opperf.parent.measuring.progress import LINE_EVERY
from opperf.parent.reports.text import one_line, subject

if TYPE_CHECKING:
    from rich.progress import Progress


class Bar:
    """Reports the progress of a run on stderr."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._bar: Progress | None = None
        self._total = self._count = 0
        self._first_at = self._line_at = time.monotonic()

    def note(self, text: str) -> None:
        """Print a line."""
        if self._bar is not None:
            self._bar.console.print(one_line(text), markup=False, highlight=False)
        else:
            tell(text)

    def plan(self, framework: str, count: int, total: int) -> None:
        """Report how many of a framework's own operators have been asked for their cases."""
        if self._is_terminal:
            if self._bar is None:
                self._bar = self._show(None)
            task = self._bar.tasks[0]
            name = f"planning: asking {framework}"
            self._bar.update(task.id, description=name, completed=count, total=total or None)
            self._bar.refresh()
            return
        now = time.monotonic()
        if not total:
            self._line_at = now
            self.note(f"planning: listing the operators of {framework}")
        elif now - self._line_at >= LINE_EVERY:
            self._line_at = now
            self.note(f"planning: asked {framework} for the cases of {count} of {total} operators")

    def step(self, what: str, count: int, total: int) -> None:
        """Report how many of so many steps are over, with the time left by their pace; `what` says what is done."""
        now = time.monotonic()
        if self._is_terminal:
            if self._bar is None:
                self._bar = self._show(total)
            self._bar.update(self._bar.task_ids[0], description=what, completed=count)
            self._bar.refresh()
        elif count and now - self._line_at >= LINE_EVERY:
            self._line_at = now
            left = (now - self._first_at) / count * (total - count)
            self.note(f"{what}: {count} of {total}, about {left:.0f} s left")

    def compare(self, what: str, count: int, total: int, left: str) -> bool:
        """Show how many pairs of comparisons are measured, where there is a terminal."""
        if self._is_terminal:
            if self._bar is None:
                self._bar = self._show(total, "{task.fields[left]}")
            # More may be planned later: what stands out is measured again.
            self._bar.update(self._bar.task_ids[0], description=what, completed=count, total=total, left=left)
            self._bar.refresh()
        return self._is_terminal

    def begin(self, total: int) -> None:
        """Show an empty bar."""
        self._total = total
        self._line_at = time.monotonic()
        if self._is_terminal and total:
            self._bar = self._show(total)

    def _show(self, total: int | None, left: str | None = None) -> Progress:
        """Return a bar that is on the terminal, with the time left: in the words of `left`, else by its pace."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn() if left is None else TextColumn(left, markup=False),
            console=Console(stderr=True),
            auto_refresh=False,
            transient=True,
        )
        bar.start()
        bar.add_task("starting", total=total, left="")
        return bar

    def next(self, trial: Trial) -> None:
        """Say what is measured now."""
        name = one_line(f"{subject(trial.case, trial.side)} {trial.side.framework} {trial.direction}")
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], description=name)
            self._bar.refresh()
            return
        now = time.monotonic()
        if now - self._line_at >= LINE_EVERY:
            self._line_at = now
            self.note(f"{self._count}/{self._total} measured{self._left(now)}; now {name}")

    def _left(self, now: float) -> str:
        """Say how long the rest takes, as trials took after the first, whose time is that of starting a child."""
        if self._count < 2:
            return ""
        each = (now - self._first_at) / (self._count - 1)
        return f", about {each * (self._total - self._count):.0f} s left"

    def done(self, outcome: Outcome) -> None:
        """Move on by one."""
        self._count += 1
        if self._count == 1:
            self._first_at = time.monotonic()
        if self._bar is not None:
            self._bar.advance(self._bar.task_ids[0])
            self._bar.refresh()
        if self._count == self._total:
            self.close()

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
