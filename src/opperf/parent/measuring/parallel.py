"""Jobs that measure side by side on this machine: who may run at once, on which CPUs, and next to whom.

Each job is a thread with children on CPUs of its own. It takes what its class of work lets run next to what runs
already, first that which fits beside few others; what fits beside nothing is left for the end. Children start before
anything is timed, so that no import of a framework is a neighbour. A device other than the CPUs serves one job at a
time.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterable, Sequence, Set
from dataclasses import field, replace
from types import TracebackType
from typing import Generic, Protocol, TypeVar

from opperf.catalog import catalog
from opperf.domain.case import Case
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.json_text import JsonDict
from opperf.domain.peaks import BYTE_RATE, PRODUCT
from opperf.domain.plan import Settings, Trial
from opperf.parent.measuring.calibration import effects, stored_rates
from opperf.parent.workers.canaries import Caches, caches
from opperf.parent.workers.contention import CLASSES, peaceful_pairs
from opperf.parent.workers.gpus import identity
from opperf.parent.workers.topology import leases, usable_cores

#: How far jobs may slow each other down: with `--jobs auto`, and where the user chose their number.
AUTO, BY_NUMBER = 0.01, 0.03
#: What one core computes at most, in FLOP/s, if no peak is measured: two fused multiply-adds of 8 float32 at 3 GHz.
FLOP_RATE = 1e11
#: Work that takes this many times what copying its bytes does is not bound by memory: it would have to go over all of
#: them this often.
PASSES = 50
#: How many neighbours a record names.
MOST_NAMES = 8
#: Seconds between two attempts to end the children of a job that is stopped.
STOPPING = 0.1

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Rates:
    """The bytes that a job moves each second at least, next to others, and the FLOPs that it computes at most.

    Work that computes for longer than it moves data does not mind how fast others move theirs.
    """

    nbytes: float = BYTE_RATE
    flops: float = FLOP_RATE


@dataclass(frozen=True)
class Contention:
    """The CPUs of each job, and the pairs of classes of work that may run side by side on them.

    `formulas` are neutral cases by the ids of those that a framework names in its own way.
    """

    leases: Sequence[tuple[int, ...]]
    pairs: Set[tuple[str, str]]
    caches: Caches
    rates: Rates = Rates()
    formulas: dict[str, Case] = field(default_factory=dict)
    _seconds: dict[tuple[object, ...], float] = field(default_factory=dict)

    @property
    def repeatable(self) -> Sequence[str]:
        """The classes of which several may run at once."""
        return [kind for kind in CLASSES if (kind, kind) in self.pairs]

    def kind_of(self, trial: Trial) -> str | None:
        """Return the class of a trial's work; None on a GPU, which shares little with the CPUs and the other GPUs."""
        return self.class_of(trial) if trial.side.device == "cpu" else None

    def may_run_beside(self, kind: str | None, other: str | None) -> bool:
        """Whether work of two classes may run side by side."""
        return kind is None or other is None or (kind, other) in self.pairs

    def neighbours_of(self, kind: str | None) -> int:
        """Return how many classes may run next to one."""
        return sum(self.may_run_beside(kind, other) for other in CLASSES)

    def needs_quiet(self, kind: str | None) -> bool:
        """Whether some class may not run next to one."""
        return self.neighbours_of(kind) < len(CLASSES)

    def class_of(self, trial: Trial) -> str:
        """Return the class of a trial's work, by the bytes and FLOPs of its formulas; by its inputs without any.

        Work that was seen to take far longer than copying its bytes does not stream, whatever its size.
        """
        amounts = amounts_of(self.formulas.get(trial.case.id, trial.case), trial.direction)
        if amounts is None:
            return CLASSES[-1]  # the formulas do not fit the case
        nbytes, flops = amounts
        copying = nbytes / self.rates.nbytes
        if nbytes <= self.caches.own or flops / self.rates.flops > copying:
            return CLASSES[0]
        seconds = self._seconds.get(_computation(trial), 0.0)
        if nbytes <= self.caches.shared / len(self.leases) or seconds > PASSES * copying:
            return CLASSES[1]
        return CLASSES[2]

    def learn(self, trial: Trial, seconds: float) -> None:
        """Note what a call takes. A backward pass takes no less than the forward one of its case."""
        self._seconds[_computation(trial)] = seconds
        if trial.direction == "forward":
            for direction in ("backward", "forward_backward"):
                self._seconds.setdefault(_computation(replace(trial, direction=direction)), seconds)


