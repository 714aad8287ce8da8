"""What a child knows of its own memory."""

from __future__ import annotations

import mmap

from opperf.child.worker.process import private_bytes

FILLED = 64 << 20


def test_memory_that_was_written_to_is_the_processes_own() -> None:
    before = private_bytes()
    # Not from the heap, which may have as much left of what ran before.
    with mmap.mmap(-1, FILLED, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as held:
        held.write(b"x" * FILLED)
        assert private_bytes() - before > 0.9 * FILLED
