"""Who is fastest where several frameworks were measured, and by how much."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.parent.reports.conftest import ADD, NUMPY, TORCH, statistics

from opperf.domain.case import Case
from opperf.domain.plan import Side, Trial
from opperf.domain.record import Record
from opperf.domain.tensor import TensorSpec
from opperf.parent.reports.fastest import MOST_CASES, fastest


def measured(case: Case, side: Side, seconds: float, direction: str = "forward") -> Record:
    """Return a record of a time."""
    return Record(Trial(case, side, direction), "ok", metrics={"time": statistics(seconds)})


def test_the_fastest_framework_and_the_distance_of_others_are_said_of_each_direction() -> None:
    records = [
        measured(ADD, TORCH, 3e-4),
        measured(ADD, NUMPY, 2e-4),
        measured(ADD, Side("jax"), 2.1e-4),
        measured(ADD, TORCH, 5e-4, "backward"),
        measured(ADD, Side("jax"), 0.6174, "backward"),
    ]
    assert fastest(records) == [
        "fastest: add forward: numpy 200 us, jax about as fast, torch takes 1.50 times as long",
        "fastest: add backward: torch 500 us, jax takes 1,235 times as long",
    ]


def test_frameworks_that_return_other_types_are_said_to() -> None:
    records = [
        replace(measured(ADD, NUMPY, 2e-4), facts={"results": ["uint64 8x4"]}),
        replace(measured(ADD, Side("jax"), 1e-4), facts={"results": ["uint32 8x4"]}),
    ]
    (line,) = fastest(records)
    assert line == (
        "fastest: add forward: jax 100 us, numpy takes 2.00 times as long; not the same work: numpy returns uint64, "
        "jax returns uint32"
    )
    alike = [replace(record, facts={"results": ["uint32 8x4"]}) for record in records]
    assert "same work" not in fastest(alike)[0]


def test_one_framework_is_not_ranked_nor_one_whose_rival_failed() -> None:
    assert fastest([measured(ADD, TORCH, 1.0), measured(ADD, replace(TORCH, mode="compiled"), 2.0)]) == []
    assert fastest([measured(ADD, TORCH, 1.0), Record(Trial(ADD, NUMPY, "forward"), "failed")]) == []


def test_several_cases_are_named_by_their_inputs_and_many_are_counted() -> None:
    cases = [Case("exp", {"data": TensorSpec((size,))}) for size in range(1, MOST_CASES + 2)]
    both = [record for case in cases for record in (measured(case, TORCH, 1e-3), measured(case, NUMPY, 2e-3))]
    assert fastest(both[:4])[1] == "fastest: exp forward 2: torch 1.00 ms, numpy takes 2.00 times as long"
    assert fastest(both) == ["fastest or within 10% of it, of 6 cases: torch in 6"]
