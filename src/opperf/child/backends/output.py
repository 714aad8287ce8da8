"""What C libraries print on the standard output of this process, caught while something runs.

Python's own `redirect_stdout` does not see it: it is written to the file descriptor, through the buffer of the C
library. A file takes it, since a pipe that nobody reads would be full after 64 KiB.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

STDOUT = 1


class OutputCapture:
    """Catches several stretches of output, one after the other, and keeps each as a text."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    @contextmanager
    def catch(self) -> Iterator[None]:
        """Take what is printed until the end of the block."""
        with tempfile.TemporaryFile() as file:
            _flush()
            usual = os.dup(STDOUT)
            os.dup2(file.fileno(), STDOUT)
            try:
                yield
            finally:
                _flush()
                os.dup2(usual, STDOUT)
                os.close(usual)
                file.seek(0)
                self.texts.append(file.read().decode(errors="replace"))


def _flush() -> None:
    sys.stdout.flush()
    ctypes.CDLL(None).fflush(None)
