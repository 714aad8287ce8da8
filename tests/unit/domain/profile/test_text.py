"""The table that a script prints of its profile: aligned, without columns that nobody filled."""

from __future__ import annotations

import pytest

from opperf.domain.errors import InputError
from opperf.domain.profile.columns import table
from opperf.domain.profile.event import Event, Profile


def profile(*events: Event, notes: tuple[str, ...] = ()) -> Profile:
    """Return a profile of one process."""
    return Profile(events, (), {1: {"framework": "null"}}, notes)


def operator(name: str, begin: int, duration: int, **details: object) -> Event:
    """Return an operator's span."""
    return Event(name, "operator", begin, duration, 1, "main", **details)  # type: ignore[arg-type]


def test_columns_that_are_empty_in_every_row_are_left_out() -> None:
    head, _, *rows = table(profile(operator("add", 0, 1000), operator("mul", 2000, 3000))).splitlines()
    assert head.split() == ["operator", "calls", "total", "self", "mean", "p50", "min", "max", "share"]
    assert [row.split()[0] for row in rows] == ["mul", "add"]


def test_what_is_known_has_its_column_and_what_is_not_is_empty_not_zero() -> None:
    spans = operator("add", 0, 1000, allocated=0, peak=0, shapes=((2, 3), ())), operator("mul", 2000, 500)
    head, _, first, second = table(profile(*spans), by="shape").splitlines()
    assert head.split()[-3:] == ["allocated", "peak", "shapes"]
    assert first.split()[-6:] == ["0", "B", "0", "B", "2x3", "-"]
    assert second.endswith("%")


def test_numbers_end_and_names_begin_in_one_column() -> None:
    lines = table(profile(operator("add", 0, 1000), operator("a_long_name", 2000, 2_000_000))).splitlines()
    ends = {line.index(time) + len(time) for line, time in zip(lines[2:], ("2.00 ms", "1.00 us"))}
    assert ends == {lines[0].index("total") + len("total")}


def test_backward_and_fused_rows_say_so() -> None:
    spans = (
        operator("a", 0, 3000, module="Net.conv", fused=True),
        operator("b", 5000, 1000, module="Net", backward=True),
    )
    head, _, *rows = table(profile(*spans), by="module").splitlines()
    assert head.endswith("notes")
    assert [(row.split()[0], row.split()[-1]) for row in rows] == [("Net.conv", "fused"), ("Net", "backward")]


def test_the_module_stands_beside_operators_that_only_one_calls() -> None:
    spans = [operator("conv", 0, 2000, module="Net.conv1"), operator("relu", 3000, 500), operator("relu", 4000, 500)]
    assert table(profile(*spans)).splitlines()[2].endswith("Net.conv1")


def test_rows_beyond_the_asked_number_are_counted() -> None:
    spans = [operator(f"op{i}", 10 * i, i + 1) for i in range(5)]
    assert table(profile(*spans), top=2).splitlines()[-1] == "3 more rows"


def test_notes_stand_below() -> None:
    assert table(profile(operator("add", 0, 1), notes=("no shapes",))).endswith("\n\nnote: no shapes")


def test_a_profile_of_nothing_is_a_head_alone() -> None:
    assert table(Profile()).splitlines()[0].split() == ["operator", "calls"]


def test_an_unknown_grouping_is_refused() -> None:
    with pytest.raises(InputError, match="no grouping `colour`"):
        table(Profile(), by="colour")


def test_steps_are_told_of_below_the_table() -> None:
    steps = [Event(f"step {i}", "step", 1000 * i, 1000, 1, "main") for i in range(3)]
    call = Event("add", "operator", 0, 500, 1, "main")
    assert table(Profile((call, *steps))).splitlines()[-1] == "3 steps with a median of 1.00 us"
