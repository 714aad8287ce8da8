"""Children for tests, forked from a process that has imported their code and their framework: a tenth of the CPU.

For tests of what is computed and reported. The null framework has a virtual clock, so that nothing it measures depends
on a process being fresh. How long calls of the others take does, so that a test that looks at more than whether they
were timed needs fresh ones. A child that may not be forked is started as ever.
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
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeAlias

from opperf.domain.plan import PLACING, Side
from opperf.parent.workers.compiled_code import VARIABLES
from opperf.parent.workers.supervision import launch

FORKED_CHILD = Path(__file__).with_name("forked_child.py")
PR_SET_CHILD_SUBREAPER = 36
#: The frameworks that start no thread when they are imported, so that a process with them can be forked.
FRAMEWORKS = ("null", "numpy", "torch", "mxnet", "jax", "tensorflow")
#: How the names of devices begin that survive a fork: the CPU, and that of `devices/late.py`. A GPU's driver does not.
FORKABLE = ("cpu", "late:")
#: How the names of variables begin that no framework reads, nor Python when it starts.
OTHERS = ("OPPERF_", "PYTEST_", "COLUMNS", "PWD")
#: How the names of variables begin that Python and the C library read when they start.
AT_START = ("PYTHON", "LD_", "MALLOC_", "GLIBC_", "LANG", "LC_", "TZ")
#: And those that a framework reads when it is imported, where that is known: the null framework reads none.
READ = {"null": AT_START, "numpy": (*AT_START, "NPY_", "NUMPY_", "OPENBLAS_", "GOTO_", "BLIS_", "MKL_", "OMP_", "KMP_")}
#: What is read when a program is first compiled, or a primitive first made, after all imports: children that differ in
#: it are forked from one.
LATE = frozenset({"XLA_FLAGS", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", *VARIABLES})
#: The most processes to fork from at a time that have the same framework in memory: tests take turns with all of them.
MOST = 3
#: What decides of which process a child is forked.
Key: TypeAlias = tuple[object, ...]


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


class ForkedChildren(ExitStack):
    """Starts children; it ends the processes that fork them, one for each framework and way in which it starts."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        #: The processes to fork from, the one that was asked last at the end.
        self.sources: OrderedDict[Key, Source] = OrderedDict()
        self.callback(self._end)

    def launch(
        self, command: Sequence[str], folder: Path, variables: Mapping[str, str], pipes: Sequence[int]
    ) -> subprocess.Popen[bytes] | ForkedChild:
        """Start a child as `supervision.launch` does, by a fork where it may be one."""
        key = _key(command, folder, variables, pipes)
        if key is None:
            return launch(command, folder, variables, pipes)
        request = {"folder": str(folder), "variables": dict(variables), "words": command[5:], "parent": os.getpid()}
        output, prints = _pipe()
        started, starts = _pipe()
        with ExitStack() as failed:
            failed.enter_context(output)
            with prints, started, starts, self._lock, _adopting():
                descriptors = (*pipes, prints.fileno(), starts.fileno())
                source = self._source(key, command, folder, variables)
                socket.send_fds(source.requests, [json.dumps(request).encode()], descriptors)
                starts.close()
                pid = started.read()
            assert pid, f"{FORKED_CHILD} forks no more"
            failed.pop_all()
        return ForkedChild(int(pid), output)

    def _source(self, key: Key, command: Sequence[str], folder: Path, variables: Mapping[str, str]) -> Source:
        if key not in self.sources:
            self.sources[key] = Source(command, folder, variables)
        self.sources.move_to_end(key)
        alike = [other for other in self.sources if other[1] == key[1]]
        for oldest in alike[:-MOST]:
            self.sources.pop(oldest).close()
        return self.sources[key]

    def _end(self) -> None:
        while self.sources:
            self.sources.popitem()[1].close()


class Source(ExitStack):
    """A process that children are forked from, and the way to it."""

    def __init__(self, command: Sequence[str], folder: Path, variables: Mapping[str, str]) -> None:
        super().__init__()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            process = subprocess.Popen(
                [command[0], FORKED_CHILD, str(theirs.fileno()), command[5]],
                cwd=folder,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self.enter_context(process)
        self.requests = self.enter_context(ours)  # when this closes, that ends


def _key(command: Sequence[str], folder: Path, variables: Mapping[str, str], pipes: Sequence[int]) -> Key | None:
    """Return what decides of which process a child is forked; None where it has to be a fresh one.

    It has where its command runs in a room, and where the process itself is laid out before it imports the framework.
    """
    if [*command[1:3]] != ["-m", "opperf.child"] or len(pipes) > 2:
        return None
    side = Side.from_json(json.loads(command[5]))
    if side.framework not in FRAMEWORKS or not side.device.startswith(FORKABLE):
        return None
    if side.framework != "null" and (side.layout or PLACING in variables):
        return None
    own = sorted(
        (name, text.removeprefix(str(folder)))
        for name, text in variables.items()
        if not name.startswith(OTHERS) and name not in LATE and name.startswith(READ.get(side.framework, ""))
    )
    folder_of_python, name = os.path.split(command[0])
    python = os.path.join(os.path.realpath(folder_of_python), name)  # the same one, whichever cache leads there
    if side.framework == "null":
        return python, side.framework, *own
    # Variables of a side are among those that its child gets.
    settings = sorted((name, text) for name, text in side.settings.items() if not name.startswith("env."))
    return python, side.framework, side.threads, side.allocator, side.engine, *settings, *own


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