def amounts_of(case: Case, direction: str) -> tuple[int, int] | None:
    """Return the bytes and FLOPs of a call by its formulas, else those of its inputs; None where they do not fit."""
    definition = catalog().get(case.operator)
    if definition is None:
        return case.input_bytes, 0
    try:
        nbytes = max(case.input_bytes, definition.byte_count(case, direction) or 0)
        return nbytes, definition.flop_count(case, direction) or 0
    except (InputError, LookupError, TypeError, ValueError, ArithmeticError):
        return None


def _computation(trial: Trial) -> tuple[object, ...]:
    return (trial.case.id, trial.side.process, trial.direction)


def contention_of(settings: Settings, threads: int, note: Callable[[str], None]) -> Contention:
    """Return the CPUs of the jobs that settings ask for; raises `InputError` where there are not as many."""
    every = leases(usable_cores(usable=settings.cpus), threads)
    if settings.jobs > max(1, len(every)):
        of = f" of {threads} threads" if threads > 1 else ""
        raise InputError(
            f"`--jobs` is {settings.jobs}, but the available CPUs have room for {max(1, len(every))}{of}",
            hint="each job needs physical cores of its own; `--jobs auto` takes as many as do not disturb each other",
            slug="jobs",
        )
    if settings.jobs > 1:
        ours = every[: settings.jobs]
        contention = _measured_contention(ours, threads, BY_NUMBER, note)
        if not contention.pairs:
            note("note: jobs disturb each other on this machine, so opperf measures one at a time")
        return contention
    for jobs in _job_counts(len(every)):
        contention = _measured_contention(every[:jobs], threads, AUTO, note)
        if CLASSES[0] in contention.repeatable:
            note(f"note: `--jobs auto` is {jobs} on this machine, for {', '.join(contention.repeatable)} work")
            return contention
    few = len(every) < 2
    reason = "the CPUs that may be used have room for one" if few else "more jobs would disturb each other"
    note(f"note: `--jobs auto` is 1: {reason}")
    return Contention(every[:1], frozenset(), caches())


def _measured_contention(
    leases: Sequence[tuple[int, ...]], threads: int, most: float, note: Callable[[str], None]
) -> Contention:
    """Return which jobs may run side by side on these CPUs, by what canaries show and by the measured peaks."""
    noted, count = effects(leases, note), len(leases)
    streams = [one.rate for one in noted if one.rate and one.subject == one.neighbour == CLASSES[-1]]
    products = [one.rate for one in stored_rates() if (one.kind, one.device, one.threads) == (PRODUCT, "cpu", threads)]
    rates = Rates(min(streams, default=BYTE_RATE), max(products, default=threads * FLOP_RATE))
    return Contention(leases, peaceful_pairs(noted, count, most), caches(), rates)


def _job_counts(most: int) -> list[int]:
    """Return the numbers of jobs that `auto` considers, from the largest.

    >>> _job_counts(6)
    [6, 4, 2]
    """
    powers = [1 << power for power in range(1, most.bit_length()) if 1 << power < most]
    return [one for one in (most, *reversed(powers)) if one > 1]


class Lane(Protocol[T, R]):
    """What one job measures with: children on CPUs of its own. A context, whose end is that of its children."""

    def __enter__(self) -> Lane[T, R]:
        """Start nothing yet."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the children."""

    def start(self, work: T) -> None:
        """Start the children for a piece of work; what keeps them from starting is told when it is measured."""

    def measure(self, work: T) -> R:
        """Measure a piece of work; whatever goes wrong is in the result."""

    def interrupt(self) -> None:
        """Kill the children from another thread; whoever waits for one learns of its end."""


