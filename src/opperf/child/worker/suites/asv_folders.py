"""The folders that benchmarks of asv run in, with what their `setup_cache` made.

It is made once for all processes of a side, as asv makes it once for all benchmarks that share it: they run in one
folder, where it lies in asv's own file, beside whatever files it has left. Any other benchmark runs in an empty folder
of its process.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from opperf.child.worker.suites.imports import digest, shared_folder
from opperf.domain.code import SuiteCode
from opperf.domain.files.destination import folder_until_exit
from opperf.domain.plan import Side

#: Where asv keeps what `setup_cache` returns.
CACHE = "cache.pickle"


class Folders:
    """The folders of a suite's benchmarks on a side."""

    def __init__(self, code: SuiteCode, side: Side) -> None:
        self._shared = shared_folder(code, side)
        self._paths: dict[str | None, Path] = {}

    def path(self, key: str | None) -> Path:
        """Return the folder of benchmarks that share a `setup_cache`, by asv's key; without one, of all others."""
        if key not in self._paths:
            shared = None if key is None else self._shared
            self._paths[key] = folder_until_exit("asv") if shared is None else shared / digest(key)
            self._paths[key].mkdir(parents=True, exist_ok=True)
        return self._paths[key]

    @contextmanager
    def cache(self, key: str) -> Iterator[Path]:
        """Yield the file of what `setup_cache` made, or is to make; other processes wait meanwhile."""
        descriptor = os.open(self.path(key), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield self.path(key) / CACHE
        finally:
            os.close(descriptor)
