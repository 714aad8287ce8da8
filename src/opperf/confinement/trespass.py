"""Try what a room forbids, and print what came of it as JSON: `python trespass.py TARGETS`.

The targets are a parent that invites it: a process, a port and a socket that listen, files to read and to write. The
answer has `mechanisms`, those that this process has met, and `crimes`, what it was not kept from. It is run by its path
and imports the standard library alone.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

PTRACE_TRACEME = 0
#: In a namespace of their own, processes are counted from one on.
FIRST = 10


def main(targets: Mapping[str, Any]) -> None:
    """Try everything, and say what came of it."""
    attempts: dict[str, Callable[[], object]] = {
        "connect to a port": lambda: socket.create_connection(("127.0.0.1", targets["port"]), 2).close(),
        "send to a port": lambda: _send(targets["port"]),
        "connect to a socket of another program": lambda: _connect(targets["socket"]),
        "connect to a socket in a folder of the user's": lambda: _connect(targets["path"]),
        "write to a folder that it may read": lambda: _write(f"{targets['readable']}/written"),
        "write to a folder of the user's": lambda: _write(f"{targets['outside']}/written"),
        "read a file that is not its own": lambda: _read(targets["secret"]),
        "read a hidden file": lambda: _read(targets["hidden"]),
        "change the mode of the device that it reads from": lambda: _change_mode(0),
        "change the mode of a device": lambda: _change_mode(targets["device"]),
        "send signals to opperf": lambda: os.kill(targets["parent"], 0),
        "read the memory of opperf": lambda: _open(f"/proc/{targets['parent']}/mem"),
    }
    crimes = [name for name, attempt in attempts.items() if _succeeds(attempt)]
    meetings = {
        "namespaces": os.getpid() <= FIRST and not os.path.exists(f"/proc/{targets['parent']}"),
        "landlock": _is_refused(targets["decoy"]),
        "seccomp": _ends_by_filter(),
    }
    print(json.dumps({"mechanisms": [name for name, met in meetings.items() if met], "crimes": crimes}))


def _succeeds(attempt: Callable[[], object]) -> bool:
    with suppress(OSError):
        attempt()
        return True
    return False


def _send(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.sendto(b"written", ("127.0.0.1", port))


def _connect(name: str) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(name)


def _write(path: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write("written")


def _read(path: str) -> None:
    with open(path, encoding="ascii") as file:
        if not file.read():  # a hidden one may be there, and empty
            raise OSError("nothing to read")


def _change_mode(file: str | int) -> None:
    """Give a file the mode that it has, and raise where nothing came of that."""
    before = os.stat(file)
    os.chmod(file, before.st_mode & 0o7777)
    if os.stat(file).st_ctime_ns == before.st_ctime_ns:
        raise OSError("nothing has changed")


def _open(path: str) -> None:
    os.close(os.open(path, os.O_RDWR))


def _is_refused(path: str) -> bool:
    """Whether the kernel refuses a file that its permissions let anyone read."""
    with suppress(FileNotFoundError):
        try:
            os.close(os.open(path, os.O_RDONLY))
        except PermissionError:
            return True
    return False


def _ends_by_filter() -> bool:
    """Whether a forbidden system call ends a process."""
    pid = os.fork()
    if pid == 0:
        ctypes.CDLL(None).ptrace(PTRACE_TRACEME, 0, 0, 0)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGSYS


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
