"""Where results are written.

* A regular file has its old content or its new one, never a part. It keeps its permissions, and a link its target.
* Anything else (a device, a pipe, a descriptor such as `/dev/stdout`) is written to as it is, and never replaced.
* What cannot be written is one error, with the file's name and the system's reason: `InputError` for a place that
  nothing can be written to, `HarnessError` for a disk that is full or broken.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from opperf.domain.errors import HarnessError, InputError
from opperf.domain.files.scratch import scratch_file

#: What the machine lacks, where nothing is wrong with the place.
_EXHAUSTED = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EPIPE}
_HINTS = {
    **dict.fromkeys((errno.ENOENT, errno.ENOTDIR, errno.EISDIR), "give a file in a folder that exists"),
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "free some space there, or write to another place"),
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
