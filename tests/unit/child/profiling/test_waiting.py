"""How long threads waited for a processor while something is profiled: told where it was long."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from opperf.child.profiling import waiting
from opperf.child.profiling.waiting import Reading, Waiting

MILLI = 1_000_000


@pytest.fixture
def counters(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Reading]]:
    """What the process's counters are going to say."""
    said: list[Reading] = []
    monkeypatch.setattr(Reading, "now", lambda: said.pop(0))
    yield said
    assert not said


def counted(said: list[Reading], *readings: Reading) -> Waiting:
    """Return what was added up between each two readings."""
    said.extend(readings)
    made = Waiting()
    for _ in range(len(readings) // 2):
        made.start()
        made.stop()
    return made


def test_waiting_is_added_up_over_threads_and_the_time_that_was_profiled(counters: list[Reading]) -> None:
    first = (
        Reading(10.0, 1.0, {"7": 50 * MILLI, "8": 10 * MILLI}),
        Reading(20.0, 9.0, {"7": 1050 * MILLI, "9": 500 * MILLI}),  # 8 ended, 9 began
    )
    second = (Reading(50.0, 20.0, {"7": 9000 * MILLI}), Reading(52.0, 22.0, {"7": 9250 * MILLI}))
    made = counted(counters, *first, *second)
    assert made.facts() == {"span": 12.0, "ran": 10.0, "waited": 1.75}
    (note,) = made.notes()
    assert note == (
        "threads waited 1.75 s for a processor and ran 10 s, in 12 s that were profiled: "
        "other processes ran, or more threads than processors; times are longer than the work"
    )


@pytest.mark.parametrize(
    ("ran", "waited", "told"),
    [
        (0.9, 100, True),
        (9.5, 500, True),
        (9.6, 500, False),  # less than a twentieth of the time that they could have run
        (0.1, 99, False),  # a few slices of the scheduler
    ],
)
def test_a_little_waiting_is_not_worth_a_line(ran: float, waited: int, told: bool, counters: list[Reading]) -> None:
    made = counted(counters, Reading(0.0, 0.0, {"7": 0}), Reading(20.0, ran, {"7": waited * MILLI}))
    assert bool(made.notes()) is told


def test_where_the_system_does_not_tell_nothing_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()  # a thread without the file
    for folder in (tmp_path, tmp_path / "none"):
        monkeypatch.setattr(waiting, "TASKS", folder)
        made = Waiting()
        made.start()
        made.stop()
        assert (made.facts(), made.notes()) == ({}, ())


@pytest.mark.skipif(
    not Path("/proc/self/schedstat").exists(), reason="this system does not tell how long threads waited"
)
def test_each_thread_of_this_process_is_read() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert {str(threading.get_native_id()), str(thread.native_id)} <= Reading.now().waits.keys()
    finally:
        done.set()
        thread.join()
