"""When times have settled."""

from __future__ import annotations

import pytest

from opperf.child.measure.calibrate import MOST_BLOCKS, Settling


def settled_after(times: list[float]) -> int | None:
    """Return after how many blocks a generous budget finds them settled."""
    rule = Settling(budget=1e9)
    for count, seconds in enumerate(times, 1):
        rule.add(seconds)
        if rule.is_steady(0.0):
            return count
    return None


def test_level_times_settle_after_two_windows() -> None:
    assert settled_after([1.0] * 50) == 6


def test_a_disturbed_block_does_not_put_off_the_end() -> None:
    assert settled_after([1.0, 1.0, 9.0, 1.0, 9.0, 1.0] + [1.0] * 10) == 6


@pytest.mark.parametrize(("fall", "settles"), [(0.01, True), (0.05, False)])
def test_a_fall_of_more_than_two_percent_goes_on(fall: float, settles: bool) -> None:
    assert (settled_after([1.0] * 3 + [1.0 - fall] * 3) == 6) is settles


def test_the_budget_ends_it() -> None:
    rule = Settling(budget=1.0)
    rule.add(1.0)
    assert not rule.is_steady(0.29)
    assert rule.is_steady(0.3)


def test_nothing_is_settled_before_the_first_block() -> None:
    assert not Settling(budget=1.0).is_steady(100.0)


def test_the_number_of_blocks_has_a_cap() -> None:
    assert settled_after([0.9**n for n in range(500)]) == MOST_BLOCKS
