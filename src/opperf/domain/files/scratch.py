"""Scratch files and folders, which never outlive the process that made them.

The name of each carries the process's id, and the process holds a lock on it, which the kernel gives back however the
process ends. The next process that makes scratch in the same folder removes what a killed process left.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: Bytes of a file's name that the name of its scratch file repeats: a name ends at 255.
REPEATED = 180
_NAME = re.compile(r"(?:\..*\.)?opperf-(?:[a-z]+-)?(\d{1,10})-[0-9a-f]{8}", re.DOTALL)


@contextmanager
def scratch_file(beside: Path) -> Iterator[tuple[int, Path]]:
    """Make an empty private file next to another; it is removed at the end unless it was renamed.

    Yields its descriptor and its path. No link that lies there is followed.
    """
    sweep(beside.parent)
    path = beside.with_name(f".{shortened(beside.name)}.{_own_name()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o666)
    try:
        _hold(descriptor)
        yield descriptor, path
    finally:
        with suppress(FileNotFoundError):
            path.unlink()
        os.close(descriptor)


class ScratchFolder:
    """A folder of a `kind`, by default where the system keeps what is temporary; `close` removes it."""

    def __init__(self, kind: str, folder: Path | None = None) -> None:
        folder = Path(tempfile.gettempdir()) if folder is None else folder
        sweep(folder)
        self.path = folder / _own_name(f"{kind}-")
        self.path.mkdir(mode=0o700)
        self._descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        _hold(self._descriptor)

    def close(self) -> None:
        """Remove the folder with all that is in it."""
        if self._descriptor >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._descriptor)
            self._descriptor = -1


def shortened(name: str) -> str:
    """Return a file's name, shortened to leave room for a suffix."""
    return os.fsdecode(os.fsencode(name)[:REPEATED])


def sweep(folder: Path) -> None:
    """Remove the scratch in a folder whose process is gone, of this user alone."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = _NAME.fullmatch(entry.name)
            if match is not None and not _lives(int(match[1])):
                with suppress(OSError):
                    _remove(Path(entry.path))


def _own_name(kind: str = "") -> str:
    return f"opperf-{kind}{os.getpid()}-{secrets.token_hex(4)}"


def _hold(descriptor: int) -> None:
    """Lock what was just made; where the file system has no locks, the process's id must do."""
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # another user's
        return True
    return True


def _remove(path: Path) -> None:
    """Remove unlocked scratch; the process that locks it may run in another container, invisible to this one."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        about = os.fstat(descriptor)
        if about.st_uid != os.geteuid():
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if stat.S_ISDIR(about.st_mode):
            shutil.rmtree(path, ignore_errors=True)
        elif stat.S_ISREG(about.st_mode):
            path.unlink()
    finally:
        os.close(descriptor)
