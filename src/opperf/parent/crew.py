"""Jobs that measure side by side on this machine: who may run at once, on which CPUs, and next to whom.

Each job is a thread with children on CPUs of its own. What its class of work lets run side by side is measured first,
by all jobs; the rest after it, by one of them while the others have nothing left. Children start before anything is
timed, so that no import of a framework is a neighbour. A device other than the CPUs serves one job at a time.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, Union

from opperf.catalog import catalog
from opperf.domain.company import CLASSES, bearing
from opperf.domain.errors import InputError, OpperfError
from opperf.domain.measurement import Outcome
from opperf.domain.plan import Settings, Trial
from opperf.parent.calibration import effects
from opperf.parent.workers.canaries import Caches, caches
from opperf.parent.workers.pool import Pool
from opperf.parent.workers.topology import leases, usable_cores

#: How far jobs may slow each other down: with `--jobs auto`, and where the user chose their number.
AUTO, BY_NUMBER = 0.01, 0.03
#: What one core computes at most, in FLOP/s, and moves at least, in bytes/s. Work that computes for longer than it
#: moves data does not mind how fast others move theirs.
FLOP_RATE, BYTE_RATE = 1e11, 1e10
#: How many neighbours a record names.
MOST_NAMES = 8
#: Seconds between two attempts to end the children of a job that is stopped.
STOPPING = 0.1

Measure: TypeAlias = Callable[[Pool, Trial], Outcome]
News: TypeAlias = Union[Outcome, BaseException, None]


@dataclass(frozen=True)
class Company:
    """The CPUs of each job, and the classes of work that may run side by side on them."""

    leases: Sequence[tuple[int, ...]]
    bearable: Sequence[str]
    caches: Caches

    def bears(self, trial: Trial) -> bool:
        """Whether a trial may run next to others; what a GPU computes shares little with the other GPUs."""
        return trial.side.device != "cpu" or class_of(trial, self.caches, len(self.leases)) in self.bearable


def class_of(trial: Trial, sizes: Caches, jobs: int) -> str:
    """Return the class of a trial's work, by what its operator's formulas count; by its inputs where there are none."""
    definition = catalog().get(trial.case.operator)
    moved, computed = trial.case.input_bytes, 0
    if definition is not None:
        try:
            moved = max(moved, definition.byte_count(trial.case, trial.direction) or 0)
            computed = definition.flop_count(trial.case, trial.direction) or 0
        except (InputError, LookupError, TypeError, ValueError, ArithmeticError):
            return CLASSES[-1]  # the formulas do not fit the case
    if moved <= sizes.own or computed / FLOP_RATE > moved / BYTE_RATE:
        return CLASSES[0]
    return CLASSES[1] if moved <= sizes.shared / jobs else CLASSES[2]


def company(settings: Settings, threads: int, note: Callable[[str], None]) -> Company:
    """Return the CPUs of the jobs that settings ask for; raises `InputError` where there are not as many."""
    every = leases(usable_cores(usable=settings.cpus), threads)
    if settings.jobs > max(1, len(every)):
        of = f" of {threads} threads" if threads > 1 else ""
        raise InputError(
            f"`--jobs` is {settings.jobs}, and the CPUs that may be used have room for {max(1, len(every))}{of}",
            hint="each job needs physical cores of its own; `--jobs auto` takes as many as do not disturb each other",
            slug="jobs",
        )
    if settings.jobs > 1:
        ours = every[: settings.jobs]
        bearable = bearing(effects(ours, note), settings.jobs, BY_NUMBER)
        if not bearable:
            note("note: jobs disturb each other on this machine, so everything is measured alone")
        return Company(ours, bearable, caches())
    for jobs in _numbers(len(every)):
        bearable = bearing(effects(every[:jobs], note), jobs, AUTO)
        if bearable:
            note(f"note: `--jobs auto` is {jobs} on this machine, for {', '.join(bearable)} work")
            return Company(every[:jobs], bearable, caches())
    note("note: `--jobs auto` is 1: more jobs would disturb each other")
    return Company(every[:1], CLASSES, caches())


def _numbers(most: int) -> list[int]:
    """Return the numbers of jobs that `auto` considers, from the largest.

    >>> _numbers(6)
    [6, 4, 2]
    """
    powers = [1 << power for power in range(1, most.bit_length()) if 1 << power < most]
    return [one for one in (most, *reversed(powers)) if one > 1]


class Crew:
    """Measures trials of one framework's environment side by side. `pool` makes the children of one job."""

    def __init__(self, together: Company, pool: Callable[[tuple[int, ...]], Pool], measure: Measure) -> None:
        self._together, self._pool, self._measure = together, pool, measure
        self._news: queue.SimpleQueue[News] = queue.SimpleQueue()
        self._turn = threading.Condition()
        self._stopped = threading.Event()
        self._ahead: list[Trial] = []
        self._running: dict[int, tuple[Trial, dict[str, None]]] = {}

    def outcomes(self, trials: Sequence[Trial]) -> Generator[Outcome, None, None]:
        """Yield the outcome of each trial, as they come, each measured in one process of its job.

        Ending the iteration early ends every child.
        """
        self._ahead = [trial for trial in trials if self._together.bears(trial)]
        alone = [trial for trial in trials if not self._together.bears(trial)]
        gpus = {trial.side.device for trial in trials if trial.side.device != "cpu"}
        count = max(1, min(len(self._together.leases), len(self._ahead), len(gpus) or len(self._ahead)))
        begin = threading.Barrier(count)
        pools = [self._pool(cpus) for cpus in self._together.leases[:count]]
        # Children end with the thread that started them, so each job is one thread from its first trial to its last.
        threads = [
            threading.Thread(target=self._work, args=(place, pool, begin, alone), daemon=True)
            for place, pool in enumerate(pools)
        ]
        for thread in threads:
            thread.start()
        try:
            left = count
            while left:
                news = self._news.get()
                if isinstance(news, BaseException):
                    raise news
                if news is None:
                    left -= 1
                else:
                    yield news
        finally:
            self._stop(begin, threads, pools)

    def _stop(self, begin: threading.Barrier, threads: Sequence[threading.Thread], pools: Sequence[Pool]) -> None:
        """End what still runs: a job that waits for its child learns of its end."""
        self._stopped.set()
        begin.abort()
        while any(thread.is_alive() for thread in threads):
            with self._turn:
                self._turn.notify_all()
            for thread, pool in zip(threads, pools):
                if thread.is_alive():
                    pool.interrupt()
                    thread.join(STOPPING)

    def _work(self, place: int, pool: Pool, begin: threading.Barrier, alone: Sequence[Trial]) -> None:
        """Measure what bears company until nothing of it is left; the first job then measures the rest alone."""
        try:
            with pool:
                first = self._take(place, None)
                self._start(pool, first or (alone[0] if alone and place == 0 else None))
                begin.wait()
                trial = first
                while trial is not None and not self._stopped.is_set():
                    self._tell(place, self._measure(pool, trial))
                    trial = self._take(place, trial)
                self._leave(place)
                if place != 0:
                    pool.close()
                begin.wait()
                for trial in alone if place == 0 else ():
                    if self._stopped.is_set():
                        break
                    self._tell(place, self._measure(pool, trial))
            self._news.put(None)
        except threading.BrokenBarrierError:
            self._news.put(None)
        except BaseException as error:  # told in the main thread
            self._news.put(error)

    def _start(self, pool: Pool, trial: Trial | None) -> None:
        """Start a child before anything is timed; what keeps it from starting is the outcome of its trials."""
        if trial is not None:
            try:
                pool.worker(trial.side)
            except OpperfError:
                return

    def _take(self, place: int, last: Trial | None) -> Trial | None:
        """Return what a job measures next: of its child if it can be, and of no device that is in use."""
        with self._turn:
            self._running.pop(place, None)
            self._turn.notify_all()
            while self._ahead and not self._stopped.is_set():
                busy = {trial.side.device for trial, _ in self._running.values()} - {"cpu"}
                free = [trial for trial in self._ahead if trial.side.device not in busy]
                if free:
                    same = (one for one in free if last is not None and one.side.process == last.side.process)
                    trial = next(same, free[0])
                    self._ahead.remove(trial)
                    self._meet(place, trial)
                    return trial
                self._turn.wait()
            return None

    def _meet(self, place: int, trial: Trial) -> None:
        """Note who runs next to whom from now on."""
        mine: dict[str, None] = {}
        for other, theirs in self._running.values():
            mine[_name(other)] = None
            theirs[_name(trial)] = None
        self._running[place] = (trial, mine)

    def _leave(self, place: int) -> None:
        with self._turn:
            self._running.pop(place, None)
            self._turn.notify_all()

    def _tell(self, place: int, outcome: Outcome) -> None:
        """Hand an outcome on with what ran next to it, unless its child was ended by a stop."""
        if self._stopped.is_set():
            return
        with self._turn:
            beside = [*self._running[place][1]] if place in self._running else []
        if outcome.measurement is not None:
            jobs = {
                "cpus": list(self._together.leases[place]),
                "class": class_of(outcome.trial, self._together.caches, len(self._together.leases)),
                "beside": beside[:MOST_NAMES]
                + ([f"and {len(beside) - MOST_NAMES} more"] if len(beside) > MOST_NAMES else []),
            }
            measurement = replace(outcome.measurement, facts={**outcome.measurement.facts, "jobs": jobs})
            outcome = replace(outcome, measurement=measurement)
        self._news.put(outcome)


def _name(trial: Trial) -> str:
    return f"{trial.side.framework} {trial.case.operator} {trial.direction}"
