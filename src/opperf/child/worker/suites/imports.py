"""What a process notes of the files that it imports, so that one which ends it is known and left out by the next."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import TextIO

from opperf.child.worker.code import FatalImport
from opperf.domain.code import SuiteCode
from opperf.domain.fatal_imports import NOTE, fatal_imports, fatal_reason, note_of
from opperf.domain.plan import Side


def digest(value: object) -> str:
    """Return a short name for a value."""
    return sha256(repr(value).encode()).hexdigest()[:16]


def shared_folder(code: SuiteCode, side: Side) -> Path | None:
    """Return the folder that all processes of a side share, None where they share nothing."""
    return None if code.shared is None else Path(code.shared, digest(side.process))


class Imports:
    """The files of a suite as a side imports them; those that have ended a process before are `fatal`."""

    def __init__(self, code: SuiteCode, side: Side) -> None:
        self._folder = shared_folder(code, side)
        self.fatal = {} if self._folder is None else fatal_imports(self._folder)
        self._limit: float | None = None
        self._note: TextIO | None = None
        self._process = os.getpid()

    def check(self, name: str) -> None:
        """Raise `FatalImport` for a file that has ended a process, and for a benchmark of such a file."""
        reason = fatal_reason(name, self.fatal)
        if reason is not None:
            raise FatalImport(reason)

    @contextmanager
    def noted(self, limit: float | None) -> Iterator[None]:
        """Note each file that `begin` names meanwhile, and end the process where one takes more than so many seconds.

        Its import may hold the interpreter's lock, or sit in native code: only the process as a whole ends then.
        """
        if self._folder is None:
            yield
            return
        import faulthandler  # whoever only measures starts without it

        self._folder.mkdir(parents=True, exist_ok=True)
        path, was_enabled = self._folder / NOTE, faulthandler.is_enabled()
        self._limit = limit
        with open(path, "w", encoding="utf-8") as self._note:
            faulthandler.enable(self._note)
            try:
                yield
            finally:
                faulthandler.cancel_dump_traceback_later()
                faulthandler.disable()
                if was_enabled:
                    faulthandler.enable(2)  # where stderr is, whatever `sys.stderr` is by now
                self._note = None
                if os.getpid() == self._process:  # else a copy that the files have made and let go on
                    with suppress(FileNotFoundError):
                        path.unlink()

    def begin(self, name: str) -> None:
        """Note that a file comes next, inside `noted`; raises `FatalImport` for one that has ended a process."""
        self.check(name)
        if self._note is None or os.getpid() != self._process:
            return
        import faulthandler

        self._note.seek(0)
        self._note.truncate()
        self._note.write(note_of(name, self._limit))
        self._note.flush()
        if self._limit is not None:
            faulthandler.dump_traceback_later(self._limit, exit=True, file=self._note)
