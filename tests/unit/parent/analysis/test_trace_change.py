"""Two traces operator by operator: what is the same, what has other inputs, and what only one has."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

from opperf.domain.case import Case
from opperf.domain.suite import LeftOut
from opperf.domain.tensor import TensorSpec
from opperf.parent import reports
from opperf.parent.analysis.trace_change import CallChange, compare_traces
from opperf.parent.documents.trace import Spent, Trace, TracedCase
from opperf.parent.pages.profile_page.change import frames
from opperf.parent.pages.profile_page.trace_change import render
from opperf.parent.reports.trace_change import document


def calls(name: str, count: int, *shapes: str, seconds: float | None = None) -> TracedCase:
    """Return calls of an operator."""
    inputs = {f"x{i}": TensorSpec(tuple(map(int, shape.split("x")))) for i, shape in enumerate(shapes)}
    return TracedCase(Case(f"torch:aten::{name}", inputs), count, seconds)


def trace(*cases: TracedCase, left_out: tuple[LeftOut, ...] = (), name: str = "a.json") -> Trace:
    """Return a trace."""
    return Trace(name, cases, left_out)


def said(change: CallChange) -> tuple[str, str]:
    """Return the operator of a change, and what it is."""
    inputs = [" ".join("x".join(map(str, one.shape)) for one in entry.case.inputs.values()) for entry in change.entries]  # type: ignore[union-attr]
    text = change.only or (" -> ".join(inputs) if change.has_other_inputs else f"{change.calls:+d} calls")
    return change.name.rpartition("::")[2], text


def test_calls_with_other_inputs_belong_to_those_that_have_most_in_common_with_them() -> None:
    before = trace(calls("conv2d", 4, "8x3x28x28", "6x3x5x5"), calls("conv2d", 4, "8x6x12x12", "16x6x5x5"))
    after = trace(
        calls("conv2d", 4, "32x1x28x28", "3x1x1x1"),
        calls("conv2d", 4, "32x3x28x28", "6x3x5x5"),
        calls("conv2d", 4, "32x6x12x12", "16x6x5x5"),
    )
    assert [said(change) for change in compare_traces(before, after).changes] == [
        ("conv2d", "after"),
        ("conv2d", "8x3x28x28 6x3x5x5 -> 32x3x28x28 6x3x5x5"),
        ("conv2d", "8x6x12x12 16x6x5x5 -> 32x6x12x12 16x6x5x5"),
    ]


BEFORE = trace(calls("mm", 4, "8x8", "8x8"), calls("relu", 4, "8x8"), calls("tanh", 1, "8x8"), calls("add", 2, "8"))
AFTER = trace(
    calls("mm", 4, "8x8", "8x8"),
    calls("relu", 6, "8x8"),
    calls("gelu", 1, "8x8"),
    calls("add", 2, "16"),
    left_out=(LeftOut("c10d::allreduce_", 3, "communication between processes"),),
    name="b.json",
)


def test_without_times_rows_are_what_changed_and_a_line_says_how_much_is_the_same() -> None:
    text = reports.render(document(compare_traces(BEFORE, AFTER)), width=100)
    assert [line.split()[0].rpartition("::")[2] for line in text.splitlines()[2:7]] == [
        *("allreduce_", "gelu", "tanh", "relu", "add")
    ]
    assert "aten::relu" in text
    assert "4 -> 6" in text
    assert "x0 8 -> 16" in text
    assert "11 calls before, 16 after; of 6 operators with their inputs, 1 the same, 1 with other inputs" in text
    lines = [*csv.DictReader(io.StringIO(reports.render(document(compare_traces(BEFORE, AFTER)), "csv")))]
    assert (lines[0]["only"], lines[0]["before_calls"], lines[0]["after_calls"]) == ("after", "0", "3")
    rows = json.loads(reports.render(document(compare_traces(BEFORE, AFTER)), "json"))["rows"]
    assert rows[0]["operator"] == "torch:aten::mm"
    assert len(rows) == 6


def test_with_times_in_both_the_largest_difference_comes_first() -> None:
    before = trace(calls("mm", 4, "8x8", seconds=4e-3), calls("add", 4, "8x8", seconds=1e-3))
    after = trace(calls("mm", 4, "8x8", seconds=4.1e-3), calls("add", 4, "8x8", seconds=3e-3))
    change = compare_traces(before, after)
    text = reports.render(document(change))
    assert "1.00 ms -> 3.00 ms" in text.splitlines()[2]
    assert "+2.00 ms" in text.splitlines()[2]
    assert "recorded (host): 5.00 ms before, 7.10 ms after (1.42 of it)" in text
    page = render(change)
    assert "Largest changes of recorded time" in page
    assert 'data-key="0.002"' in page


def test_other_values_of_tensors_are_no_other_inputs() -> None:
    first, second = (
        TracedCase(Case("take", {"indices": TensorSpec((8,), "int64", range=bounds)}, {"axis": 0}), 1)
        for bounds in ((0.0, 9.0), (1.0, 7.0))
    )
    (change,) = compare_traces(trace(first), trace(second)).changes
    assert change.is_same


def test_times_by_two_clocks_are_not_compared() -> None:
    device = Trace("c.json", (calls("mm", 4, "8x8", seconds=1e-3),), clock="device")
    change = compare_traces(trace(calls("mm", 4, "8x8", seconds=4e-3)), device)
    assert not change.has_recorded
    assert "times are not compared" in reports.render(document(change))


def test_a_page_of_traces_has_what_only_one_of_them_calls() -> None:
    page = render(compare_traces(BEFORE, AFTER))
    assert "Largest changes of calls" in page
    assert "communication between processes" in page
    assert "a.json and b.json" in page
    same = render(compare_traces(BEFORE, BEFORE))
    assert "No operator takes more or less." in same


def test_both_call_trees_are_one_by_the_labels_and_operators_around_each_call() -> None:
    step, mm = ("step", "label"), ("aten::mm", "operator")
    before = replace(BEFORE, ways={(step, mm): Spent(4, 4e-3), (step, ("aten::tanh", "operator")): Spent(1, 1e-3)})
    after = replace(AFTER, ways={(step, mm): Spent(6, 7e-3), (step, ("aten::gelu", "operator")): Spent(1, 1e-3)})
    change = compare_traces(before, after)
    assert change.tree is not None
    figure = frames(change.tree, by_calls=True)
    places = dict(zip(map(str, figure["names"]), zip(figure["before"], figure["after"], figure["state"])))
    assert places["aten::mm"] == (4, 6, "wider")
    assert (places["aten::tanh"][2], places["aten::gelu"][2]) == ("gone", "new")
    assert frames(change.tree)["before"][0] == 5_000_000
    assert "more after" in render(change)
    assert 'id="flame"' not in render(compare_traces(BEFORE, after))
