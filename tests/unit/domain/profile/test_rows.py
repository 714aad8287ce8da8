"""Rows add up what belongs together, and nothing twice."""

from __future__ import annotations

from opperf.domain.profile.event import Event, Profile
from opperf.domain.profile.rows import rows


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
    result = {row.name: (row.allocated, row.device) for row in rows(NESTED, "module")}
    assert result == {"X": (65, 52e-9), "Y": (50, 40e-9)}


def test_rows_of_groups_add_up_self_times_of_operators_and_gradients() -> None:
    events = (
        call("aten::linear", 0, 10, "X"),
        call("aten::t", 1, 2, "X"),
        call("aten::addmm", 3, 6, "X"),
        call("AddmmBackward0", 20, 9, "X"),
        call("aten::relu", 30, 1, "Y"),
    )
    result = {row.name: (row.calls, row.own) for row in rows(Profile(events), "group")}
    assert result == {"products": (3, 17e-9), "views": (1, 2e-9), "elementwise": (1, 1e-9)}


def test_each_operator_has_what_lies_within_its_calls() -> None:
    result = {row.name: (row.calls, row.allocated, row.device) for row in rows(NESTED)}
    assert result == {"a": (2, 65, 52e-9), "b": (1, 50, 40e-9), "c": (1, 20, 30e-9)}


def test_operations_stand_where_they_are_counted_and_add_up() -> None:
    assert {row.name: row.flops for row in rows(NESTED, "module")} == {"X": 5, "Y": None}


def test_operations_in_a_second_are_those_of_the_calls_that_have_any_on_the_device_where_there_is_one() -> None:
    events = (call("mm", 0, 10, "", flops=40), call("mm", 20, 500, ""), call("mm", 600, 90, "", flops=60, device=30))
    (row,) = rows(Profile(events))
    assert row.flop_rate is not None
    assert round(row.flop_rate) == 100 / 40e-9
    assert rows(Profile((call("mm", 0, 10, ""),)))[0].flop_rate is None


def test_lines_that_only_hand_a_call_on_are_no_part_of_a_stack() -> None:
    module = "torch/nn/modules/module.py"
    stack = ("linear.py(130): forward", f"{module}(1794): inner", f"{module}(1780): _call_impl", "mod.py(4): go")
    (row,) = rows(Profile((Event("addmm", "operator", 0, 10, 1, "main", stack=stack),)), "stack")
    assert row.name == "linear.py(130): forward < mod.py(4): go"


def test_a_row_of_a_stack_has_the_calls_of_its_innermost_lines() -> None:
    lines = tuple(f"model.py({line}): forward" for line in range(6))
    events = (
        Event("linear", "operator", 0, 10, 1, "main", stack=lines),
        Event("addmm", "operator", 2, 6, 1, "main", stack=lines),
        Event("add", "operator", 20, 5, 1, "main", stack=(*lines[:5], "elsewhere.py(1): main")),
        Event("mm", "operator", 40, 7, 1, "main", stack=lines, backward=True),
        Event("rand", "operator", 60, 1, 1, "main"),
    )
    result = [(row.name, row.calls, round(row.own * 1e9), row.backward) for row in rows(Profile(events), "stack")]
    inner = " < ".join(lines[:5])
    assert result == [(inner, 3, 15, False), (inner, 1, 7, True), ("(no stack)", 1, 1, False)]


def test_time_of_a_module_is_what_its_calls_took_by_themselves() -> None:
    result = {row.name: (row.calls, round(row.total * 1e9), round(row.own * 1e9)) for row in rows(NESTED, "module")}
    assert result == {"X": (3, 60, 60), "Y": (1, 50, 50)}
