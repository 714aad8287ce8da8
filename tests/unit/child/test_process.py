"""What a child knows of its own memory."""

from __future__ import annotations

from opperf.child.process import private_bytes

FILLED = 64 << 20


def test_memory_that_was_written_to_is_the_processes_own() -> None:
    before = private_bytes()
    held = bytearray(b"x") * FILLED
    assert private_bytes() - before > 0.9 * len(held)
