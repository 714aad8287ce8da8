"""Stands that wait: children that have imported their framework before there is a candidate for them.

An import takes as long as all that follows for a wrong candidate. Each stand is taken once, for one candidate or the
reference, and killed after: what a candidate leaves behind in a process meets nobody. None imports while something is
timed: most have imported by then, and those of the next pair stop for as long as a turn takes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager

from opperf.domain.device import NO_DEVICE
from opperf.domain.errors import HarnessError, InputError, OpperfError
from opperf.domain.plan import Side
from opperf.parent.measuring.judge.seat import Seat

#: What helps where the machine has a device that a stand does not find.
IN_A_ROOM = "if this machine has it, judge with `--room none`: rooms have no GPU in them"


class Stands:
    """The stands of a bench. All calls but `interrupt` are those of one thread at a time.

    `begin` starts one for a side, and `key` is the same for sides that one stand could serve: what it may read is
    settled when it starts.
    """

    def __init__(self, begin: Callable[[Side], Seat], key: Callable[[Side], Hashable]) -> None:
        """Start nothing yet."""
        self._begin, self._key = begin, key
        self._waiting: list[tuple[Hashable, Seat]] = []
        #: All that live, those that were taken too.
        self._living: set[Seat] = set()
        self._interrupted = False

    def prepare(self, sides: Sequence[Side]) -> None:
        """Start what is lacking until one waits for each of these sides; raises what keeps one from starting."""
        waiting = Counter(key for key, _ in self._waiting)
        for side in sides:
            key = self._key(side)
            waiting[key] -= 1
            if waiting[key] < 0 and not self._interrupted:
                seat = self._begin(side)
                self._living.add(seat)
                self._waiting.append((key, seat))

    def take(self, side: Side) -> Seat:
        """Return a stand that is ready; raises `HarnessError` where it does not start.

        Whatever goes wrong until then is no candidate's fault. Raises `InputError` where it does not find its device.
        """
        self.prepare([side])
        if self._interrupted:
            raise HarnessError("the judge was stopped", slug="stopped")
        key = self._key(side)
        place = next(i for i, (other, _) in enumerate(self._waiting) if other == key)
        _, seat = self._waiting.pop(place)
        try:
            seat.wake()
        except OpperfError as error:
            self.end(seat)
            if error.slug in NO_DEVICE:
                hint = "; ".join(filter(None, (error.hint, IN_A_ROOM)))
                raise InputError(error.message, hint=hint, slug=NO_DEVICE[0]) from error
            raise HarnessError(f"a stand does not start: {error.message}", hint=error.hint, slug="stand") from error
        return seat

    def settle(self) -> None:
        """Wait until all that wait have imported their framework, so that nothing runs beside what is timed."""
        for key, seat in tuple(self._waiting):
            try:
                seat.wake()
            except OpperfError:  # who takes the next one is told
                self._waiting.remove((key, seat))
                self.end(seat)

    @contextmanager
    def standstill(self) -> Iterator[None]:
        """Stop all that import, so that nothing runs beside what is timed."""
        waiting = [seat for _, seat in self._waiting]
        stopped: set[int | None] = set()  # what imports for several stops once
        try:
            for seat in waiting:
                if (importer := seat.importer) is None or importer not in stopped:
                    seat.hold()
                    stopped.add(importer)
            yield
        finally:
            for seat in waiting:
                seat.release()

    def keep(self, sides: Sequence[Side]) -> None:
        """End what waits for any other side."""
        keys = set(map(self._key, sides))
        for key, seat in tuple(self._waiting):
            if key not in keys:
                self._waiting.remove((key, seat))
                self.end(seat)

    def end(self, seat: Seat) -> None:
        """End a stand that was taken."""
        self._living.discard(seat)
        seat.close()

    def close(self) -> None:
        """End all."""
        self._waiting.clear()
        while self._living:
            self._living.pop().close()

    def interrupt(self) -> None:
        """Kill all from another thread; whoever waits for one learns of its end, and none starts again."""
        self._interrupted = True
        for seat in tuple(self._living):
            seat.worker.interrupt()
