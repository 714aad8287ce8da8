"""One import for several children: a process imports the framework, and they are forked from it.

To import a framework is most of what a pair takes. Where both sides ask the same of it, one fresh process for each
pair imports it, sets nothing up, and is forked twice; what a side asks for beyond (its mode, its pool of threads, where
its compilers keep what they made) comes after. Pairs stay apart: each has a process, and a layout of memory, of its
own.

Each child may enter a room of its own, as one that is started afresh does. The source stays outside, as it never has a
candidate's code.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from opperf.domain.plan import ATTRIBUTE, EXTRA_CALLS, Side
from opperf.domain.registry import FRAMEWORKS
from opperf.parent.workers.compiled_code import VARIABLES
from opperf.parent.workers.output import Output
from opperf.parent.workers.supervision import GRACE, end, launch

#: How many children a source has, and the bytes of a number that it tells.
CHILDREN, WORD = 2, 4
#: How long a child may take to be forked that is not needed any more, in seconds: so long may an import take.
FORKED = 180.0


def share_import(base: Side, new: Side) -> bool:
    """Whether both sides ask the same of the import of their framework, and a process that made it can be forked.

    A layout of memory begins before the import, and a device may not be opened in two processes by one. What an
    allocator that is left alone does follows from all that it did before: the same in both would be one draw, not two.
    """
    framework = FRAMEWORKS.get(base.framework)
    forks = framework is not None and framework.forks and sys.platform == "linux"
    alike = _import_settings(base) == _import_settings(new)
    return forks and alike and (base.device, base.allocator, base.layout) == ("cpu", "fixed", 0)


def _import_settings(side: Side) -> tuple[object, ...]:
    """List what of a side its framework may meet when it is imported."""
    settings = sorted(
        (name, value) for name, value in side.settings.items() if name != EXTRA_CALLS and not name.startswith(ATTRIBUTE)
    )
    return side.framework, side.environment, side.device, side.threads, side.engine, side.allocator, *settings


class Source:
    """A process that imports a framework, and forks children when it is told of them.

    It starts with the first, and ends after the last of them: of `most`, or when it is retired.
    """

    def __init__(self, most: int | None = CHILDREN) -> None:
        """Start nothing yet."""
        self._most = most
        self._count = 0
        self._living: list[Forked] = []
        self._is_retired = False
        self._requests: socket.socket
        self.process: subprocess.Popen[bytes]
        #: What it printed itself.
        self.output: Output

    @property
    def is_shared(self) -> bool:
        """Whether several of its children live, or are still to be forked."""
        return len(self._living) > 1 and self._most is None

    @property
    def alive(self) -> bool:
        """Whether it forks, or would if it were asked."""
        return not self._is_retired and (self._count == 0 or self.process.poll() is None)

    def launch(
        self, command: Sequence[str], folder: Path | None, variables: Mapping[str, str], pipes: Sequence[int]
    ) -> Forked:
        """Have a child forked, as `supervision.launch` starts one; raises `OSError` where that is not possible."""
        late = {name: text for name, text in variables.items() if name in VARIABLES}
        under, python, words = command[:-7], command[-7], command[-2:]
        if self._count == 0:
            self._start(python, words, folder, {name: text for name, text in variables.items() if name not in late})
        self._count += 1
        room = {"under": under, "room": json.loads(under[-1])} if under else {}
        message = json.dumps({"words": words, "variables": late, "files": pipes[2:], **room}).encode()
        output, prints = _pipe()
        status, writes = _pipe()
        self._living.append(Forked(self, output, status))
        with prints, writes, suppress(ConnectionError):  # one that has died says so by its end
            socket.send_fds(self._requests, [message], [*pipes, prints.fileno(), writes.fileno()])
        forked = self._living[-1]
        if self._count == self._most:
            self.retire()
        return forked

    def _start(self, python: str, side: Sequence[str], folder: Path | None, variables: Mapping[str, str]) -> None:
        self._requests, low = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with low:  # it may have the number of a stream, which a process that was started without has free
            theirs = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 3)
        try:
            self.process = launch([python, "-m", "opperf.child", str(theirs), *side], folder, variables, [theirs])
        except BaseException:
            self._requests.close()
            raise
        finally:
            os.close(theirs)
        assert self.process.stdout is not None
        self.output = Output(self.process.stdout)

    def retire(self) -> None:
        """Have no more children forked."""
        if self._count and not self._is_retired:
            self._requests.close()
        self._is_retired = True
        self._end_alone()

    def close(self) -> None:
        """End it with all its children, however far they are."""
        if self._count:
            end(self.process)
        self.retire()

    def let_go(self, child: Forked) -> None:
        """Know that a child has ended."""
        self._living.remove(child)
        if self._most is not None and not self._living:  # who ends one before there was another wants none
            self.retire()
        self._end_alone()

    def _end_alone(self) -> None:
        """End it, and all that is left of its children, once all have ended."""
        if self._is_retired and self._count and not self._living:
            end(self.process)


class Forked:
    """The part of `subprocess.Popen` that a `Worker` uses, for a child of a source, which tells of it on a pipe.

    Where the child has a room, this is the process outside, which ends as the child does.
    """

    def __init__(self, source: Source, stdout: io.FileIO, status: io.FileIO) -> None:
        self.source, self.stdout, self._status = source, stdout, status
        self._child: int | None = None
        #: With which exit code it has ended, as far as anybody asked.
        self.code: int | None = None

    @property
    def pid(self) -> int:
        """Its process id; that of what runs the source until it is forked."""
        self.poll()
        return self.source.process.pid if self._child is None else self._child

    def poll(self) -> int | None:
        """Return the exit code, None while it runs."""
        while self.code is None and self._is_readable(0.0):
            word = self._status.read(WORD)
            number = int.from_bytes(word or b"", "little")
            if not word:  # it ended with the source
                self._end(self._code_of_source())
            elif self._child is None:
                self._child = number
            else:
                self._end(os.waitstatus_to_exitcode(number))
        return self.code

    def _is_readable(self, seconds: float) -> bool:
        return bool(select.select([self._status], [], [], seconds)[0])

    def _code_of_source(self) -> int:
        with suppress(subprocess.TimeoutExpired):
            return self.source.process.wait(GRACE) or -signal.SIGKILL
        return -signal.SIGKILL

    def _end(self, code: int) -> None:
        self.code = code
        self._status.close()
        self.source.let_go(self)

    def wait(self, timeout: float) -> int:
        """Wait for the exit code; raises `subprocess.TimeoutExpired`."""
        deadline = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if not self._is_readable(max(0.0, deadline - time.monotonic())):
                raise subprocess.TimeoutExpired("opperf.child", timeout)
        return code

    def terminate(self) -> None:
        """Begin to end it; before it is forked, its source, which others wait for it to be where it is theirs too."""
        if self.poll() is None and self._child is None and self.source.is_shared:
            self._is_readable(FORKED)
        if self.poll() is not None:
            return
        if self._child is None:
            self.source.process.terminate()
        else:
            with suppress(ProcessLookupError):  # it leads no group yet
                os.killpg(self._child, signal.SIGKILL)
            os.kill(self._child, signal.SIGKILL)


def _pipe() -> tuple[io.FileIO, io.FileIO]:
    reads, writes = os.pipe()
    return io.FileIO(reads), io.FileIO(writes, "w")
