"""Which machines are one: those whose memory is of the same step."""

from __future__ import annotations

from opperf.parent.store.database.rows import memory_step


def test_memory_has_four_steps_from_one_size_to_its_double() -> None:
    assert [memory_step(gigabytes * 2**30) for gigabytes in (0, 1, 2, 4, 16)] == [0, 0, 4, 8, 16]
