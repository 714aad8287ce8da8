"""How long threads waited for a processor while something is profiled: told where it was long."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from opperf.child.profiling import waiting
from opperf.child.profiling.waiting import MOST, Reading, Slices, Waiting
from opperf.domain.profile.event import Slice

MILLI = 1_000_000


@pytest.fixture
def counters(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Reading]]:
    """What the process's counters are going to say."""
    said: list[Reading] = []
    monkeypatch.setattr(Reading, "now", lambda: said.pop(0))
    monkeypatch.setattr(waiting, "Lookout", lambda slices: SimpleNamespace(end=lambda: None))
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
        "in 12 profiled s, threads ran 10 s and waited 1.75 s for a CPU: "
        "other processes ran, or there are more threads than CPUs; times include the waiting"
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


def moment(milliseconds: int, **counters: tuple[int, int]) -> Reading:
    """Return what each thread ran and waited until then, in milliseconds."""
    runs = {name: ran * MILLI for name, (ran, _) in counters.items()}
    waits = {name: waited * MILLI for name, (_, waited) in counters.items()}
    return Reading(waits=waits, runs=runs, time=milliseconds * MILLI)


def sliced(*moments: Reading, own: str = "") -> list[tuple[int, ...]]:
    """Return beginnings, ends, and what threads ran and waited, in milliseconds."""
    slices = Slices()
    slices.own = own
    for since, now in pairwise(moments):
        slices.add(since, now)
    return [tuple(value // MILLI for value in (one.begin, one.end, one.ran, one.waited)) for one in slices.as_tuple()]


def test_a_slice_has_what_all_threads_did_but_the_one_that_looks() -> None:
    moments = moment(100, a=(5, 5), look=(0, 0)), moment(120, a=(15, 15), b=(7, 1), look=(3, 9))
    assert sliced(*moments, own="look") == [(100, 120, 17, 11)]


def test_a_wait_is_known_when_it_is_over_and_lies_before_that() -> None:
    moments = moment(100, a=(0, 0)), moment(120, a=(0, 0)), moment(800, a=(0, 0)), moment(820, a=(5, 715))
    assert sliced(*moments) == [(100, 800, 0, 0), (105, 820, 0, 715), (800, 820, 5, 0)]


def test_quiet_stretches_are_joined_and_others_are_not() -> None:
    quiet = [moment(20 * i, a=(20 * i, 0)) for i in range(100)]
    assert sliced(*quiet) == [(0, 980, 980, 0), (980, 1960, 980, 0), (1960, 1980, 20, 0)]
    busy = [moment(20 * i, a=(10 * i, 10 * i)) for i in range(4)]
    assert sliced(*busy) == [(20 * i, 20 * (i + 1), 10, 10) for i in range(3)]


def test_slices_are_bounded_and_lose_no_time() -> None:
    slices = Slices()
    for i in range(3 * MOST):
        slices.add(moment(20 * i, a=(10 * i, 10 * i)), moment(20 * (i + 1), a=(10 * (i + 1), 10 * (i + 1))))
    taken = slices.as_tuple()
    assert len(taken) <= MOST
    assert sum(one.ran for one in taken) == sum(one.waited for one in taken) == 30 * MOST * MILLI


def test_a_thread_of_its_own_looks_and_is_no_thread_of_pythons() -> None:
    threads = threading.active_count()
    watch = Waiting()
    watch.start()
    assert threading.active_count() == threads
    give_up = time.process_time() + 10
    # On a busy machine the thread begins late.
    while not any(one.ran + one.waited for one in watch.slices()) and time.process_time() < give_up:
        pass
    watch.stop()
    slices = watch.slices()
    assert isinstance(slices[0], Slice)
    assert sum(one.ran + one.waited for one in slices) > 0
