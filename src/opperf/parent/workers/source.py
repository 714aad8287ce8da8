"""One import for both children of a pair: a process imports the framework, and both are forked from it.

To import a framework is most of what a pair takes. Where both sides ask the same of it, one fresh process for each
pair imports it, sets nothing up, and is forked twice; what a side asks for beyond (its mode, its pool of threads, where
its compilers keep what they made) comes after. Pairs stay apart: each has a process, and a layout of memory, of its
own.
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
    """A process that imports a framework, and forks the two children of a pair when they are told of.

    It starts with the first, and ends after the last of them.
    """

    def __init__(self) -> None:
        """Start nothing yet."""
        self._children: list[Forked] = []
        self._requests: socket.socket
        self.process: subprocess.Popen[bytes]
        #: What it printed itself.
        self.output: Output

    def launch(
        self, command: Sequence[str], folder: Path | None, variables: Mapping[str, str], pipes: Sequence[int]
    ) -> Forked:
        """Have a child forked, as `supervision.launch` starts one; raises `OSError` where that is not possible."""
        late = {name: text for name, text in variables.items() if name in VARIABLES}
        if not self._children:
            self._start(command, folder, {name: text for name, text in variables.items() if name not in late})
        message = json.dumps({"words": command[-2:], "variables": late}).encode()
        output, prints = _pipe()
        status, writes = _pipe()
        self._children.append(Forked(self, output, status))
        with prints, writes, suppress(ConnectionError):  # one that has died says so by its end
            socket.send_fds(self._requests, [message], [*pipes, prints.fileno(), writes.fileno()])
        if len(self._children) == CHILDREN:
            self._requests.close()
        return self._children[-1]

    def _start(self, command: Sequence[str], folder: Path | None, variables: Mapping[str, str]) -> None:
        self._requests, low = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with low:  # it may have the number of a stream, which a process that was started without has free
            theirs = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 3)
        try:
            words = [*command[:-4], str(theirs), *command[-2:]]
            self.process = launch(words, folder, variables, [theirs])
        except BaseException:
            self._requests.close()
            raise
        finally:
            os.close(theirs)
        assert self.process.stdout is not None
        self.output = Output(self.process.stdout)

    def let_go(self) -> None:
        """End it, and all that is left of its children, once both have ended."""
        if all(child.code is not None for child in self._children):
            self._requests.close()
            end(self.process)


class Forked:
    """The part of `subprocess.Popen` that a `Worker` uses, for a child of a source, which tells of it on a pipe."""

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
        self.source.let_go()

    def wait(self, timeout: float) -> int:
        """Wait for the exit code; raises `subprocess.TimeoutExpired`."""
        deadline = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if not self._is_readable(max(0.0, deadline - time.monotonic())):
                raise subprocess.TimeoutExpired("opperf.child", timeout)
        return code

    def terminate(self) -> None:
        """Begin to end it; before it is forked, its source."""
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
