"""Which calls of a function are profiled."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from opperf.child.profiling.hook import Calls


def test_after_the_last_call_that_is_wanted_they_are_over() -> None:
    log, module = Log(), SimpleNamespace(step=lambda: None)
    calls = log.calls(skip=1, calls=2)
    calls.put_around(module)
    over = []
    for _ in range(4):
        module.step()
        over.append(calls.are_over)
    assert over == [False, False, True, True]
    assert not log.calls().are_over


class Log:
    """What began and ended, and what the function did meanwhile; it begins unless it is told not to."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.begins = True

    def begin(self) -> bool:
        if self.begins:
            self.said.append("begin")
        return self.begins

    def end(self, name: str) -> None:
        self.said.append(f"end {name}")

    def calls(self, name: str = "step", skip: int = 0, calls: int | None = None) -> Calls:
        return Calls(name, skip, calls, self.begin, self.end)


@pytest.fixture
def log() -> Log:
    return Log()


def test_some_calls_after_the_first_ones_are_profiled(log: Log) -> None:
    module = SimpleNamespace(step=lambda value: log.said.append(f"step {value}"))
    log.calls(skip=1, calls=2).put_around(module)
    for value in "abcd":
        module.step(value)
    assert log.said == ["step a", "begin", "step b", "end step 1", "begin", "step c", "end step 2", "step d"]


def test_without_a_number_all_calls_after_the_first_ones_are(log: Log) -> None:
    module = SimpleNamespace(step=lambda: None)
    made = log.calls(skip=1)
    made.put_around(module)
    for _ in range(4):
        module.step()
    assert log.said == ["begin", "end step 1", "begin", "end step 2", "begin", "end step 3"]
    assert made.count == 4


def test_a_function_returns_and_raises_what_it_did_and_keeps_its_name(log: Log) -> None:
    def step(value: int, *, by: int = 1) -> int:
        """Divide."""
        return value // by

    module: Any = SimpleNamespace(step=step)
    log.calls().put_around(module)
    assert module.step(6, by=2) == 3
    assert (module.step.__name__, module.step.__doc__) == ("step", "Divide.")
    with pytest.raises(ZeroDivisionError):
        module.step(6, by=0)
    assert log.said == ["begin", "end step 0", "begin", "end step 1"]


def test_a_call_within_a_call_belongs_to_it(log: Log) -> None:
    module: Any = SimpleNamespace()

    def step(depth: int) -> None:
        if depth:
            module.step(depth - 1)
        else:
            log.said.append("bottom")

    module.step = step
    log.calls(calls=1).put_around(module)
    module.step(3)
    module.step(0)
    assert log.said == ["begin", "bottom", "end step 0", "bottom"]


def test_a_call_beside_a_call_in_another_thread_belongs_to_it(log: Log) -> None:
    module: Any = SimpleNamespace()

    def step(other: threading.Thread | None) -> None:
        if other is not None:
            other.start()
            other.join()
        log.said.append(threading.current_thread().name)

    module.step = step
    log.calls().put_around(module)
    module.step(threading.Thread(target=lambda: module.step(None), name="worker"))
    assert log.said == ["begin", "worker", threading.current_thread().name, "end step 0"]


def test_what_cannot_begin_is_called_all_the_same(log: Log) -> None:
    module = SimpleNamespace(step=lambda: 5)
    log.begins = False
    log.calls().put_around(module)
    assert (module.step(), log.said) == (5, [])


def test_methods_of_every_kind_stay_what_they_are(log: Log) -> None:
    class Trainer:
        scale = 2

        def plain(self, value: int) -> int:
            return value * self.scale

        @classmethod
        def of_class(cls, value: int) -> int:
            return value * cls.scale

        @staticmethod
        def static(value: int) -> int:
            return value

    module = SimpleNamespace(Trainer=Trainer)
    for name in ("plain", "of_class", "static"):
        log.calls(f"Trainer.{name}").put_around(module)
    assert (Trainer().plain(3), Trainer.of_class(3), Trainer.static(3)) == (6, 6, 3)
    assert log.said[1::2] == ["end Trainer.plain 0", "end Trainer.of_class 0", "end Trainer.static 0"]


def test_a_function_that_is_not_there_is_an_attribute_error(log: Log) -> None:
    with pytest.raises(AttributeError, match="step"):
        log.calls().put_around(SimpleNamespace())
