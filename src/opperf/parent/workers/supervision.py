"""Programs that end with opperf, and leave nothing behind: neither what they have started nor a daemon.

A supervisor of the child's tower runs each as its own child, on Linux. Elsewhere a process group is all there is.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

#: What runs a command under supervision.
SUPERVISION = Path(__file__).parents[2] / "child" / "worker" / "supervision.py"
#: What a child or a build gets to leave by itself, and to be reaped after a kill, in seconds.
GRACE = 2.0


def launch(
    command: Sequence[str],
    folder: Path | None,
    variables: Mapping[str, str],
    pipes: Sequence[int] = (),
    *,
    errors: int = subprocess.STDOUT,
) -> subprocess.Popen[bytes]:
    """Start a program with these pipes, and one for what it prints, which ends with the thread that starts it.

    Raises `OSError` where it cannot be started.
    """
    if shutil.which(command[0], path=variables.get("PATH", os.defpath)) is None:
        code = errno.EACCES if os.path.exists(command[0]) else errno.ENOENT
        raise OSError(code, os.strerror(code), command[0])
    return subprocess.Popen(
        supervised(command),
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        pass_fds=pipes,
        start_new_session=True,
    )


def supervised(command: Sequence[str]) -> list[str]:
    """Return the command under its supervisor, where the system has what that needs."""
    if sys.platform != "linux":
        return [*command]
    return [sys.executable, "-I", "-S", str(SUPERVISION), str(os.getpid()), *command]


def own_ids(pid: int) -> list[int]:
    """Return a process's ids, from that in this process's namespace to that in its own; none where it has ended."""
    with suppress(OSError), open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
        return [int(word) for line in file if line.startswith("NSpid:") for word in line.split()[1:]]
    return []


class Program(Protocol):
    """What is needed of a program to end it."""

    @property
    def pid(self) -> int:
        """The id of its process, which leads a group."""

    def terminate(self) -> None:
        """Begin to end it."""

    def wait(self, timeout: float) -> int:
        """Collect it; raises `subprocess.TimeoutExpired`."""


def end(process: Program) -> None:
    """End a program that was started here with all that it has started, and collect it."""
    with suppress(ProcessLookupError):
        process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)
    # What has no supervisor, or one that does not come to it.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)


def carry_out(
    command: Sequence[str],
    limit: float,
    variables: Mapping[str, str],
    folder: Path | None = None,
    *,
    errors: int = subprocess.PIPE,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, and return what it said; what it leaves running ends with it.

    With `errors` as `subprocess.STDOUT`, what it printed to either is in its output, in that order.

    Raises `subprocess.TimeoutExpired` where it does not end within `limit` seconds, and `OSError` where it cannot be
    started.
    """
    with launch(command, folder, variables, errors=errors) as process:
        try:
            output, apart = process.communicate(timeout=limit)
        except BaseException:
            end(process)
            raise
    return subprocess.CompletedProcess(
        command, process.returncode, output.decode(errors="replace"), (apart or b"").decode(errors="replace")
    )
