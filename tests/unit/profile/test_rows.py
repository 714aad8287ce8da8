"""Rows add up what belongs together, and nothing twice."""

from __future__ import annotations

from opperf.profile.event import Event, Profile
from opperf.profile.rows import rows


def call(name: str, begin: int, duration: int, module: str, **details: int) -> Event:
    """Return an operator's span with what it held and did on a device, what is within it included."""
    return Event(name, "operator", begin, duration, 1, "main", module=module, **details)  # type: ignore[arg-type]


#: `a` of X calls `b` of Y, which calls `c` of X; another `a` follows.
NESTED = Profile(
    (
        call("a", 0, 100, "X", allocated=60, device=50, flops=1),
        call("b", 10, 80, "Y", allocated=50, device=40),
        call("c", 20, 30, "X", allocated=20, device=30, flops=4),
        call("a", 200, 10, "X", allocated=5, device=2),
    )
)


def test_what_lies_within_calls_of_one_row_is_counted_once() -> None:
    found = {row.name: (row.allocated, row.device) for row in rows(NESTED, "module")}
    assert found == {"X": (65, 52e-9), "Y": (50, 40e-9)}


def test_each_operator_has_what_lies_within_its_calls() -> None:
    found = {row.name: (row.calls, row.allocated, row.device) for row in rows(NESTED)}
    assert found == {"a": (2, 65, 52e-9), "b": (1, 50, 40e-9), "c": (1, 20, 30e-9)}


def test_operations_stand_where_they_are_counted_and_add_up() -> None:
    assert {row.name: row.flops for row in rows(NESTED, "module")} == {"X": 5, "Y": None}


def test_time_of_a_module_is_what_its_calls_took_by_themselves() -> None:
    found = {row.name: (row.calls, round(row.total * 1e9), round(row.own * 1e9)) for row in rows(NESTED, "module")}
    assert found == {"X": (3, 60, 60), "Y": (1, 50, 50)}
