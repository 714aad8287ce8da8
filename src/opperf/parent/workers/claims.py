"""One command at a time on a device: a lock that the command's process holds, so that none outlives it.

A device serves several processes in turn, without a word to either, and both read times of both. A record lock of POSIX
tells who holds it, and is held by a process alone, not by the children that it forks. Its file lies where every user
finds it, and is empty. In another container a command has a folder of its own, and is not seen.
"""

from __future__ import annotations

import fcntl
import os
import re
import struct
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from opperf.domain.errors import InputError
from opperf.domain.plan import Side
from opperf.parent.workers import gpus
from opperf.parent.workers.passwords import hide_passwords

FOLDER = Path("/tmp")
#: What fcntl.h calls `struct flock` on 64-bit Linux: kind, place, and at the end the process that holds a lock.
RECORD_LOCK = struct.Struct("hhqqi4x")
#: What the name of a file has none of.
_OTHERS = re.compile(r"[^\w.-]")
#: The characters of a command that a message shows.
MOST_SHOWN = 100


class InUse(Exception):
    """Another process, of this id, holds the lock; 0 where it is not seen from here."""

    def __init__(self, pid: int) -> None:
        super().__init__(pid)
        self.pid = pid


class Locks:
    """The locks of this process by their files."""

    def __init__(self) -> None:
        self._descriptors: dict[Path, int] = {}
        self._calls = 0
        self._turn = threading.Lock()

    def take(self, file: Path) -> None:
        """Take a lock, or keep it; raises `InUse`, and `OSError` where there can be none."""
        with self._turn:
            if file not in self._descriptors:
                self._descriptors[file] = _lock(file)

    @contextmanager
    def until_end(self) -> Iterator[None]:
        """Give all back behind a call, or the last of several: a program that uses the library goes on."""
        with self._turn:
            self._calls += 1
        try:
            yield
        finally:
            with self._turn:
                self._calls -= 1
                while not self._calls and self._descriptors:
                    os.close(self._descriptors.popitem()[1])


LOCKS = Locks()


def claim(sides: Iterable[Side], *, shared: bool, note: Callable[[str], None]) -> None:
    """Have the devices of sides for this command, to its end: what is between its parts is nobody else's.

    The CPU is everybody's, and the null framework's device is none. Where another command has one, `note` is told if it
    may be `shared`. Raises `InputError` if not.
    """
    devices = {gpus.identity(side): side.device for side in sides if side.device != "cpu" and side.framework != "null"}
    for name, device in devices.items():
        try:
            LOCKS.take(FOLDER / f"opperf-{_OTHERS.sub('-', name)}.lock")
        except InUse as other:
            text = f"{_holder(other.pid)} measures on `{device}`, which serves both in turn"
            if not shared:
                hint = "wait for it, name another device, or measure beside it: `--share-device`"
                raise InputError(text, hint=hint, slug="device_in_use") from other
            note(f"warning: {text}")
        except OSError as error:
            note(f"warning: nobody is kept from measuring on `{device}` at the same time: {error}")


def _lock(file: Path) -> int:
    """Return a descriptor of the file that holds its lock."""
    descriptor = _open(file)
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        pid = _pid(descriptor)
        os.close(descriptor)
        if isinstance(error, (BlockingIOError, PermissionError)):  # POSIX knows both
            raise InUse(pid) from error
        raise
    return descriptor


def _open(file: Path) -> int:
    """Open the file that each user may lock; whoever is first makes it."""
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    while True:
        with suppress(FileNotFoundError):
            return os.open(file, flags)  # without a word of making it: in a folder of all, Linux refuses that
        with suppress(FileExistsError):
            descriptor = os.open(file, flags | os.O_CREAT | os.O_EXCL)
            os.fchmod(descriptor, 0o666)
            return descriptor


def _pid(descriptor: int) -> int:
    """Return the process that holds the lock of a file; 0 where nobody tells."""
    if sys.platform != "linux":
        return 0
    question = RECORD_LOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    return int(RECORD_LOCK.unpack(fcntl.fcntl(descriptor, fcntl.F_GETLK, question))[-1])


def _holder(pid: int) -> str:
    """Describe a process by its user, and its command without passwords, fit to be shown."""
    try:
        process = psutil.Process(pid)
        words, user = process.cmdline(), process.username()
    except (psutil.Error, ValueError):
        return "another command" if pid <= 0 else f"another command (process {pid})"
    names = map(os.path.basename, words[:2])  # of Python, and of what it runs
    text = " ".join(map(hide_passwords, (*names, *words[2:])))
    command = "".join(one if one.isprintable() else "?" for one in text)[:MOST_SHOWN]
    return f"process {pid} of {user} (`{command}`)"
