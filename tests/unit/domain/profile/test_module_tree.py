"""A model's modules, made by hand, with sums that are known."""

from __future__ import annotations

from dataclasses import astuple

import pytest

from opperf.domain.profile.event import Event, Profile
from opperf.domain.profile.module_tree import ModuleRow, has_modules, module_rows


def module(name: str, begin: int, duration: int) -> Event:
    """Return a call of a module."""
    return Event(name, "module", begin, duration, 1, "main")


def call(name: str, begin: int, duration: int, path: str = "", **more: object) -> Event:
    """Return a call of an operator."""
    return Event(name, "operator", begin, duration, 1, "main", module=path, **more)  # type: ignore[arg-type]


def layer(number: int, begin: int, *operators: str) -> list[Event]:
    """Return a call of a layer of 28 ns, of which its operators take 10 each and Python within them 4."""
    path = f"Net.layers.{number}"
    spans = [module(path, begin, 28), module(f"{path}.fc", begin + 1, 24)]
    return [*spans, *(call(name, begin + 3 + 11 * place, 10, f"{path}.fc") for place, name in enumerate(operators))]


#: Three equal layers and a head; a backward of one, a step of the optimizer, and 10 ns outside of all.
STEP = (
    module("Net", 0, 130),
    *layer(0, 10, "mm", "add"),
    *layer(1, 40, "mm", "add"),
    *layer(2, 70, "mm", "add"),
    call("mm", 100, 20, "Net", allocated=64),
    call("MmBackward0", 140, 20, "Net.layers.0.fc", backward=True, allocated=100),
    call("mm", 141, 8, "Net.layers.0.fc", backward=True, allocated=40),
    call("mm", 162, 5, "Net.layers.2.fc", recomputed=True),
    Event("Optimizer.step#SGD.step", "task", 170, 50, 1, "main"),
    call("_foreach_add_", 180, 30),
)


def nanoseconds(row: ModuleRow) -> tuple[int, ...]:
    """Return the times of a row: forward, backward, recomputed, in the optimizer and between operators."""
    times = (row.forward, row.backward, row.recomputed, row.optimizer, row.between)
    return tuple(round(time * 1e9) for time in times)


def rows_of(*events: Event, depth: int | None = None, **facts: object) -> dict[str, ModuleRow]:
    """Return the rows by name."""
    return {row.name: row for row in module_rows(Profile(events, processes={1: facts}), depth)}


def test_each_row_has_the_time_of_each_phase_with_all_modules_within_it() -> None:
    result = {name: nanoseconds(row) for name, row in rows_of(*STEP).items()}
    assert result == {
        "Net": (80, 20, 5, 0, 50),
        "Net.layers.*": (60, 20, 5, 0, 24),
        "Net.layers.*.fc": (60, 20, 5, 0, 12),
        "(optimizer)": (0, 0, 0, 30, 20),
        "(no module)": (0, 0, 0, 0, 15),
    }


def test_the_times_of_the_outermost_rows_are_those_of_the_whole_profile() -> None:
    rows = [row for row in rows_of(*STEP).values() if row.level == 1]
    assert sum(sum(nanoseconds(row)) for row in rows) == 220
    assert sum(row.share or 0 for row in rows) == pytest.approx(1)


def test_equal_layers_are_counted_and_their_calls_and_operators_summed_up() -> None:
    row = rows_of(*STEP)["Net.layers.*"]
    assert (row.modules, row.calls, row.operators) == (3, 3, 9)


def test_what_is_deeper_counts_where_the_table_ends() -> None:
    everything, cut = rows_of(*STEP), rows_of(*STEP, depth=2)
    assert list(cut) == ["Net", "Net.layers.*", "(optimizer)", "(no module)"]
    assert astuple(cut["Net.layers.*"]) == astuple(everything["Net.layers.*"])


def test_layers_in_which_other_operators_run_have_rows_of_their_own() -> None:
    names = list(
        rows_of(module("Net", 0, 130), *layer(0, 10, "mm"), *layer(1, 40, "conv"), *layer(2, 70, "mm"), depth=2)
    )
    assert sorted(names) == ["Net", "Net.layers.1", "Net.layers.{0,2}"]


def test_layers_with_other_numbers_of_parameters_have_rows_of_their_own() -> None:
    counts = {"Net.layers.0.fc": 10, "Net.layers.1.fc": 10, "Net.layers.2.fc": 20}
    assert "Net.layers.{0,1}" in rows_of(*STEP, depth=2, parameters=counts)


def test_members_of_a_module_that_is_called_itself_are_a_level_below_it() -> None:
    events = (module("Sequential", 0, 100), module("Sequential.0", 10, 20), call("mm", 12, 10, "Sequential.0"))
    assert list(rows_of(*events, depth=1)) == ["Sequential"]
    assert list(rows_of(*events, depth=2)) == ["Sequential", "Sequential.0"]


def test_an_optimizer_is_shared_out_by_parameters() -> None:
    counts = {f"Net.layers.{number}.fc": 10 for number in range(3)} | {"Net": 20}
    rows = rows_of(*STEP, parameters=counts)
    assert "(optimizer)" not in rows
    assert nanoseconds(rows["Net"])[3:] == (30, 70)
    assert nanoseconds(rows["Net.layers.*"])[3:] == (18, 36)
    assert (rows["Net"].parameters, rows["Net.layers.*"].parameters) == (50, 30)


def test_memory_counts_once_though_operators_lie_within_each_other() -> None:
    rows = rows_of(*STEP)
    assert (rows["Net"].allocated, rows["Net.layers.*"].allocated) == (164, 100)


def test_kernels_count_for_the_module_that_launched_them() -> None:
    kernel = Event("gemm", "kernel", 500, 70, 1, "cuda:0", module="Net.layers.1.fc", device=70)
    rows = rows_of(*STEP, kernel)
    assert rows["Net.layers.*"].device == 70e-9


def test_a_profile_knows_whether_it_names_modules() -> None:
    assert has_modules(Profile(STEP))
    assert not has_modules(Profile((call("mm", 0, 10),)))
