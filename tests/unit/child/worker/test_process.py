"""What a child knows of its own memory."""

from __future__ import annotations

import mmap
import sys

import pytest

from opperf.child.measure.host import private_bytes
from opperf.child.worker.process import load_apart

FILLED = 64 << 20


def test_memory_that_was_written_to_is_the_processes_own() -> None:
    before = private_bytes()
    # Not from the heap, which may have as much left of what ran before.
    with mmap.mmap(-1, FILLED, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as held:
        held.write(b"x" * FILLED)
        assert private_bytes() - before > 0.9 * FILLED


def test_a_library_that_python_was_built_without_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "_lzma", None)
    load_apart(1)
