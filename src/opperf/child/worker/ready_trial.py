"""A trial that is ready to be measured, and what is doubtful of its time because of what it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from opperf.child.backends.binding import Doubt
from opperf.child.measure.block import Block
from opperf.child.worker.directions import Ready
from opperf.child.worker.exam import Exam
from opperf.domain.call import Work
from opperf.domain.dataclass import dataclass
from opperf.domain.measurement import Measurement, Quantity
from opperf.domain.reason import Warning


@dataclass
class PreparedTrial:
    """A trial whose tensors are made and whose call has run.

    What it tells by itself, `values` by the names of metrics, is not timed.
    """

    sound: Ready
    facts: Mapping[str, object]
    input_seconds: float
    ballast: list[object] = field(default_factory=list)
    block: Block | None = None
    exam: Exam | None = None
    values: Mapping[str, Quantity] = field(default_factory=dict)
    warnings: tuple[Warning, ...] = ()
    doubt: Doubt | None = None

    @property
    def work(self) -> Work:
        """What a call is, with the inputs that it has now."""
        return self.sound.work if self.exam is None else self.exam.work

    def doubts(self, measurement: Measurement) -> Iterator[Warning]:
        """Yield its warnings, and that on its time where that is as short as the warning is about."""
        yield from self.warnings
        time = measurement.level("time")
        if self.doubt is not None and time is not None and time.value < self.doubt.below:
            yield self.doubt.warning
