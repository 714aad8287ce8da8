"""What every pair of children has that are compared: both, what they say of themselves, and who was asked last."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from opperf.domain.measurement import Measurement
from opperf.domain.plan import Trial
from opperf.parent.documents.comparison import PairValue
from opperf.parent.workers.process import Worker
from opperf.parent.workers.reference import Reference
from opperf.parent.workers.rounds import Patience


class Pair(ABC):
    """Two children that are compared, 0 the base and 1 the new side; `turn` is the one that was asked last.

    A kind of pair says how it compares: it times both by turns, or counts what each executes.
    """

    turn = 0

    @property
    @abstractmethod
    def workers(self) -> Sequence[Worker]:
        """The children of base and new."""

    @property
    def alive(self) -> bool:
        """Whether both can be asked."""
        return all(worker.alive for worker in self.workers)

    @property
    def facts(self) -> list[object]:
        """What base and new said of themselves."""
        return [dict(worker.facts) for worker in self.workers]

    def gather(self) -> None:
        """Have both ready that were started ahead of their turn; raises `OpperfError`."""
        return

    def check(self, reference: Reference, base: Trial, new: Trial) -> None:
        """Check what both sides compute, where this kind does; raises `OpperfError` for one that is wrong."""
        return

    @abstractmethod
    def compare(self, base: Trial, new: Trial, patience: Patience | None = None) -> PairValue:
        """Compare one case on both sides; raises `OpperfError`."""

    def memory(self, base: Trial, new: Trial) -> list[Measurement]:
        """Measure what one call takes on each side; none where this kind does not."""
        return []

    @abstractmethod
    def close(self) -> None:
        """End both."""
