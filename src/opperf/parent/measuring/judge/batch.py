"""Batches: thousands of candidates, each judged by itself, several at a time where nothing is timed.

Every job is a judge with a bench of its own, on CPUs of its own, in one thread from its first candidate to its last.
While one times, the others wait. Whatever a candidate does ends that candidate alone; where the judge's own processes
fail, the next candidate gets fresh ones.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import product

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, OpperfError
from opperf.domain.plan import Trial
from opperf.parent.documents.candidates import Judged
from opperf.parent.measuring.judge.judge import Judge, Terms
from opperf.parent.measuring.judge.quiet import Quiet
from opperf.parent.measuring.judge.submissions import Submission
from opperf.parent.measuring.parallel import Contention, Lane, ParallelRunner
from opperf.parent.workers.canaries import caches
from opperf.parent.workers.contention import CLASSES
from opperf.parent.workers.pair_cpus import shared_cpus
from opperf.parent.workers.topology import leases, usable_cores


@dataclass(frozen=True)
class Turn:
    """One of as many turns as there are candidates: which of them it judges, its job decides."""

    number: int
    trial: Trial


class Queue:
    """The candidates that are left. Each job knows its next one, so that a stand can wait for it.

    Those of several jobs are no longer equal to each other at the end: who has nothing left takes another's.
    """

    def __init__(self, submissions: Sequence[Submission]) -> None:
        self._left = deque(submissions)
        self._next: dict[object, Submission] = {}
        self._lock = threading.Lock()

    def take(self, job: object) -> Submission:
        """Return the candidate that a job judges now, with its file there."""
        with self._lock:
            submission = self._next.pop(job, None)
            if submission is None:
                submission = self._left.popleft() if self._left else self._next.pop(next(iter(self._next)))
            submission.write()
            return submission

    def upcoming(self, job: object) -> Submission | None:
        """Return the candidate that a job is to judge next, with its file there; None where there is no other."""
        with self._lock:
            if job not in self._next and self._left:
                self._next[job] = self._left.popleft()
                self._next[job].write()
            return self._next.get(job)


def judge_batch(
    against: str,
    trial: Trial,
    submissions: Sequence[Submission],
    terms: Terms,
    note: Callable[[str], None],
    *,
    jobs: int = 1,
) -> Generator[tuple[Submission, Judged], None, None]:
    """Yield each candidate with its verdict, as they come; ending the iteration early ends every child.

    Raises `InputError` where the reference cannot be had, and where there are not as many CPUs as `jobs` ask for.
    """
    contention = _contention(trial, terms, jobs)
    left = [one for one in submissions if one.code is not None]
    terms = replace(terms, rule=replace(terms.rule, family=max(terms.rule.family, len(left))))
    quiet, queue = Quiet(), Queue(left)

    def lane(cpus: tuple[int, ...]) -> Lane[Turn, tuple[Submission, Judged]]:
        own = replace(terms, settings=replace(terms.settings, cpus=cpus)) if jobs > 1 else terms
        return _Job(against, lambda: Judge(against, trial, own, note, quiet), quiet, queue)

    for one in submissions:
        if one.code is None:
            yield one, one.unloadable(against, trial.case)
    if not left:
        return
    runner = ParallelRunner[Turn, tuple[Submission, Judged]](contention, lane, lambda turn: (turn.trial,))
    with closing(runner.finished([Turn(i, trial) for i in range(len(left))])) as several:
        for done in several:
            yield done.result


def _contention(trial: Trial, terms: Terms, jobs: int) -> Contention:
    """Return the CPUs of the jobs. All may run side by side: what one times, it times alone."""
    if jobs <= 1:
        return Contention([terms.settings.cpus or shared_cpus(trial.side, trial.side) or ()], frozenset(), caches())
    every = leases(usable_cores(usable=terms.settings.cpus), trial.side.threads)
    if jobs > len(every):
        raise InputError(
            f"`--jobs` is {jobs}, but the available CPUs have room for {len(every)}",
            hint="each job needs physical cores of its own",
            slug="jobs",
        )
    return Contention(every[:jobs], frozenset(product(CLASSES, CLASSES)), caches())


class _Job:
    """What one job judges with: a judge, and a fresh one where that was lost."""

    def __init__(self, against: str, begin: Callable[[], Judge], quiet: Quiet, queue: Queue) -> None:
        self._against, self._begin, self._quiet, self._queue = against, begin, quiet, queue
        self._judge: Judge | None = None

    def __enter__(self) -> _Job:
        return self

    def __exit__(self, *trouble: object) -> None:
        self.close()

    def start(self, work: Turn) -> None:
        """Set up the bench; raises `InputError` where the reference fails."""
        self._present()

    def _present(self) -> Judge:
        if self._judge is None:
            self._judge = self._begin()
        return self._judge

    def measure(self, work: Turn) -> tuple[Submission, Judged]:
        """Return a candidate and its verdict; where the judge itself fails there is none, and the reason says so."""
        submission = self._queue.take(self)
        try:
            return submission, submission.spelled(self._verdict(submission))
        except InputError:
            raise
        except (OpperfError, OSError) as error:
            self.close()
            reason = f"the judge itself failed: {error}".partition("\n")[0]
            return submission, Judged(submission.name, self._against, work.trial.case, "inconclusive", reason)
        finally:
            submission.remove()

    def _verdict(self, submission: Submission) -> Judged:
        if submission.code is None:
            raise ValueError("there is nothing to judge")
        judge, upcoming = self._present(), self._queue.upcoming(self)
        judged = judge.judge(submission.code, submission.name, upcoming=None if upcoming is None else upcoming.code)
        if not judge.alive:
            self.close()
        return judged

    def close(self) -> None:
        """End the children."""
        if self._judge is not None:
            self._judge.close()
            self._judge = None

    def interrupt(self) -> None:
        """End the children from another thread; whoever waits for a quiet moment learns of it too."""
        self._quiet.stop()
        if (judge := self._judge) is not None:
            judge.interrupt()