@dataclass(frozen=True)
class Finished(Generic[T, R]):
    """A piece of work with its result and the facts of its job: its CPUs, its class and what ran beside it."""

    work: T
    result: R
    jobs: JsonDict


class ParallelRunner(Generic[T, R]):
    """Measures pieces of work side by side: each is a trial, or several that must not part.

    `lane` makes what a job measures with, on its CPUs; `trials` are those of a piece of work.
    """

    def __init__(
        self,
        contention: Contention,
        lane: Callable[[tuple[int, ...]], Lane[T, R]],
        trials: Callable[[T], Sequence[Trial]],
    ) -> None:
        self._contention, self._lane, self._trials = contention, lane, trials
        self._news: queue.SimpleQueue[Finished[T, R] | BaseException | None] = queue.SimpleQueue()
        self._turn = threading.Condition()
        self._stopped = threading.Event()
        self._ahead: list[T] = []
        self._running: dict[int, tuple[T, dict[str, None]]] = {}
        self._kinds: dict[int, frozenset[str | None]] = {}

    def finished(self, works: Sequence[T]) -> Generator[Finished[T, R], None, None]:
        """Yield each piece of work when it is measured. Ending the iteration early ends every child."""
        self._ahead = [*works]
        self._classify(works)
        count = self._count(works)
        begin = threading.Barrier(count)
        lanes = [self._lane(cpus) for cpus in self._contention.leases[:count]]
        # Children end with the thread that started them, so each job is one thread from its first trial to its last.
        threads = [
            threading.Thread(target=self._work, args=(place, lane, begin), daemon=True)
            for place, lane in enumerate(lanes)
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
            self._stop(begin, threads, lanes)

    def _classify(self, works: Sequence[T]) -> None:
        """Note the classes of pieces of work, as far as they are known by now."""
        for work in works:
            self._kinds[id(work)] = frozenset(map(self._contention.kind_of, self._trials(work)))

    def _count(self, works: Sequence[T]) -> int:
        """Return the number of jobs that have something to do."""
        gpus = {device for work in works for device in self._devices(work)}
        kinds = {kind for several in self._kinds.values() for kind in several}
        if not any(self._contention.may_run_beside(one, other) for one in kinds for other in kinds):
            return 1
        return max(1, min(len(self._contention.leases), len(works), len(gpus) or len(works)))

    def _may_meet(self, work: T, neighbour: T) -> bool:
        """Whether two pieces of work may run side by side: any of their trials may, and none shares a device."""
        mine, theirs = self._kinds[id(work)], self._kinds[id(neighbour)]
        compatible = all(self._contention.may_run_beside(kind, another) for kind in mine for another in theirs)
        return compatible and self._devices(work).isdisjoint(self._devices(neighbour))

    def _devices(self, work: T) -> set[str]:
        """Return the devices that a piece of work needs for itself."""
        return {identity(trial.side) for trial in self._trials(work) if trial.side.device != "cpu"}

    def _stop(self, begin: threading.Barrier, threads: Sequence[threading.Thread], lanes: Sequence[Lane[T, R]]) -> None:
        """End what still runs: a job that waits for its child learns of its end."""
        self._stopped.set()
        begin.abort()
        while any(thread.is_alive() for thread in threads):
            with self._turn:
                self._turn.notify_all()
            for thread, lane in zip(threads, lanes):
                if thread.is_alive():
                    lane.interrupt()
                    thread.join(STOPPING)

    def _work(self, place: int, lane: Lane[T, R], begin: threading.Barrier) -> None:
        """Measure until nothing is left."""
        try:
            with lane:
                work = self._await_work(place, None, waits=False)
                for first in [*self._ahead[:1]] if work is None else [work]:
                    lane.start(first)
                begin.wait()
                work = self._await_work(place, None) if work is None else work
                while work is not None and not self._stopped.is_set():
                    self._report(place, work, lane.measure(work))
                    work = self._await_work(place, work)
                self._leave(place)
            self._news.put(None)
        except threading.BrokenBarrierError:
            self._news.put(None)
        except BaseException as error:  # told in the main thread
            self._news.put(error)

    def _await_work(self, place: int, last: T | None, *, waits: bool = True) -> T | None:
        """Return the work that a job measures next: it may run beside all others, and is of its children if it can be.

        At first none `waits` for its turn: who runs has not begun, and waits for the children of all jobs.
        """
        with self._turn:
            self._running.pop(place, None)
            self._turn.notify_all()
            while self._ahead and not self._stopped.is_set():
                work = self._next(last)
                if work is None:  # what has been measured since may tell more of what is left
                    self._classify(self._ahead)
                    work = self._next(last)
                if work is not None:
                    self._ahead = [one for one in self._ahead if one is not work]
                    self._record_neighbours(place, work)
                    return work
                if not waits:
                    break
                self._turn.wait()
            return None

    def _next(self, last: T | None) -> T | None:
        """Return work that may run next to all that runs; first such as fits beside few others, not to be left over."""
        others = [work for work, _ in self._running.values()]
        free = [work for work in self._ahead if all(self._may_meet(work, other) for other in others)]
        sides = None if last is None else self._sides(last)

        def rank(work: T) -> tuple[bool, int]:
            elsewhere = sides is not None and self._sides(work) != sides
            neighbours = min((self._contention.neighbours_of(kind) for kind in self._kinds[id(work)]), default=0)
            return elsewhere, neighbours or len(CLASSES) + 1

        return min(free, key=rank, default=None)

    def _sides(self, work: T) -> list[tuple[object, ...]]:
        return [trial.side.process for trial in self._trials(work)]

    def _record_neighbours(self, place: int, work: T) -> None:
        """Note who runs next to whom from now on."""
        mine: dict[str, None] = {}
        for other, theirs in self._running.values():
            mine |= dict.fromkeys(map(_name, self._trials(other)))
            theirs |= dict.fromkeys(map(_name, self._trials(work)))
        self._running[place] = (work, mine)

    def _leave(self, place: int) -> None:
        with self._turn:
            self._running.pop(place, None)
            self._turn.notify_all()

    def _report(self, place: int, work: T, result: R) -> None:
        """Hand a result on with what ran next to it, unless its children were ended by a stop."""
        if self._stopped.is_set():
            return
        with self._turn:
            beside = [*self._running[place][1]] if place in self._running else []
        kinds = [self._contention.class_of(trial) for trial in self._trials(work)]
        facts: JsonDict = {
            "cpus": list(self._contention.leases[place]),
            "class": max(kinds, key=CLASSES.index),
            "beside": _shorten(beside),
        }
        self._news.put(Finished(work, result, facts))


def facts_together(facts: Iterable[JsonDict]) -> JsonDict:
    """Return the common facts of runs with jobs; none where nothing ran with jobs.

    >>> first = {"cpus": [0], "class": "compute", "beside": ["null add forward"]}
    >>> facts_together([{}, {"jobs": first}, {"jobs": {**first, "cpus": [1], "beside": []}}])
    {'jobs': {'cpus': [0, 1], 'class': 'compute', 'beside': ['null add forward']}}
    """
    jobs = [one["jobs"] for one in facts if "jobs" in one]
    if not jobs:
        return {}
    cpus, names = ([*dict.fromkeys(name for one in jobs for name in one[key])] for key in ("cpus", "beside"))
    return {"jobs": {"cpus": sorted(cpus), "class": jobs[0]["class"], "beside": _shorten(names)}}


def _shorten(names: Sequence[str]) -> list[str]:
    more = len(names) - MOST_NAMES
    return [*names[:MOST_NAMES], *([f"and {more} more"] if more > 0 else [])]


def _name(trial: Trial) -> str:
    return f"{trial.side.framework} {trial.case.operator} {trial.direction}"
