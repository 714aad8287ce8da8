"""A file that grows line by line, each on the disk before whatever comes next: it survives what ends the program."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO

from opperf.domain.files.destination import explain_errors


class LineFile:
    """Adds lines to an open file; `path` is what messages call it."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path, self._file = path, file

    def add(self, lines: Iterable[str]) -> None:
        """Append lines, and wait until they are on the disk; raises `HarnessError` where that is full."""
        with explain_errors(self._path):
            for line in lines:
                self._file.write(line.encode() + b"\n")
            self._file.flush()
            try:
                os.fsync(self._file.fileno())
            except OSError as error:
                if error.errno != errno.EINVAL:  # which a pipe answers: it has no disk
                    raise

    def close(self) -> None:
        """Close the file."""
        with suppress(OSError):  # the error was reported when the line was added
            self._file.close()
