"""A stand as the judge sees it: it is asleep but for the moments in which it is asked, and only the kernel is believed.

What a candidate's process says is that it is done. The judge's clock runs from the moment it is let go on until that
word; by then the whole process tree is frozen, and what the calls returned is read out of its memory.
"""

from __future__ import annotations

import struct
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from opperf.domain.dataclass import dataclass
from opperf.domain.errors import WorkerFailure
from opperf.domain.explanation import Explanation
from opperf.domain.judging import Geometry, extent
from opperf.domain.measurement import Sample
from opperf.domain.message.replies import Outlined
from opperf.domain.message.requests import Explain, Go, LineUp, Outline, R, Request, Stand
from opperf.domain.plan import Trial
from opperf.domain.problem import Standing
from opperf.domain.tensor import ITEM_SIZES
from opperf.parent.workers.area import ANSWERS, Area
from opperf.parent.workers.freezer import Freezer, of_start, read_memory
from opperf.parent.workers.process import Launch, Worker
from opperf.parent.workers.starting import start

#: A turn in which either process stood in the run queue for more than this share of the time is disturbed.
MOST_WAITING = 0.03


@dataclass(frozen=True)
class Turned:
    """What a turn took by the judge's clock and the kernel's, and where its results lie.

    The process was awake for `awake_ns`, from its thaw until it was frozen again, and `late_ns` of its CPU time came
    after its word: nothing should be left to do then.
    """

    sample: Sample
    addresses: tuple[int, ...]
    awake_ns: int
    threads: int
    processes: int
    late_ns: int = 0


