"""What the machine did, as the kernel tells it, and which samples it spoilt."""

from __future__ import annotations

import gc
import mmap
import os
import resource
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.each import each

from opperf.child.measure.disturbance import NoCounters, ProcessCounters, Reading, clean
from opperf.domain.measurement import Sample

MS = 1_000_000
#: Longer than a busy machine keeps a thread from beginning to wait: what begins at the end does not. Seconds.
WAIT = 0.05
needs_schedstat = pytest.mark.skipif(
    not Path("/proc/self/schedstat").exists(), reason="this kernel does not say how long threads wait"
)


@each(
    ("sample", "threads", "expected"),
    [
        (Sample(1, MS, MS), 1, True),
        (Sample(1, MS, MS, switches=1), 1, False),
        (Sample(1, MS, MS, faults=1000), 1, True),
        (Sample(1, MS, MS, waiting_ns=50_000), 1, True),
        (Sample(1, MS, MS, waiting_ns=50_001), 1, False),
        (Sample(1, 100 * MS, MS, switches=1), 1, False),
        # Several threads: a quarter of a switch for each thread and millisecond, and 5 % of their time together.
        (Sample(1, MS, MS, switches=1), 4, True),
        (Sample(1, MS, MS, switches=2), 4, False),
        (Sample(1, 10 * MS, MS, switches=10), 4, True),
        (Sample(1, 10 * MS, MS, switches=11), 4, False),
        (Sample(1, MS, MS, waiting_ns=200_000), 4, True),
        (Sample(1, MS, MS, waiting_ns=200_001), 4, False),
    ],
)
def test_a_sample_is_clean_by_the_rule_of_its_threads(sample: Sample, threads: int, expected: bool) -> None:
    assert clean(sample, threads) is expected


def test_counters_of_a_virtual_clock_stand_still() -> None:
    assert NoCounters().read() == Reading(0, 0, None)


@pytest.fixture
def counters():  # type: ignore[no-untyped-def]
    """The counters of this process; their files are closed at the end."""
    result = ProcessCounters()
    yield result
    result.close()


def test_the_counters_never_fall(counters: ProcessCounters) -> None:
    before, after = counters.read(), counters.read()
    assert after.switches >= before.switches
    assert after.faults >= before.faults
    assert (after.waiting_ns or 0) >= (before.waiting_ns or 0)


@pytest.mark.parametrize("wait", ["timer", "pipe", "lock", "process"])
def test_a_call_that_waits_gives_up_the_cpu_of_its_own_accord(wait: str, counters: ProcessCounters) -> None:
    reading, writing = os.pipe()
    lock = threading.Lock()
    calls: dict[str, Callable[[], object]] = {
        "timer": lambda: time.sleep(WAIT),
        "pipe": lambda: select.select([reading], [], [], WAIT),
        "lock": lambda: lock.acquire(timeout=WAIT),
        "process": lambda: subprocess.run([sys.executable, "-c", ""], check=True),
    }
    with lock:
        before = counters.read().voluntary
        calls[wait]()
        assert counters.read().voluntary > before
    os.close(reading)
    os.close(writing)


def test_a_process_that_a_call_waited_for_is_disturbed_with_it(
    counters: ProcessCounters, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = {resource.RUSAGE_SELF: SimpleNamespace(ru_nivcsw=3, ru_nvcsw=5, ru_minflt=7)}
    usage[resource.RUSAGE_CHILDREN] = SimpleNamespace(ru_nivcsw=20, ru_nvcsw=50, ru_minflt=70)
    monkeypatch.setattr(resource, "getrusage", usage.__getitem__)
    reading = counters.read()
    assert (reading.switches, reading.voluntary, reading.faults) == (23, 5, 7)


def test_touching_fresh_pages_is_counted(counters: ProcessCounters) -> None:
    pages = 256
    before = counters.read().faults
    with mmap.mmap(-1, pages * mmap.PAGESIZE) as memory:
        if hasattr(mmap, "MADV_NOHUGEPAGE"):
            memory.madvise(mmap.MADV_NOHUGEPAGE)
        for page in range(pages):
            memory[page * mmap.PAGESIZE] = 1
    assert counters.read().faults - before >= pages


@needs_schedstat
def test_the_wait_is_the_second_field_of_schedstat_over_all_threads(counters: ProcessCounters) -> None:
    def told() -> int:
        tasks = Path("/proc/self/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[1]) for task in tasks)

    before = told()
    counters.watch()
    seen = counters.read().waiting_ns
    assert seen is not None
    assert before <= seen <= told()


@needs_schedstat
def test_watching_finds_threads_that_have_started_since(counters: ProcessCounters) -> None:
    here = len(counters._files)
    release = threading.Event()
    thread = threading.Thread(target=release.wait)
    thread.start()
    try:
        assert len(counters._files) == here
        counters.watch()
        assert len(counters._files) == here + 1
    finally:
        release.set()
        thread.join()


@needs_schedstat
def test_a_thread_that_has_ended_is_read_as_nothing() -> None:
    release = threading.Event()
    thread = threading.Thread(target=release.wait)
    thread.start()
    counters = ProcessCounters()
    release.set()
    thread.join()
    try:
        assert counters.read().waiting_ns is not None
    finally:
        counters.close()


def test_watching_again_holds_no_more_files_than_before(counters: ProcessCounters) -> None:
    gc.collect()  # what other tests have left open is closed now, or later
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        counters.watch()
    assert len(os.listdir("/proc/self/fd")) <= before


def test_a_kernel_without_schedstat_says_nothing_of_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(path: str, flags: int) -> int:
        raise FileNotFoundError(path)

    monkeypatch.setattr(os, "open", missing)
    assert ProcessCounters().read().waiting_ns is None
