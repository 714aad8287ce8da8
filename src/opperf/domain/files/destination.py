"""Where results are written.

* A regular file has its old content or its new one, never a part. It keeps its permissions, and a link its target.
* Anything else (a device, a pipe, a descriptor such as `/dev/stdout`) is written to as it is, and never replaced.
* What cannot be written is one error, with the file's name and the system's reason: `InputError` for a place that
  nothing can be written to, `HarnessError` for a disk that is full or broken.
"""

from __future__ import annotations

import atexit
import errno
import fcntl
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from opperf.domain.errors import HarnessError, InputError

#: Bytes of a file's name that the name of its scratch file repeats: a name ends at 255.
NAME_BYTES = 180
_NAME = re.compile(r"(?:\..*\.)?opperf-(?:[a-z]+-)?(\d{1,10})-[0-9a-f]{8}", re.DOTALL)


@contextmanager
def scratch_file(beside: Path) -> Iterator[tuple[int, Path]]:
    """Make an empty private file next to another; it is removed at the end unless it was renamed.

    Yields its descriptor and its path. No link that lies there is followed.
    """
    sweep(beside.parent)
    path = beside.with_name(f".{shorten(beside.name)}.{_own_name()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o666)
    try:
        _hold(descriptor)
        yield descriptor, path
    finally:
        with suppress(FileNotFoundError):
            path.unlink()
        os.close(descriptor)


def ensure_private(folder: Path) -> None:
    """Make a folder, and those that it lies in, for this user alone, whatever the umask: what is in it may be run.

    What is there already stays as it is.
    """
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        with suppress(FileExistsError):  # another process was faster
            one.mkdir(mode=0o700)
    folder.mkdir(exist_ok=True)  # raises for a file


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


def folder_until_exit(kind: str) -> Path:
    """Return a folder of a `kind` that is gone with this process; of one that is killed, a later one removes it."""
    folder = ScratchFolder(kind)
    atexit.register(folder.close)
    return folder.path


def shorten(name: str) -> str:
    """Return a file's name, shortened to leave room for a suffix."""
    return os.fsdecode(os.fsencode(name)[:NAME_BYTES])


def sweep(folder: Path) -> None:
    """Remove the scratch in a folder whose process is gone, of this user alone."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = _NAME.fullmatch(entry.name)
            if match is not None and not _lives(int(match[1])):
                with suppress(OSError):
                    _remove(Path(entry.path))


def _own_name(kind: str = "") -> str:
    return f"opperf-{kind}{os.getpid()}-{os.urandom(4).hex()}"


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


#: What the machine lacks, where nothing is wrong with the place.
_EXHAUSTED = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EPIPE}
_HINTS = {
    **dict.fromkeys((errno.ENOENT, errno.ENOTDIR, errno.EISDIR), "give a file in a folder that exists"),
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "free some space there, or write to another path"),
    errno.ENAMETOOLONG: "give a shorter name",
}
#: As many links lead from one to the next before the kernel gives up.
_MOST_LINKS = 40


def write_text(path: Path, text: str) -> None:
    """Write a regular file whole or not at all, and anything else as a stream."""
    write_parts(path, (text.encode(),))


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """Write what comes bit by bit as `write_text` does."""
    with explain_errors(path):
        descriptor = _stream(path)
        if descriptor is None:
            _replace(_target(path), parts)
        else:
            with os.fdopen(descriptor, "wb") as stream:
                stream.writelines(parts)


def prove(path: Path) -> None:
    """Raise what `write_text` would: the file that it makes first is really made, and removed.

    Of anything but a regular file, only the permissions are checked: opening it may wake its reader.
    """
    with explain_errors(path):
        own = _own_descriptor(path)
        if own is not None:
            if fcntl.fcntl(own, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
                raise _refuse(errno.EBADF)
        elif is_regular(path):
            target = _target(path)
            _check_access(target)
            with scratch_file(target):
                pass
        else:
            _check_access(path)


def is_regular(path: Path) -> bool:
    """Whether a place is, or can become, a regular file; raises `OSError` for a folder or an unusable place."""
    if _own_descriptor(path) is not None:
        return False
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return True
    if stat.S_ISDIR(mode):
        raise _refuse(errno.EISDIR)
    return stat.S_ISREG(mode)


@contextmanager
def explain_errors(path: Path) -> Iterator[None]:
    """Raise what the system says of a place as an error of opperf."""
    try:
        yield
    except OSError as error:
        kind = HarnessError if error.errno in _EXHAUSTED else InputError
        hint = _HINTS.get(error.errno or 0)
        raise kind(f"cannot write `{path}`: {error.strerror or error}", hint=hint, slug="output") from error


def _stream(path: Path) -> int | None:
    """Return a descriptor of anything but a regular file."""
    own = _own_descriptor(path)
    if own is not None:
        return os.dup(own)
    return None if is_regular(path) else os.open(path, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)


def _own_descriptor(path: Path) -> int | None:
    """Return the descriptor of this process that a path names, as `/dev/stdout` does; None for other paths.

    What it stands for may be a regular file, which must not be replaced: the shell that opened it would keep the old.
    """
    current = os.path.abspath(path)
    for _ in range(_MOST_LINKS):
        folder, name = os.path.realpath(os.path.dirname(current)), os.path.basename(current)
        if name.isdecimal() and re.fullmatch(rf"/proc/{os.getpid()}(/task/\d+)?/fd", folder):
            return int(name)
        current = os.path.join(folder, name)
        if not os.path.islink(current):
            return None
        current = os.path.join(folder, os.readlink(current))
    return None


def _target(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _check_access(path: Path) -> None:
    if path.exists() and not os.access(path, os.W_OK):
        raise _refuse(errno.EACCES)


def _refuse(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def _replace(target: Path, parts: Iterable[bytes]) -> None:
    _check_access(target)
    before = target.stat() if target.exists() else None
    with scratch_file(target) as (descriptor, temporary):
        if before is not None:
            with suppress(PermissionError):  # only root gives files away
                os.fchown(descriptor, before.st_uid, before.st_gid)
            os.fchmod(descriptor, stat.S_IMODE(before.st_mode))
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(descriptor)
        temporary.replace(target)