class Seat:
    """The stand of one trial."""

    def __init__(
        self,
        trial: Trial,
        inputs: Area,
        timeout: float,
        *,
        briefing: Callable[[], Standing | None],
        weights: Area,
        cpus: tuple[int, ...] | None,
        launch: Launch,
    ) -> None:
        """Launch its child, which imports its framework meanwhile, and stays on `cpus` from then on."""
        self._inputs, self._timeout, self._cpus = inputs, timeout, cpus
        self._moves = launch.cpus != cpus
        #: What it is told of the case of a problem when it takes it, and where the weights of that lie.
        self._briefing, self._weights = briefing, weights
        #: Where inputs are writable, what is written into them stays in the process.
        self.writable = False
        self._answers = Area("answers", ANSWERS)
        self._addresses = self._answers.map()
        self.worker: Worker
        self.worker, _ = start(
            trial.side,
            replace(launch, files=(inputs.descriptor, self._answers.descriptor, weights.descriptor)),
            progress=_silent,
            sharing=3,
            greet=False,
        )
        self._freezer: Freezer | None = None
        #: What stops the child while it imports.
        self._import: Freezer | None = None
        self.outlines: tuple[Outlined, ...] = ()
        #: The class of a result without tensors.
        self.kind = ""
        #: The call of the last turn whose result stays when others are lined up.
        self._keep: int | None = None

    def wake(self) -> None:
        """Wait until the child has imported its framework, and put it to sleep; raises `OpperfError`."""
        if self._freezer is None:
            self.worker.greet()
            if self._moves and self._cpus is not None:
                self.worker.stay_on(self._cpus)
            if self._import is not None:
                self._import.close()
            self._freezer = Freezer(self.worker.pid, self.worker.top)
            self._freezer.freeze()

    @property
    def importer(self) -> int | None:
        """The process that it is still to be forked from; None once it runs by itself."""
        return None if self.worker.is_forked else self.worker.top

    def hold(self) -> None:
        """Stop a child that still imports its framework; one that has ended is the affair of who takes it."""
        with suppress(OSError, WorkerFailure):
            if self._freezer is None:
                if self._import is None or self._import.mechanism != "group":
                    is_forked = self.worker.is_forked  # it may be a moment later
                    self._import = of_start(self.worker.top, alone=not is_forked)
                self._import.freeze()

    def release(self) -> None:
        """Let it go on importing."""
        with suppress(OSError):
            if self._freezer is None and self._import is not None:
                self._import.thaw()

    @property
    def freezer(self) -> Freezer:
        """What stops the process tree."""
        self.wake()
        assert self._freezer is not None
        return self._freezer

    def take(self, trial: Trial, geometry: Geometry) -> None:
        """Load what a trial calls, and place its arguments; raises `OperatorFailure` and `WorkerFailure`."""
        files = (self._inputs.descriptor, self._answers.descriptor)
        self._ask(Stand(trial, geometry, *files, self.writable, self._briefing(), self._weights.descriptor))

    def line_up(self, slots: Sequence[int], repeat: int = 1, *, empty: bool = False) -> None:
        """Tell it what it will be asked to call."""
        self._ask(LineUp(tuple(slots), repeat, empty, self._keep))
        self._lined, self._keep = len(slots) * repeat, None

    def go(self) -> Turned:
        """Let it make the calls that were lined up, and freeze it; raises `OperatorFailure` and `WorkerFailure`."""
        with _of_living():
            return self._go()

    def _go(self) -> Turned:
        freezer = self.freezer
        cpu, waiting, own_waiting = freezer.cpu_ns(), freezer.waiting_ns(), _own_waiting()
        began = by_word = stopped = 0
        faults = _faults(self.worker.pid)

        def let_go() -> None:
            nonlocal began
            began = time.perf_counter_ns()
            freezer.thaw()

        def stop() -> None:
            """Stop it before its word is read: a long one would give it as long."""
            nonlocal by_word, stopped
            by_word = freezer.cpu_ns()
            freezer.freeze()
            stopped = time.perf_counter_ns()

        self._check_rest()
        try:
            self.worker.ask(Go(), self._timeout, let_go, stop)
        finally:
            if self.worker.alive and not stopped:
                freezer.freeze()
        awake = stopped - began
        wall = self.worker.answered_ns - began
        waited = freezer.waiting_ns() - waiting
        clean = max(waited, _own_waiting() - own_waiting) <= MOST_WAITING * wall
        at_end = freezer.cpu_ns()
        sample = Sample(
            max(1, self._lined),
            wall,
            at_end - cpu,
            faults=_faults(self.worker.pid) - faults,
            waiting_ns=min(waited, wall),
            clean=clean,
        )
        threads, processes = len(freezer.threads()), len(freezer.processes())
        return Turned(sample, self._read_addresses(), awake, threads, processes, at_end - by_word)

    def _read_addresses(self) -> tuple[int, ...]:
        (count,) = struct.unpack_from("<Q", self._addresses)
        count = min(count, ANSWERS // 8 - 1)
        return struct.unpack_from(f"<{count}Q", self._addresses, 8)

    def outline(self) -> tuple[Outlined, ...]:
        """Ask how the tensors of a result lie; every result of these inputs has to lie so."""
        answer = self._ask(Outline())
        self.outlines, self.kind = answer.tensors, answer.kind
        return self.outlines

    def explain(self, request: Explain) -> Explanation:
        """Ask what a call of the trial runs, whatever it says; raises `OperatorFailure` and `WorkerFailure`."""
        return self._ask(request)

    def copy(self, turned: Turned, place: int, into: memoryview) -> None:
        """Copy the result of one call of a turn out of the frozen process; raises `WorkerFailure`."""
        start = 0
        for one, address in zip(self.outlines, self._addresses_of(turned, place)):
            low, size = extent(one.shape, one.strides, ITEM_SIZES[one.dtype])
            into[start : start + size] = read_memory(self.worker.pid, address + low, size)
            start += size

    def lies_in_inputs(self, turned: Turned, place: int | None = None) -> bool:
        """Whether a result of one call of a turn, or of any, lies in the memory that inputs are in."""
        results = turned.addresses if place is None else self._addresses_of(turned, place)
        return any(address in span for span in self._inputs.spans(self.worker.pid) for address in results)

    def retain(self, turned: Turned, place: int) -> Callable[[], bool]:
        """Have the result of one call of a turn stay alive; what this returns says whether it is another one by now."""
        self._keep = place
        before = self._checksum(turned, place)
        return lambda: self._checksum(turned, place) != before

    def _checksum(self, turned: Turned, place: int) -> int:
        total = 0
        for one, address in zip(self.outlines, self._addresses_of(turned, place)):
            low, size = extent(one.shape, one.strides, ITEM_SIZES[one.dtype])
            total = zlib.crc32(read_memory(self.worker.pid, address + low, size), total)
        return total

    def _addresses_of(self, turned: Turned, place: int) -> tuple[int, ...]:
        several = len(self.outlines)
        return turned.addresses[place * several : (place + 1) * several]

    def _check_rest(self) -> None:
        """Raise `WorkerFailure` where its processes have run while they were stopped."""
        if self.freezer.has_run():
            raise WorkerFailure("its processes ran on while they were stopped", slug="works_after_return")

    def _ask(self, request: Request[R]) -> R:
        with _of_living():
            freezer = self.freezer
            self._check_rest()
            try:
                return self.worker.ask(request, self._timeout, freezer.thaw)
            finally:
                if self.worker.alive:
                    freezer.freeze()

    def close(self) -> None:
        """End the child, whatever it would do instead."""
        for one in (self._import, self._freezer):
            if one is not None:
                one.close()
        self.worker.kill()
        self._answers.close()


@contextmanager
def _of_living() -> Iterator[None]:
    """Read of a process what only one that lives has; raises `WorkerFailure` for one that has ended."""
    try:
        yield
    except OSError as problem:
        raise WorkerFailure(f"the child ended between requests ({problem.strerror})", slug="exit") from problem


def _silent(_: str) -> None:
    """Say nothing: who judges speaks for all."""


def _faults(pid: int) -> int:
    """Return the page faults of a process that cost no reading. Source: proc(5), `/proc/PID/stat`."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        return int(file.read().rpartition(b")")[2].split()[7])


def _own_waiting() -> int:
    """Return how long this thread has stood in the run queue, in nanoseconds. Source: proc(5), `schedstat`."""
    with open("/proc/thread-self/schedstat", "rb") as file:
        return int(file.read().split()[1])
