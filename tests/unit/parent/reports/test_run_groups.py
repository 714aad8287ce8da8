"""A run by groups of operators."""

from __future__ import annotations

import json

import pytest
from tests.unit.parent.reports.conftest import run_of, statistics
from tests.unit.parent.reports.test_shares import SIDE, suite_run

from opperf.domain.case import Case
from opperf.domain.plan import Trial
from opperf.domain.record import Record, Run
from opperf.parent.reports import render
from opperf.parent.reports.run_groups import document, group_rows


def timed(operator: str, seconds: float, direction: str = "forward") -> Record:
    """Return what was measured of an operator."""
    return Record(Trial(Case(operator), SIDE, direction), "ok", metrics={"time": statistics(seconds)})


def test_operators_of_a_group_are_summed_up_with_all_their_calls() -> None:
    (row,) = group_rows(suite_run(None).records)
    assert (row.group, row.operators, row.cases, row.calls, row.largest) == ("elementwise", 2, 2, 12, "mul")
    assert row.total == pytest.approx(8e-3)
    assert row.share == 1


def test_directions_and_frameworks_names_have_rows_of_their_own_with_the_largest_first() -> None:
    records = [timed("torch:aten::view", 1e-6), timed("torch:aten::mm", 3e-6), timed("matmul", 8e-6, "backward")]
    rows = [(row.direction, row.group, row.share) for row in group_rows(records)]
    assert rows == [
        ("forward", "products", pytest.approx(0.75)),
        ("forward", "views", pytest.approx(0.25)),
        ("backward", "products", 1.0),
    ]


def test_people_and_programs_read_the_groups_of_a_run_that_is_read_back() -> None:
    run = run_of(*(record for record in suite_run(None).records if record.status == "ok"))
    text = render(document(run), "console")
    assert "elementwise          2      2     12  8.00 ms  100 %  mul" in text
    assert "2 trials: 2 ok" in text
    data = json.loads(render(document(run), "json"))
    assert [row["group"] for row in data["groups"]] == ["elementwise"]
    assert Run.from_json(data, "x.json").to_json() == run.to_json()


def test_what_was_not_measured_has_no_row() -> None:
    assert group_rows(run_of(Record(Trial(Case("add"), SIDE, "forward"), "failed")).records) == ()
