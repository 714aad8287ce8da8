"""What fresh pages of memory cost while something is profiled: told where they cost much."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from opperf.child.profiling.recording import FreshMemory, Usage
from opperf.domain.profile.watching import FRESH


@pytest.fixture
def counters(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Usage]]:
    """What the process's counters are going to say."""
    said: list[Usage] = []
    monkeypatch.setattr(Usage, "now", lambda: said.pop(0))
    yield said
    assert not said


def counted(said: list[Usage], *readings: Usage) -> FreshMemory:
    """Return what was added up between each two readings."""
    said.extend(readings)
    fresh = FreshMemory()
    for _ in range(len(readings) // 2):
        fresh.start()
        fresh.stop()
    return fresh


def test_what_the_system_did_is_added_up_over_the_time_that_was_profiled(counters: list[Usage]) -> None:
    first = (Usage(10.0, 1.0, 100), Usage(12.0, 1.5, 30_100))
    second = (Usage(50.0, 9.0, 50_000), Usage(51.0, 9.25, 60_000))
    (note,) = counted(counters, *first, *second).notes()
    assert "worked for 0.75 of 3 profiled s and handed out 40000 fresh pages" in note
    assert FRESH in note


def test_a_little_work_of_the_system_is_not_worth_a_line(counters: list[Usage]) -> None:
    assert counted(counters, Usage(0.0, 0.0, 0), Usage(10.0, 0.9, 10_000)).notes() == ()


def test_work_of_the_system_for_something_else_than_memory_is_none_of_it(counters: list[Usage]) -> None:
    assert counted(counters, Usage(0.0, 0.0, 7), Usage(1.0, 0.9, 9_000)).notes() == ()


def test_nothing_profiled_is_nothing_told() -> None:
    assert FreshMemory().notes() == ()


def test_pages_that_this_process_touches_are_counted() -> None:
    import mmap

    fresh = FreshMemory()
    fresh.start()
    with mmap.mmap(-1, 64 * 1024 * 1024) as block:
        for place in range(0, len(block), mmap.PAGESIZE):
            block[place] = 1
    fresh.stop()
    assert fresh._sum.pages >= 100  # the system may hand out large pages
    assert 0 < fresh._sum.system <= fresh._sum.passed
