"""Which steps count."""

from __future__ import annotations

from typing import Any

import pytest

from opperf.child.profiling.block import Schedule
from opperf.domain.errors import InputError


def phases(steps: int, **settings: Any) -> str:
    """Return the phases of the first steps as letters: off, warm, counted."""
    return "".join({"off": ".", "warm": "w", "on": "X"}[Schedule(**settings).phase(step)] for step in range(steps))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "X......."),
        ({"skip": 2, "active": 3}, "..XXX..."),
        ({"skip": 1, "warmup": 2, "active": 1}, ".wwX...."),
        ({"warmup": 1, "active": 2, "repeat": 2}, "wXXwXX.."),
        ({"skip": 1, "warmup": 1, "active": 1, "repeat": None}, ".wXwXwXw"),
    ],
)
def test_steps_are_passed_over_warmed_up_and_counted(settings: dict[str, Any], expected: str) -> None:
    assert phases(8, **settings) == expected


@pytest.mark.parametrize("settings", [{"skip": -1}, {"active": 0}, {"repeat": 0}, {"warmup": 1.5}, {"active": True}])
def test_what_is_no_number_of_steps_is_refused(settings: dict[str, Any]) -> None:
    (name,) = settings
    with pytest.raises(InputError, match=f"`{name}` of a schedule is .*, expected a whole number"):
        Schedule(**settings)
