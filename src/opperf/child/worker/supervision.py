"""Run a command so that nothing it starts outlives it, or whoever asked: `python supervision.py PARENT WORD...`.

This process waits, and the command is its child, in a session of its own. Whatever loses its parent below becomes a
child of this process, in whichever session it is. All of them are killed when the command ends, when PARENT does,
whatever ended that, and when SIGTERM asks for it. Then this process ends as the command did.

It is run by its path, in the parent's Python, and imports the standard library alone: each child waits for its start.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
#: What is waited for: the end of a child, or a word to end.
WATCHED = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
#: What Python ignores, and no program expects to be ignored.
IGNORED = (signal.SIGPIPE, signal.SIGXFSZ)
#: The exit code of a command that does not start, as shells have it.
NOT_STARTED = 127


def die_with(parent: int, number: int = signal.SIGKILL) -> None:
    """Have the kernel send a signal when the parent dies, also in native code that holds the interpreter's lock."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)
    if os.getppid() != parent:  # it died before the kernel was asked
        os._exit(1)


def main(parent: int, command: list[str]) -> None:
    """Run a command to its end, or to that of the parent; does not return."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored, nobody can be waited for
    die_with(parent, signal.SIGTERM)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    process = os.getpid()
    child = os.fork()
    if child == 0:
        os.setsid()
        die_with(process)
        for number in IGNORED:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        _become(command)
    _let_go()
    _leave_as(_end_all(child, _wait(child)))


def _become(command: list[str]) -> None:
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"cannot start `{command[0]}`: {error.strerror}\n".encode())
    os._exit(NOT_STARTED)


def _let_go() -> None:
    """Hold none of the pipes: whoever reads from one waits until nobody has its other end."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if descriptor > 2:
            with suppress(OSError):  # that of the listing itself
                os.close(descriptor)


def _wait(child: int) -> int | None:
    """Return the status with which the child ended, None where it is to be ended."""
    while signal.sigwait(WATCHED) == signal.SIGCHLD:
        pid = -1
        while pid:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == child:
                return status
    return None


def _end_all(child: int, status: int | None) -> int:
    """Kill all that is left, and return the child's status. Whoever loses its parent meanwhile has its turn next."""
    while True:
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        killed = [pid for pid in _children() if _kill(pid)]
        if not killed:
            return signal.SIGKILL if status is None else status
        for pid in killed:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _children() -> Iterator[int]:
    """Yield the children of this process. Source: proc(5), `/proc/PID/stat`."""
    process = os.getpid()
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                if int(file.read().rpartition(b")")[2].split()[1]) == process:
                    yield int(name)


def _kill(pid: int) -> bool:
    """Whether a process could be killed: one that belongs to another user cannot."""
    with suppress(OSError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False


def _leave_as(status: int) -> None:
    """End as a process with this status did."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the child has left its own
        with suppress(OSError):  # SIGKILL is what it is
            signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
