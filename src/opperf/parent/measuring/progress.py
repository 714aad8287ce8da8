"""Progress of a command while it measures, and what becomes of one that is stopped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Protocol

from opperf.domain.errors import InputError
from opperf.domain.measurement import Outcome
from opperf.domain.plan import Trial
from opperf.parent.reports.text import one_line, trial_text

#: Seconds between two lines that say how far something is, where no bar does.
LINE_EVERY = 10.0


class Progress(Protocol):
    """Receives the progress of a run. Nothing is reported while a sample is taken."""

    def note(self, text: str) -> None:
        """Take one line of news."""

    def plan(self, framework: str, count: int, total: int) -> None:
        """Report how many of a framework's own operators have been asked for their cases; zero while listing them."""

    def begin(self, total: int) -> None:
        """Take the number of measurements to come."""

    def next(self, trial: Trial) -> None:
        """Take the trial that is measured now."""

    def done(self, outcome: Outcome) -> None:
        """Take what became of it."""

    def compare(self, what: str, count: int, total: int, left: str) -> bool:
        """Take how many pairs of comparisons are measured, and what is said of the time left.

        Returns whether that is shown; else it is a line of news now and then.
        """

    def step(self, what: str, count: int, total: int) -> None:
        """Take how many steps of a number that is known beforehand are over; `what` says what is done."""

    def close(self) -> None:
        """Report that planning or measuring is over."""


class Silent:
    """Progress that is not shown."""

    def note(self, text: str) -> None:
        """Drop it."""

    def plan(self, framework: str, count: int, total: int) -> None:
        """Drop it."""

    def begin(self, total: int) -> None:
        """Drop it."""

    def next(self, trial: Trial) -> None:
        """Drop it."""

    def done(self, outcome: Outcome) -> None:
        """Drop it."""

    def compare(self, what: str, count: int, total: int, left: str) -> bool:
        """Show nothing."""
        return False

    def step(self, what: str, count: int, total: int) -> None:
        """Drop it."""

    def close(self) -> None:
        """Drop it."""


class Relay:
    """Progress that another one shows; somebody takes what became of each trial as well."""

    def __init__(self, display: Progress, take: Callable[[Outcome], None]) -> None:
        self._take = take
        self.note, self.plan, self.begin, self.next = display.note, display.plan, display.begin, display.next
        self.compare, self.step, self.close = display.compare, display.step, display.close
        self._show = display.done

    def done(self, outcome: Outcome) -> None:
        """Take what became of a trial."""
        self._show(outcome)
        self._take(outcome)


class Stderr(Silent):
    """Reports on stderr."""

    def note(self, text: str) -> None:
        """Print it."""
        print(one_line(text), file=sys.stderr)

    def next(self, trial: Trial) -> None:
        """Print it."""
        self.note(f"measuring {trial_text(trial)}")


@contextmanager
def planning(progress: Progress) -> Iterator[None]:
    """Tell when planning is over; where it is stopped, say so."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        progress.close()
        progress.note("stopped while planning: nothing was measured")
        raise
    finally:
        progress.close()


class Stoppable:
    """Measuring that something may stop: `cause` is that, or None, and what was measured until then can be reported.

    Bugs of opperf are causes too, since hours of measuring may be at stake. An `InputError` is raised as it is.
    """

    cause: BaseException | None = None

    def __enter__(self) -> Stoppable:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self.cause = error
        return not isinstance(error, InputError)
