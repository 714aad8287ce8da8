"""The lock on an output: one command writes there, and any other learns which.

It lies beside the file that is really written, whatever links lead there. The kernel gives it back however its holder
ends, so that a killed command holds nothing up.
"""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

from opperf.domain.codec import decode
from opperf.domain.dataclass import dataclass
from opperf.domain.errors import InputError
from opperf.domain.files.destination import explain_errors, is_regular, prove, shorten
from opperf.domain.files.json_text import value_of
from opperf.parent.store.journal import journal_of

#: The holder writes who it is once it holds the lock: how often to look for that, and the seconds between two looks.
ATTEMPTS, BETWEEN = 20, 0.01
#: The most characters of the holder's command to show.
LONGEST_COMMAND = 200


@dataclass(frozen=True)
class Holder:
    """What the file of a lock says."""

    pid: int
    command: str
    since: str


def check_place(place: Path | None, *, inputs: Iterable[Path | None] = ()) -> None:
    """Raise `InputError` for a place that cannot be written, and for one of the files that the command reads."""
    if place is None:
        return
    if any(_is_same(place, one) for one in inputs if one is not None):
        raise InputError(
            f"`{place}` is an input of this command, so it is not overwritten",
            hint="write to another path",
            slug="output",
        )
    prove(place)


def lock_output(
    output: Path | None,
    command: Sequence[str],
    *,
    force: bool,
    inputs: Iterable[Path | None] = (),
    resume: Path | None = None,
    resumes: bool = False,
) -> OutputLock | None:
    """Return the lock on the place of a result; None where there is nothing to lock, as on a pipe.

    Raises `InputError` for what `check_place` does, for a place that another command holds, and for a file that would
    be overwritten: only `force` does that, and `resume` goes on with it. `resumes` says that the verb knows `--resume`.
    """
    if output is None:
        return None
    check_place(output, inputs=inputs)
    with explain_errors(output):
        if not is_regular(output):
            return None
    if resumes:
        prove(journal_of(output))
    lock = OutputLock(output, command)
    going_on = resume is not None and _is_same(output, resume)
    if not force and not going_on and output.exists() and output.stat().st_size:
        lock.close()
        resuming = f", `--resume {output}` continues it" if resumes else ""
        raise InputError(
            f"`{output}` already exists",
            hint=f"`--force` overwrites it{resuming}; or choose another path",
            slug="output_exists",
        )
    return lock


def _is_same(place: Path, other: Path) -> bool:
    return os.path.realpath(place) == os.path.realpath(other)


class OutputLock:
    """Holds an output from its making until `close`; raises `InputError`, naming the holder, where another has it."""

    def __init__(self, output: Path, command: Sequence[str]) -> None:
        target = Path(os.path.realpath(output))
        self.path = target.with_name(f".{shorten(target.name)}.lock")
        with explain_errors(output):
            self._descriptor = self._lock(output)
            now = datetime.now(timezone.utc).isoformat(timespec="seconds")
            os.truncate(self._descriptor, 0)
            os.pwrite(self._descriptor, json.dumps(vars(Holder(os.getpid(), shlex.join(command), now))).encode(), 0)

    def _lock(self, output: Path) -> int:
        while True:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                holder = _holder(descriptor)
                os.close(descriptor)
                raise InputError(
                    f"`{output}` is being written by {holder}",
                    hint="wait until it has finished, or write to another path",
                    slug="output_held",
                ) from error
            except OSError:
                return descriptor  # a file system without locks
            # Its last holder may have removed the file after it was opened here: then this one locks nothing.
            if self._is_there(descriptor):
                return descriptor
            os.close(descriptor)

    def _is_there(self, descriptor: int) -> bool:
        with suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(descriptor), os.stat(self.path, follow_symlinks=False))
        return False

    def close(self) -> None:
        """Let others write there."""
        if self._descriptor >= 0:
            with suppress(OSError):
                self.path.unlink()
            os.close(self._descriptor)
            self._descriptor = -1


def _holder(descriptor: int) -> str:
    """Say who holds a lock, as its file has it."""
    for _ in range(ATTEMPTS):
        with suppress(ValueError, InputError, OSError):
            holder = decode(Holder, value_of(os.pread(descriptor, 1 << 16, 0)), "lock")
            return f"process {holder.pid} (`{_printable(holder.command)}`), since {_printable(holder.since)}"
        time.sleep(BETWEEN)
    return "another process"


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text[:LONGEST_COMMAND])
