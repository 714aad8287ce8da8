"""CPU time beside the calls: of threads, of processes, and after the return."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Iterator, Sequence
from hashlib import pbkdf2_hmac
from threading import Thread

import pytest
from tests.each import each

from opperf.child.backends.null.runtime import NullBackend
from opperf.child.worker import side_work
from opperf.child.worker.failures import failure
from opperf.child.worker.side_work import Overseer, Times, Unfair
from opperf.domain.plan import Side

MS = 1_000_000


def overseer(monkeypatch: pytest.MonkeyPatch, readings: Sequence[Times], threads: int = 1) -> Overseer:
    """Return an overseer that reads these times."""
    times = iter(readings)
    monkeypatch.setattr(Overseer, "_read", lambda _, closes=False: next(times))
    return Overseer(NullBackend(Side("null", threads=threads)))


def turn(wall: int, cpu: int, own: int) -> list[Times]:
    """Return the readings before and behind a turn, given what it took."""
    return [Times(7, 5, 3), Times(7 + wall, 5 + cpu, 3 + own)]


@each(
    "times, threads",
    [
        (turn(10 * MS, 10 * MS, 10 * MS), 1),
        (turn(10 * MS, 4 * MS, 4 * MS), 1),  # it waited
        (turn(10 * MS, 20 * MS, 10 * MS), 2),
        (turn(10 * MS, 12 * MS, 10 * MS), 1),  # a little more than one CPU
        (turn(4 * MS, 8 * MS, 4 * MS), 1),  # too short to tell
    ],
)
def test_a_function_that_uses_the_cpus_of_its_side_passes(times: Sequence[Times], threads: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        watch = overseer(patch, times, threads)
        watch.begin()
        watch.end()


@each(
    "times, threads, text",
    [
        (turn(10 * MS, 20 * MS, 20 * MS), 1, "used 2.0 CPUs of 1"),
        (turn(10 * MS, 40 * MS, 40 * MS), 2, "used 4.0 CPUs of 2"),
        (
            turn(10 * MS, 10 * MS, 2 * MS),
            1,
            "used threads of its own on a side of one thread: they took 80% of the CPU",
        ),
    ],
)
def test_cpus_that_the_side_has_not_are_named(times: Sequence[Times], threads: int, text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        watch = overseer(patch, times, threads)
        watch.begin()
        with pytest.raises(Unfair) as caught:
            watch.end()
    reason = failure(caught.value).reason
    assert (reason.slug, text in reason.message) == ("extra_cpu", True)
    assert f"threads={threads + 1}" in str(reason.hint)


def test_descendants_that_ended_do_not_hide_what_threads_took(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = [Times(0, 0, 0, 0, 60 * MS), Times(10 * MS, 10 * MS, 2 * MS, 0, 0)]
    watch = overseer(monkeypatch, readings)
    watch.begin()
    with pytest.raises(Unfair, match="they took 80% of the CPU"):
        watch.end()


def test_short_turns_are_judged_together(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = overseer(monkeypatch, turn(3 * MS, 6 * MS, 6 * MS) * 2)
    watch.begin()
    watch.end()
    watch.begin()
    with pytest.raises(Unfair, match=r"used 2\.0 CPUs of 1"):
        watch.end()


def after_calls(late: int) -> list[Times]:
    """Return readings around calls of a millisecond, and behind a rest in which CPU time went on."""
    return [Times(0, 0, 0), Times(MS, MS, MS), Times(11 * MS, MS + late, MS)]


def test_cpu_time_that_goes_on_after_the_return_is_named_if_seen_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_work, "sleep", lambda _: None)
    calls: list[int] = []
    watch = overseer(monkeypatch, after_calls(MS) * 2)
    with pytest.raises(Unfair, match="works on after it has returned: 50% of the CPU time") as caught:
        watch.idle(lambda: calls.append(1))
    assert (caught.value.slug, len(calls)) == ("works_after_return", 2)
    overseer(monkeypatch, after_calls(MS) + after_calls(0)).idle(lambda: None)
    overseer(monkeypatch, after_calls(100_000)).idle(lambda: None)  # as much as a process that sleeps may take


class SlowLooks:
    """A machine on which each reading of a clock takes 12 ms, as one does whose hypervisor has given the CPU away.

    The kernel takes that for CPU time of the thread that reads.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0
        for clock in ("perf_counter_ns", "process_time_ns", "thread_time_ns"):
            monkeypatch.setattr(side_work, clock, self.read)
        monkeypatch.setattr(side_work, "_descendants_ns", lambda _: 0)
        monkeypatch.setattr(side_work, "_threads", lambda: ())
        monkeypatch.setattr(side_work, "sleep", lambda _: None)

    def read(self) -> int:
        self.now += 12 * MS
        return self.now

    def work(self) -> None:
        self.now += MS


def test_what_looking_takes_is_no_work_of_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = SlowLooks(monkeypatch)
    watch = Overseer(NullBackend(Side("null")))
    for _ in range(20):
        watch.begin()
        machine.work()
        watch.end()
    watch.idle(machine.work)


def work() -> None:
    """Compute for some milliseconds, without the interpreter's lock."""
    pbkdf2_hmac("sha256", b"a", b"b", 200_000)


@pytest.fixture(autouse=True)
def no_collection() -> Iterator[None]:
    """No garbage is collected: of all that tests have made, that takes the asking thread far longer than the work."""
    gc.disable()
    yield
    gc.enable()


def test_a_thread_that_computes_is_told_from_the_one_that_calls() -> None:
    watch = Overseer(NullBackend(Side("null")))
    watch.begin()
    thread = Thread(target=work)
    thread.start()
    thread.join()
    with pytest.raises(Unfair, match=r"CPUs of 1|threads of its own"):
        watch.end()


def test_a_process_that_a_call_waits_for_is_its_work() -> None:
    watch = Overseer(NullBackend(Side("null")))
    watch.begin()
    work()
    subprocess.run([sys.executable, "-S", "-c", "sum(range(10**6))"], check=True)
    watch.end()


HELPER = """
import sys
for line in sys.stdin:
    sum(range(10**4))
    print(flush=True)
"""


@pytest.mark.parametrize("clock", ["of its own", "of ticks alone"])
def test_a_process_that_takes_turns_with_its_caller_uses_no_second_cpu(
    clock: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if clock == "of ticks alone":
        monkeypatch.setattr(side_work, "SCHEDULED", 7)  # there is no such clock
    with subprocess.Popen([sys.executable, "-S", "-c", HELPER], stdin=-1, stdout=-1, bufsize=0) as helper:
        assert helper.stdin
        assert helper.stdout
        for _ in range(20):
            watch = Overseer(NullBackend(Side("null")))
            for _ in range(10):
                watch.begin()
                helper.stdin.write(b"\n")
                helper.stdout.readline()
                watch.end()
        helper.stdin.close()
