"""Files of asv, read in a process beside this one a little before they are wanted.

Reading takes as long as writing what was read, and neither lets the other run in one process. A few files are read in
this one, since a process takes a while to start.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeVar

from opperf.domain.errors import HarnessError
from opperf.parent.store.imports.asv import Folder
from opperf.parent.store.imports.builds import Build

T = TypeVar("T")
#: Files that are read before they are wanted, about as many as go into the database at once; half a megabyte each.
AHEAD = 48
#: Bytes from which a process is worth its start.
LARGE = 16 * 1024 * 1024


class Ahead(AbstractContextManager["Ahead"]):
    """Reads the files of a folder in their order."""

    def __init__(self, folder: Folder, *, large: int = LARGE) -> None:
        self._folder, self.files = folder, folder.files()
        size = sum(path.stat().st_size for path in self.files)
        self._is_large = size >= large and (os.cpu_count() or 1) > 1
        self._pool: ProcessPoolExecutor | None = None
        self._futures: dict[int, Future[Build | str]] = {}

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def build(self, number: int, there: Mapping[str, T] | None) -> Build | T:
        """Read a file, or find its content by its digest; raises `InputError`.

        None says that it is not known yet what is there.
        """
        if there is None or not self._is_large:
            return _resolve(self._folder.build(self.files[number], there or {}), there or {})
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                1,
                multiprocessing.get_context("spawn"),
                initializer=_begin,
                initargs=(self._folder, self.files, frozenset(there)),
            )
        for one in range(number, min(number + AHEAD, len(self.files))):
            if one not in self._futures:
                self._futures[one] = self._pool.submit(_read, one)
        try:
            return _resolve(self._futures.pop(number).result(), there)
        except BrokenProcessPool as error:
            raise HarnessError("the process that reads files ended before it answered") from error


def _resolve(build: Build | str, there: Mapping[str, T]) -> Build | T:
    return there[build] if isinstance(build, str) else build


def _begin(folder: Folder, files: Sequence[Path], there: Collection[str]) -> None:
    """Set the process up: it ends with its parent, which Ctrl-C is the business of."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _READING.append((folder, files, there))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


#: What the process reads.
_READING: list[tuple[Folder, Sequence[Path], Collection[str]]] = []


def _read(number: int) -> Build | str:
    folder, files, there = _READING[0]
    return folder.build(files[number], there)
