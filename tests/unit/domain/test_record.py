"""Records and runs: what is refused of a file, and what a metric says."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import each

from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.measurement import Quantity
from opperf.domain.metric import METRICS
from opperf.domain.plan import Settings, Side, Trial
from opperf.domain.record import SCHEMA_VERSION, Record, Run
from opperf.domain.tensor import TensorSpec

TRIAL = Trial(Case("abs", {"data": TensorSpec((2,))}), Side("numpy"), "forward")
RECORD = Record(TRIAL, "ok", metrics={"flops": Quantity(8, "formula")})
DOCUMENT = Run("r1", "2026-11-21", ("opperf",), Settings(), records=(RECORD,)).to_json()


def changed(path: list[Any], value: Any) -> Any:
    """Return the document with one place in it changed, or taken out where the value is `...`."""
    document = copy.deepcopy(DOCUMENT)
    place: Any = document
    for step in path[:-1]:
        place = place[step]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return document


def test_a_metric_carries_its_unit() -> None:
    assert RECORD.to_json()["metrics"] == {"flops": {"unit": "FLOP", "value": 8, "source": "formula"}}


def test_a_record_without_time_has_no_time() -> None:
    assert RECORD.time is None


def test_a_metric_of_a_later_version_is_passed_over() -> None:
    document = changed(["records", 0, "metrics", "charge"], {"unit": "C", "value": 1.0})
    assert Run.from_json(document).records == (RECORD,)
    assert "charge" not in METRICS


def test_an_older_or_newer_schema_is_refused_with_both_numbers() -> None:
    with pytest.raises(InputError, match=f"schema_version is 99, this opperf reads {SCHEMA_VERSION}") as caught:
        Run.from_json(changed(["schema_version"], 99), "f.json")
    assert caught.value.slug == "schema_version"


@each(
    ("path", "value", "place"),
    [
        (["run"], ..., "f.json: "),
        (["run"], [], "f.json: "),
        (["run", "id"], ..., "f.json: "),
        (["run", "settings"], None, "f.json: "),
        (["run", "settings", "warmup"], "many", "f.json: "),
        (["run", "settings", "runs"], -1, "f.json: "),
        (["records"], 5, "f.json: "),
        (["records"], ..., "f.json: "),
        (["records", 0], None, "f.json: records[0]"),
        (["records", 0], [], "f.json: records[0]"),
        (["records", 0, "status"], "fine", "f.json: records[0]"),
        (["records", 0, "case"], ..., "f.json: records[0]"),
        (["records", 0, "case", "operator"], 5, "f.json: records[0]"),
        (["records", 0, "case", "inputs", "data"], {"shape": "?"}, "f.json: records[0]"),
        (["records", 0, "side"], {}, "f.json: records[0]"),
        (["records", 0, "side"], 5, "f.json: records[0]"),
        (["records", 0, "metrics"], [], "f.json: records[0]"),
        (["records", 0, "metrics", "flops"], {}, "f.json: records[0]"),
        (["records", 0, "metrics", "flops"], 5, "f.json: records[0]"),
        (["records", 0, "metrics", "time"], {"median": 1.0}, "f.json: records[0]"),
        (["records", 0, "warnings"], [5], "f.json: records[0]"),
        (["records", 0, "reason"], 5, "f.json: records[0]"),
        (["records", 0, "facts"], {"suite": {"total": "a"}}, "f.json: records[0].facts.suite.total: found "),
        (
            ["records", 0, "facts"],
            {"noise_floor": []},
            "f.json: records[0].facts.noise_floor: found []",
        ),
        (["run", "environment"], {"machine": "a"}, "f.json: run.environment.machine: found "),
        (["run", "environment"], {"suite": {"program": {}}}, "f.json: run.environment.suite: program: no `time`"),
    ],
)
def test_a_bad_document_is_refused_with_the_place(path: list[Any], value: Any, place: str) -> None:
    with pytest.raises(InputError) as caught:
        Run.from_json(changed(path, value), "f.json")
    assert caught.value.message.startswith(place)


@each("document", [None, 5, "text", [], {}, {"schema_version": 1}, {"records": []}])
def test_another_file_is_no_result_file(document: Any) -> None:
    with pytest.raises(InputError, match=r"f\.json: not a result file"):
        Run.from_json(document, "f.json")


def places(content: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return every place of a document."""
    inner = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    return [path, *(place for key, value in inner for place in places(value, (*path, key)))]


@given(st.sampled_from(places(DOCUMENT)[1:]), st.sampled_from([..., None, 5, -1, "text", [], {}, [5], {"a": 5}]))
def test_a_document_with_any_one_place_changed_is_read_or_refused(path: tuple[Any, ...], value: Any) -> None:
    try:
        read = Run.from_json(changed(list(path), value), "f.json")
    except InputError as error:
        place = error.message[:8]
        assert place == "f.json: "
    else:
        assert len(read.records) <= 1
