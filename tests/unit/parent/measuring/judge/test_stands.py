"""Stands wait for those that they can serve, each is taken once, and none is blamed on a candidate."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress

import pytest

from opperf.domain.code import Code
from opperf.domain.errors import HarnessError, WorkerFailure
from opperf.domain.plan import Side
from opperf.parent.measuring.judge.stands import Stands

BASE, ONE, TWO = Side("numpy"), Side("numpy", implementation=Code("a:f")), Side("numpy", implementation=Code("b:f"))


class Seat:
    """A stand that notes what becomes of it."""

    fails = False
    importer: int | None = None

    def __init__(self, side: Side, log: list[str]) -> None:
        self._name, self._log = str(side.implementation), log
        log.append(f"start {self._name}")

    def wake(self) -> None:
        if self.fails:
            raise WorkerFailure("no framework", slug="exit")
        self._log.append(f"wake {self._name}")

    def hold(self) -> None:
        self._log.append(f"hold {self._name}")

    def release(self) -> None:
        self._log.append(f"release {self._name}")

    def close(self) -> None:
        self._log.append(f"close {self._name}")


def stands(log: list[str], *, confined: bool = True) -> Stands:
    def key(side: Side) -> Hashable:
        return side.implementation if confined else ()

    return Stands(lambda side: Seat(side, log), key)  # type: ignore[arg-type,return-value]


def test_a_stand_that_waits_is_taken_and_never_again() -> None:
    log: list[str] = []
    every = stands(log)
    every.prepare([ONE, TWO])
    every.prepare([ONE, TWO])
    first = every.take(ONE)
    second = every.take(ONE)
    assert first is not second
    assert log == ["start code:a:f", "start code:b:f", "wake code:a:f", "start code:a:f", "wake code:a:f"]


def test_those_that_wait_stop_while_something_is_timed_whatever_becomes_of_it() -> None:
    log: list[str] = []
    every = stands(log)
    every.prepare([ONE, TWO])
    every.take(ONE)
    log.clear()
    with suppress(KeyError), every.standstill():
        log.append("time")
        raise KeyError
    assert log == ["hold code:b:f", "time", "release code:b:f"]


def test_what_imports_for_several_stops_once(monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[str] = []
    every = stands(log)
    every.prepare([ONE, TWO])
    log.clear()
    for importers in (7, None):
        monkeypatch.setattr(Seat, "importer", importers)
        with every.standstill():
            log.append("time")
    once, apart = ["hold code:a:f", "time"], ["hold code:a:f", "hold code:b:f", "time"]
    assert [line for line in log if not line.startswith("release")] == [*once, *apart]


def test_where_nothing_confines_them_any_stand_will_do() -> None:
    log: list[str] = []
    every = stands(log, confined=False)
    every.prepare([ONE, BASE])
    every.take(TWO)
    every.take(BASE)
    assert len([line for line in log if line.startswith("start")]) == 2


def test_what_waits_for_no_candidate_to_come_is_ended() -> None:
    log: list[str] = []
    every = stands(log)
    every.prepare([ONE, TWO])
    every.keep([BASE, TWO])
    assert log[2:] == ["close code:a:f"]
    every.close()
    assert log[3:] == ["close code:b:f"]


def test_one_that_does_not_start_is_the_judges_own_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[str] = []
    every = stands(log)
    monkeypatch.setattr(Seat, "fails", True)
    with pytest.raises(HarnessError, match="a stand does not start: no framework") as failure:
        every.take(ONE)
    assert not isinstance(failure.value, WorkerFailure)
    every.prepare([TWO])
    every.settle()
    assert log == ["start code:a:f", "close code:a:f", "start code:b:f", "close code:b:f"]
