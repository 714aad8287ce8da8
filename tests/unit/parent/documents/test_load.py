"""How much of a load average is others', and when that is worth a word."""

from __future__ import annotations

import pytest

from opperf.domain.files.json_text import JsonObject
from opperf.parent.documents.load import load_of, with_highest_load


@pytest.mark.parametrize(
    ("before", "after", "own", "crowded"),
    [
        ([0.1, 0, 0], [25.3, 0, 0], 1, True),
        ([25.3, 0, 0], [0.1, 0, 0], 1, True),
        ([0.1, 0, 0], [1.9, 0, 0], 1, False),
        ([0.1, 0, 0], [1.9, 0, 0], 0, True),
        ([1.9, 0, 0], None, 1, True),
        (1.9, None, 1, True),
        ([1.0, 0, 0], [2.0, 0, 0], 1, False),
    ],
)
def test_what_opperf_takes_itself_is_no_load_of_others(before: object, after: object, own: int, crowded: bool) -> None:
    load = load_of({"cores_logical": 2, "load": before, "load_after": after}, own)
    assert load is not None
    assert load.is_crowded == crowded


@pytest.mark.parametrize(
    "facts", [{}, {"load": [1.0]}, {"cores_logical": 2}, {"cores_logical": "two", "load": [1]}, {"load": []}]
)
def test_a_load_that_is_not_known_is_none(facts: dict[str, object]) -> None:
    assert load_of(facts, 1) is None


def test_over_several_runs_the_load_is_that_before_the_first_and_the_highest_after_any() -> None:
    runs: list[JsonObject] = [
        {"load": [0.1], "load_after": [3.0]},
        {"load": [3.0], "load_after": [9.0]},
        {"load_after": None},
    ]
    assert with_highest_load({"cpu": "x"}, runs) == {"cpu": "x", "load": [0.1], "load_after": [9.0]}
