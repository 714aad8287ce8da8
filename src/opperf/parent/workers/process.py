"""One child process as the parent sees it: started, asked, waited for with a deadline, and ended.

Whatever a child does (die, hang, flood its output, write garbage into the pipe, speak another protocol) becomes one
`WorkerFailure` that names the signal and carries the last lines of its stderr.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from pathlib import Path

import psutil

from opperf.confinement import groups
from opperf.confinement.variables import needed
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError, OperatorFailure, WorkerFailure
from opperf.domain.message.replies import Failure, Hello, Preparation
from opperf.domain.message.requests import Limits, Prepare, Quit, R, Release, Request, reply_type, verb
from opperf.domain.message.wire import LONGEST, PROTOCOL, Answer, MessageError, read_answer, request_line
from opperf.domain.plan import Side
from opperf.parent.workers import gpus
from opperf.parent.workers.compilers import CompilerWatch, readable
from opperf.parent.workers.output import Output
from opperf.parent.workers.source import Forked, Source
from opperf.parent.workers.supervision import GRACE, end, launch, own_ids
from opperf.parent.workers.variables import child_variables, layout_variables, with_defaults

#: Importing a framework takes up to 30 s on a busy machine.
START_TIMEOUT = 180.0
#: The requests in which a child imports the user's own code or has it compiled, and times nothing.
UNTIMED = ("describe", "prepare")
#: What the user's `--timeout` does not bound.
FIXED = ("start", "discover", "build_loops", "iterate", "generate")


@dataclass(frozen=True)
class Launch:
    """How a child is started, whichever side it serves.

    It runs on `cpus`, in so much `memory` beyond what its framework holds. `own_path` keeps the user's PYTHONPATH, and
    `bytecode` lets it write compiled files beside sources. `plugins` are files that it loads when the user's own
    iterators or generators are asked for, and `variables` are set where the user has not set them. `under` is a command
    that runs its Python in a room, into which only the variables go that it needs. It inherits `files`, under the same
    numbers. `note` is told of compilers that run below it. With a `source` it is forked from that. `sharers` is how
    many children hold tensors on the side's device.
    """

    cpus: tuple[int, ...] | None = None
    memory: int | None = None
    own_path: bool = False
    bytecode: bool = False
    plugins: Sequence[Path] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    under: Sequence[str] = ()
    files: Sequence[int] = ()
    note: Callable[[str], None] | None = None
    source: Source | None = None
    sharers: int = 1


PLAIN = Launch()


class Worker:
    """A child that serves one side. Start it only from a thread that lives as long as it: its death is tied to that."""

    def __init__(self, python: Path, package: Path, side: Side, launched: Launch = PLAIN) -> None:
        """Start it."""
        self.side, self._python, self._launched = side, python, launched
        #: When the first byte of the last answer was there, by `time.perf_counter_ns`.
        self.answered_ns = 0
        self._replies = 0
        self._buffer = bytearray()
        # The user's own code, where it is named, is looked for where the command was given.
        limits = Limits(launched.cpus, launched.memory, str(Path.cwd()), tuple(map(str, launched.plugins)))
        self._gpu_variables = gpus.variables(side, sharers=launched.sharers)
        own = child_variables(package, own_path=launched.own_path, bytecode=launched.bytecode)
        variables = {**(needed(own) if launched.under else own), **self._gpu_variables}
        self._process, self._requests, self._answers = self._spawn(package, limits, variables)
        self._pid = self._process.pid
        if self._process.stdout is None:
            raise AssertionError("the child was started with a pipe for its output")
        earlier = self._process.source.output if isinstance(self._process, Forked) else None
        self._output = Output(self._process.stdout, earlier)
        self.facts: Mapping[str, object] = {}
        self.devices: tuple[str, ...] = ()

    def _spawn(
        self, package: Path, limits: Limits, variables: Mapping[str, str]
    ) -> tuple[subprocess.Popen[bytes] | Forked, int, int]:
        launched = self._launched
        begin = launch if launched.source is None else launched.source.launch
        child_reads, requests = _pipe()
        answers, child_writes = _pipe()
        try:
            process = begin(
                [
                    *launched.under,
                    str(self._python),
                    "-m",
                    "opperf.child",
                    str(child_reads),
                    str(child_writes),
                    json.dumps(replace(self.side, device=gpus.inside(self.side, self._gpu_variables)).to_json()),
                    json.dumps(limits.to_json()),
                ],
                package,
                with_defaults(
                    {**variables, **self.side.variables}, {**launched.variables, **layout_variables(self.side)}
                ),
                (child_reads, child_writes, *launched.files),
            )
        except BaseException as error:
            os.close(requests)
            os.close(answers)
            if isinstance(error, OSError):
                raise WorkerFailure(f"cannot start `{self._python}`: {error}", slug="spawn") from error
            raise
        finally:
            os.close(child_reads)
            os.close(child_writes)
        os.set_blocking(requests, False)  # a child that stops reading must not hold the parent in a write
        return process, requests, answers

    @property
    def pid(self) -> int:
        """The child's process id; until its hello, that of the process which starts it."""
        return self._pid

    @property
    def top(self) -> int:
        """The process that runs the child, and nobody else's: all that it has started is below that."""
        return self._process.pid

    @property
    def is_forked(self) -> bool:
        """Whether it is a process of its own by now, and not yet to come from its source, which runs others too."""
        return not isinstance(self._process, Forked) or self.top != self._process.source.process.pid

    @property
    def alive(self) -> bool:
        """Whether the child can be asked."""
        return self._requests >= 0

    def greet(self, timeout: float = START_TIMEOUT) -> None:
        """Wait for the child's hello and take its facts; raises `WorkerFailure` or `OperatorFailure`."""
        reply = self._read(time.monotonic() + timeout, "start", timeout)
        if reply.protocol != PROTOCOL:
            raise self._fail(
                f"the child uses protocol {reply.protocol!r}, but this opperf uses {PROTOCOL}",
                "protocol_version",
                hint="use the same version of opperf on both sides",
            )
        hello = self._content(Hello, reply)
        self.facts, self.devices = hello.facts, tuple(gpus.outside(hello.devices, self._gpu_variables))
        self._pid = self._find(hello.pid) or self._pid  # a child's word alone is not what signals are sent by

    def _find(self, pid: int) -> int | None:
        """Return the process that calls itself so, if the supervisor has started it, or what runs the child."""
        with suppress(psutil.Error):
            if pid == self._process.pid or psutil.Process(pid).ppid() == self._process.pid:
                return pid
        with suppress(psutil.Error):
            below = psutil.Process(self._process.pid).children(recursive=True) if self._launched.under else []
            names = {process.pid: own_ids(process.pid) for process in below}
            # In a namespace of its own a process has another id as well. The innermost is what it knows.
            return max((one for one in names if pid in names[one][-1:]), key=lambda one: len(names[one]), default=None)
        return None

    def ask(
        self,
        request: Request[R],
        timeout: float,
        sent: Callable[[], None] | None = None,
        answered: Callable[[], None] | None = None,
    ) -> R:
        """Send a request and return its reply. A child that stands still gets it when `sent` lets it go on.

        `answered` is called when the reply is there and before it is read, which takes as long as the child likes; it
        must not be there before the request.
        Raises `OperatorFailure` for what the operator did wrong, `WorkerFailure` when the child itself is lost.
        """
        if not self.alive:
            raise WorkerFailure("the child has ended", slug="exit")
        if answered is not None:
            self._check_silence()
        self._replies += 1
        deadline = time.monotonic() + timeout
        try:
            self._write(request_line(self._replies, request), deadline)
            if sent is not None:
                sent()
            reply = self._read(deadline, verb(request), timeout, answered)
        except BrokenPipeError:
            raise self._death() from None
        except (KeyboardInterrupt, SystemExit):
            self.kill()  # its answer is still to come, and would be taken for that of the next request
            raise
        if reply.id != self._replies:
            raise self._fail(f"the child answered request {reply.id} instead of {self._replies}", "protocol")
        return self._content(reply_type(request), reply)

    @contextmanager
    def prepared(self, request: Prepare, timeout: float) -> Iterator[Preparation]:
        """Prepare a trial, which the child forgets in the end; raises what `ask` does."""
        preparation = self.ask(request, timeout)
        try:
            yield preparation
        finally:
            if self.alive:
                self.ask(Release(preparation.handle), timeout)

    def _check_silence(self) -> None:
        """Raise `WorkerFailure` where a child has ended, or has given an answer that nobody has asked for yet.

        The moment at which such an answer came would be one before its request.
        """
        if not self._buffer and select.select([self._answers], [], [], 0)[0]:
            self._buffer += os.read(self._answers, 1 << 16)
            if not self._buffer:
                raise self._death()
        if self._buffer:
            raise self._fail("the child answered before it was asked", "protocol")

    def _content(self, kind: type[R], answer: Answer) -> R:
        """Return the content of an answer; raises `OperatorFailure` where that is a failure."""
        try:
            if answer.failure is None:
                return kind.from_json(answer.result)
            failure = Failure.from_json(answer.failure)
        except InputError as error:
            raise self._fail(f"invalid data on the child's pipe: {error.message}", "protocol") from error
        if failure.last:
            self.kill()
        raise OperatorFailure(failure.reason, skipped=failure.skipped)

    def _write(self, line: bytes, deadline: float) -> None:
        view = memoryview(line)
        while view:
            _, ready, _ = select.select([], [self._requests], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise self._fail("the child does not read its requests", "timeout")
            with suppress(BlockingIOError):  # less room than the kernel promised
                view = view[os.write(self._requests, view[:65536]) :]

    def _read(self, deadline: float, verb: str, timeout: float, answered: Callable[[], None] | None = None) -> Answer:
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > LONGEST:
                raise self._fail(f"the child sent a message of over {LONGEST} bytes", "protocol")
            note = self._launched.note if verb in UNTIMED else None
            watch = None if note is None else CompilerWatch(self.pid, note)
            if not readable(self._answers, deadline, watch):
                limit = f"{timeout:g} s" if verb in FIXED else f"{timeout:g} s, the limit of `--timeout`"
                raise self._fail(f"no answer to `{verb}` within {limit}; opperf killed the child process", "timeout")
            self.answered_ns = time.perf_counter_ns()
            chunk = os.read(self._answers, 1 << 20)
            if not chunk:
                raise self._death()
            self._buffer += chunk
        if answered is not None:
            answered()
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        try:
            return read_answer(line)
        except MessageError as error:
            raise self._fail(f"invalid data on the child's pipe: {error.message}", "protocol") from error

    def _death(self) -> WorkerFailure:
        """Say how a child ended that closed its pipe by itself."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)
        code = self._process.poll()
        if code is None:
            return self._fail("the child closed its pipe but kept running; it was stopped", "protocol")
        if code >= 0:
            return self._fail(f"the child ended with exit code {code}", "exit")
        name = signal.Signals(-code).name
        hint = "probably out of memory" if name == "SIGKILL" else None
        return self._fail(f"the child was killed by {name}", "crash", signal_name=name, hint=hint)

    def _fail(
        self, message: str, slug: str, *, signal_name: str | None = None, hint: str | None = None
    ) -> WorkerFailure:
        self.kill()
        return WorkerFailure(message, slug=slug, hint=hint, signal=signal_name, stderr=self._output.tail(GRACE))

    def stay_on(self, cpus: Sequence[int]) -> None:
        """Move every thread of the child to these CPUs; those that it starts later stay there too.

        Raises `WorkerFailure` where the system does not let it.
        """
        threads_moved: set[int] = set()
        try:
            # A thread that was started by one not yet moved is met in the next turn.
            while left := {int(task) for task in os.listdir(f"/proc/{self.pid}/task")} - threads_moved:
                for thread in left:
                    with suppress(ProcessLookupError):  # it has ended by itself
                        os.sched_setaffinity(thread, cpus)
                threads_moved |= left
        except OSError as error:
            raise self._fail(f"the child cannot be moved to its CPUs: {error}", "spawn") from error

    def pause(self) -> None:
        """Stop the child where it stands, so that it takes no CPU."""
        os.killpg(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Let a stopped child go on."""
        os.killpg(self.pid, signal.SIGCONT)

    def interrupt(self) -> None:
        """Kill the child from another thread; whoever waits for it learns of its end, and cleans up."""
        if self.alive:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def dismiss(self) -> None:
        """Begin to end the child, without a wait: whoever ends several has them die at the same time."""
        with suppress(ProcessLookupError):
            self._process.terminate()

    def close(self) -> None:
        """Ask the child to leave, and end it when it does not."""
        if self._process.poll() is None:
            with suppress(OSError):
                os.write(self._requests, request_line(0, Quit()))
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE)
        self.kill()

    def kill(self) -> None:
        """End the child and all that it started, and give back its pipes."""
        end(self._process)
        if self._launched.under:
            groups.sweep()  # a room that was killed has removed nothing
        for name in ("_requests", "_answers"):
            descriptor = getattr(self, name)
            if descriptor >= 0:
                setattr(self, name, -1)
                os.close(descriptor)


def _pipe() -> tuple[int, int]:
    """Return both ends of a pipe, neither of them where a child has its stdin, stdout or stderr.

    Those numbers are free in a process that was started without them.
    """
    ends = []
    for low in os.pipe():
        ends.append(fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 3))
        os.close(low)
    return ends[0], ends[1]
