"""Children of the null framework for tests, forked from a process that has imported their code: a tenth of the CPU.

Its clock is virtual, so that nothing it measures depends on a process being fresh. Any other child is started as ever.
"""

from __future__ import annotations

import ctypes
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from opperf.parent.workers.supervision import launch

FORKED_CHILD = Path(__file__).with_name("forked_child.py")
PR_SET_CHILD_SUBREAPER = 36
#: How the names of variables begin that a process reads when it starts, and then no more.
AT_START = ("PYTHON", "COVERAGE", "LD_", "LC_", "LANG", "MALLOC_", "GLIBC_")


class ForkedChild:
    """The part of `subprocess.Popen` that a `Worker` uses, for a process that became a child of this one."""

    def __init__(self, pid: int, stdout: io.FileIO) -> None:
        self.pid, self.stdout = pid, stdout
        self._code: int | None = None

    def poll(self) -> int | None:
        if self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if pid else None
        return self._code

    def terminate(self) -> None:
        """End it at once, as its supervisor would: it has none."""
        if self.poll() is None:
            os.killpg(self.pid, signal.SIGKILL)

    def wait(self, timeout: float) -> int:
        if self.poll() is None:
            with os.fdopen(os.pidfd_open(self.pid)) as end:
                select.select([end], [], [], timeout)
        if (code := self.poll()) is None:
            raise subprocess.TimeoutExpired("opperf.child", timeout)
        return code


class NullChildren(ExitStack):
    """Starts children of the null framework; it ends the processes that fork them, one for each way Python starts."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._sources: dict[frozenset[tuple[str, str]], socket.socket] = {}

    def launch(
        self, command: Sequence[str], folder: Path, variables: Mapping[str, str], pipes: Sequence[int]
    ) -> subprocess.Popen[bytes] | ForkedChild:
        """Start a child as `supervision.launch` does, by a fork where it is of the null framework."""
        if [*command[:3]] != [sys.executable, "-m", "opperf.child"] or json.loads(command[5])["framework"] != "null":
            return launch(command, folder, variables, pipes)
        request = {"folder": str(folder), "variables": dict(variables), "words": command[5:], "parent": os.getpid()}
        output, prints = _pipe()
        started, starts = _pipe()
        with ExitStack() as failed:
            failed.enter_context(output)
            with prints, started, starts, self._lock, _adopting():
                descriptors = (*pipes, prints.fileno(), starts.fileno())
                socket.send_fds(self._source(folder, variables), [json.dumps(request).encode()], descriptors)
                starts.close()
                pid = started.read()
            assert pid, f"{FORKED_CHILD} forks no more"
            failed.pop_all()
        return ForkedChild(int(pid), output)

    def _source(self, folder: Path, variables: Mapping[str, str]) -> socket.socket:
        """Return the way to the process that was started with variables like these."""
        key = frozenset(
            (name, value.removeprefix(str(folder))) for name, value in variables.items() if name.startswith(AT_START)
        )
        if key not in self._sources:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                process = subprocess.Popen(
                    [sys.executable, FORKED_CHILD, str(theirs.fileno())],
                    cwd=folder,
                    env=variables,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
            self.enter_context(process)
            self._sources[key] = self.enter_context(ours)  # when this closes, that ends
        return self._sources[key]


def _pipe() -> tuple[io.FileIO, io.FileIO]:
    reads, writes = os.pipe()
    return io.FileIO(reads), io.FileIO(writes, "w")


@contextmanager
def _adopting() -> Iterator[None]:
    """Become the parent of processes that lose theirs meanwhile, if this one has started that."""
    prctl = ctypes.CDLL(None).prctl
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
