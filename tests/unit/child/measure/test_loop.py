"""Loops of each call shape, and the cost of an empty one."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from tests.each import each

from opperf.child.backends.null.scripts import VirtualClock
from opperf.child.measure import block as module
from opperf.child.measure.block import EMPTY_CALLS, empty_call_ns, loop


@pytest.mark.parametrize("keywords", [(), ("axis",), ("axis", "keepdims"), ("from",), ("is", "to", "from")])
def test_a_loop_passes_every_argument_in_its_place(keywords: tuple[str, ...]) -> None:
    def function(*arguments: Any, **named: Any) -> None:
        seen.append((arguments, named))

    for positional in (0, 1, 2, 5, 12):
        seen: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
        loop(positional, keywords, False)(3, function, *range(positional), *keywords)
        assert seen == [(tuple(range(positional)), {name: name for name in keywords})] * 3


def test_a_loop_that_collects_returns_what_the_calls_returned() -> None:
    numbers = iter(range(10))
    assert loop(0, (), True)(4, lambda: next(numbers)) == [0, 1, 2, 3]


def test_a_loop_that_does_not_collect_drops_each_result_before_the_next_call() -> None:
    alive: list[int] = []

    class Output:
        def __init__(self) -> None:
            alive.append(1)

        def __del__(self) -> None:
            alive.pop()

    most: list[int] = []

    def function() -> Output:
        most.append(len(alive))
        return Output()

    assert loop(0, (), False)(5, function) == []
    assert most == [0] * 5


def test_no_calls_call_nothing() -> None:
    assert loop(0, (), True)(0, lambda: pytest.fail("called")) == []


def test_a_loop_is_made_once_for_each_shape() -> None:
    assert loop(2, ("a",), True) is loop(2, ("a",), True)
    assert loop(2, ("a",), True) is not loop(2, ("a",), False)


@pytest.mark.parametrize("keyword", ["a b", "a=1, b", "", "1", "x):\n  import os\n#"])
def test_a_keyword_that_is_no_identifier_never_becomes_code(keyword: str) -> None:
    with pytest.raises(ValueError, match="identifiers"):
        loop(1, (keyword,), False)


@each("name", ["calls", "function", "outputs", "keep", "repeat", "_", "a0", "k0"])
def test_a_keyword_may_be_called_as_the_loop_calls_its_own_things(name: str) -> None:
    assert loop(1, (name,), True)(2, lambda a, **named: (a, named), 5, 7) == [(5, {name: 7})] * 2


@pytest.fixture
def scripted_audit(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[int]]:
    """A function that has the empty call take the given nanoseconds in turn; returns how many arguments it got."""

    def script(clock: VirtualClock, durations: list[int]) -> list[int]:
        arguments: list[int] = []

        def audit(*given: Any) -> None:
            clock.advance(durations[len(arguments) % len(durations)])
            arguments.append(len(given))

        monkeypatch.setattr(module, "sys", SimpleNamespace(audit=audit))
        return arguments

    return script


def test_the_cost_of_an_empty_call_is_the_least_of_several_rounds(
    scripted_audit: Callable[..., list[int]],
) -> None:
    clock = VirtualClock()
    scripted_audit(clock, [50] * EMPTY_CALLS + [30] * EMPTY_CALLS + [40] * EMPTY_CALLS)
    assert empty_call_ns(clock, 2, False) == 30.0


def test_the_empty_call_has_as_many_arguments_as_the_operator(scripted_audit: Callable[..., list[int]]) -> None:
    clock = VirtualClock()
    seen = scripted_audit(clock, [1])
    empty_call_ns(clock, 4, True)
    assert set(seen) == {4}


def test_an_operator_without_arguments_has_an_empty_call_too(scripted_audit: Callable[..., list[int]]) -> None:
    clock = VirtualClock()
    scripted_audit(clock, [25])
    assert empty_call_ns(clock, 0, False) == 25.0


def test_a_single_empty_call_holds_what_stands_between_two_readings_of_the_clock(
    scripted_audit: Callable[..., list[int]],
) -> None:
    class SlowClock(VirtualClock):
        def wall(self) -> int:
            self.advance(100)
            return super().wall()

    clock = SlowClock()
    scripted_audit(clock, [25])
    assert empty_call_ns(clock, 1, False, single=True) == 125.0
    assert empty_call_ns(clock, 1, False) == 25.0 + 100 / EMPTY_CALLS
