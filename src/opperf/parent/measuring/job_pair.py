"""The lane of a job that compares: a pair of children, started for the first contest and again when it was lost."""

from __future__ import annotations

import time
from collections.abc import Callable

from opperf.domain.errors import OpperfError
from opperf.parent.measuring.contest import Contest
from opperf.parent.workers.pair import Pair
from opperf.parent.workers.process import Worker
from opperf.parent.workers.reference import Reference


class JobPair:
    """The pair of children of one job.

    `fight` is told how long it took to start them, in seconds, and `refuse` why they do not, which it may raise.
    """

    def __init__(
        self,
        begin: Callable[[Contest, list[Worker]], Pair],
        fight: Callable[[Pair, Contest, float], None],
        reference: Reference,
        refuse: Callable[[OpperfError], None],
    ) -> None:
        self._begin, self._measure_pair, self._reference, self._refuse = begin, fight, reference, refuse
        self._children: list[Worker] = []
        self._duel: Pair | None = None
        self._broken: OpperfError | None = None
        self._starting = 0.0
        self._interrupted = False

    def __enter__(self) -> JobPair:
        return self

    def __exit__(self, *trouble: object) -> None:
        self._reference.close()
        self._end()

    def start(self, work: Contest) -> None:
        """Start both children; what keeps them from starting is the failure of what they should measure."""
        began, self._children = time.monotonic(), []
        try:
            self._duel = self._begin(work, self._children)
        except OpperfError as error:
            self._broken = error
        self._starting = time.monotonic() - began

    def measure(self, work: Contest) -> None:
        """Let a contest be fought once, by children that are started again where they were lost."""
        if self._duel is not None and not self._duel.alive:
            self._end()
        if self._duel is None and self._broken is None:
            self.start(work)
        if self._duel is not None:
            self._measure_pair(self._duel, work, self._starting)
        elif self._broken is not None and not self._interrupted:
            self._refuse(self._broken)
            work.failure = str(self._broken).partition("\n")[0]
        if self._interrupted:  # its children were ended from outside
            work.failure, work.skipped = None, False

    def _end(self) -> None:
        if self._duel is not None:
            self._duel.close()
            self._duel = None

    def interrupt(self) -> None:
        """End the children from another thread; what they measure has not failed."""
        self._interrupted = True
        for worker in (*self._children, self._reference.worker):
            if worker is not None:
                worker.interrupt()
