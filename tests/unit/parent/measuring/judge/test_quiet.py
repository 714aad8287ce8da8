"""Who times is alone, and goes before those that would begin to check."""

from __future__ import annotations

import threading

import pytest

from opperf.domain.errors import HarnessError
from opperf.parent.measuring.judge.quiet import Quiet

LIMIT = 180.0


class Stands:
    """Stands that note when they are settled."""

    def __init__(self, log: list[str]) -> None:
        self._log = log

    def settle(self) -> None:
        self._log.append("settled")


def test_who_times_waits_for_those_who_check_and_lets_no_other_begin() -> None:
    quiet, log = Quiet(), list[str]()
    quiet.join(Stands(log))  # type: ignore[arg-type]
    checking, release = threading.Event(), threading.Event()

    def check() -> None:
        with quiet.shared():
            checking.set()
            release.wait(LIMIT)
            log.append("checked")

    def time() -> None:
        with quiet.alone():
            log.append("timed")

    def check_later() -> None:
        with quiet.shared():
            log.append("checked later")

    first, second = threading.Thread(target=check), threading.Thread(target=time)
    first.start()
    assert checking.wait(LIMIT)
    second.start()
    while not quiet._ahead:
        threading.Event().wait(0.001)
    third = threading.Thread(target=check_later)
    third.start()
    release.set()
    for thread in (first, second, third):
        thread.join(LIMIT)
    assert log == ["checked", "settled", "timed", "checked later"]


def test_those_who_check_do_so_side_by_side() -> None:
    quiet, both = Quiet(), threading.Barrier(2, timeout=LIMIT)

    def check() -> None:
        with quiet.shared():
            both.wait()

    other = threading.Thread(target=check)
    other.start()
    check()
    other.join(LIMIT)


def test_stands_leave_when_nobody_waits_for_them() -> None:
    quiet, log = Quiet(), list[str]()
    stands = Stands(log)
    quiet.join(stands)  # type: ignore[arg-type]
    begun = threading.Event()

    def leave() -> None:
        begun.set()
        quiet.leave(stands)  # type: ignore[arg-type]
        log.append("left")

    leaving = threading.Thread(target=leave)
    with quiet.alone():
        leaving.start()
        assert begun.wait(LIMIT)
        log.append("timed")
    leaving.join(LIMIT)
    with quiet.alone():
        assert log == ["settled", "timed", "left"]


def test_a_stop_lets_nobody_wait() -> None:
    quiet, failures = Quiet(), list[str]()

    def wait() -> None:
        try:
            with quiet.alone():
                raise AssertionError
        except HarnessError as error:
            failures.append(error.slug)

    with quiet.shared():
        waiting = threading.Thread(target=wait)
        waiting.start()
        while not quiet._ahead:
            threading.Event().wait(0.001)
        quiet.stop()
        waiting.join(LIMIT)
    assert failures == ["stopped"]
    with pytest.raises(HarnessError, match="stopped"), quiet.shared():
        pass
