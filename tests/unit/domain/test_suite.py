"""A suite: read whole, or refused with the place of what is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.each import each

from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.suite import LeftOut, Part, Program, Suite, SuiteCase, join
from opperf.domain.tensor import TensorSpec

SUITE = Suite("resnet", "capture", (SuiteCase(Case("abs", {"data": TensorSpec((2,))}), 7, "model.py:3"),))


def test_a_suite_is_read_back() -> None:
    assert Suite.from_json(json.loads(json.dumps(SUITE.to_json())), "f") == SUITE


def test_the_program_that_was_captured_is_read_back() -> None:
    program = Program(0.0125, calls=20, framework="torch", version="2.13.0", threads=1)
    suite = Suite("resnet", "capture", SUITE.cases, program)
    assert Suite.from_json(json.loads(json.dumps(suite.to_json())), "f") == suite


def test_what_was_left_out_is_read_back() -> None:
    lacking = (LeftOut("aten::_nnz", 3, "a sparse tensor"), LeftOut("aten::add_", 1, "a sparse tensor", 0.25))
    suite = Suite("resnet", "capture", SUITE.cases, left_out=lacking)
    assert Suite.from_json(json.loads(json.dumps(suite.to_json())), "f") == suite


def test_several_functions_are_parts_of_one_suite_that_is_read_back() -> None:
    def captured(name: str, source: str, seconds: float) -> Suite:
        program = Program(seconds, calls=20, framework="jax", version="0.10.2", threads=1)
        return Suite(name, source, SUITE.cases, program, (LeftOut("while", 1, "a loop"),))

    prefill, decode = captured("prefill", "m:prefill, unfused", 0.5), captured("decode", "m:decode, unfused", 0.25)
    whole = join([prefill, decode])
    assert (whole.name, whole.source) == ("prefill + decode", "m:prefill, m:decode, unfused")
    assert [entry.origin for entry in whole.cases] == ["prefill: model.py:3", "decode: model.py:3"]
    assert whole.program is not None
    assert (whole.program.time, whole.parts) == (0.75, (Part("prefill", 0.5), Part("decode", 0.25)))
    assert len(whole.left_out) == 2
    assert Suite.from_json(json.loads(json.dumps(whole.to_json())), "f") == whole
    assert join([prefill]) is prefill


def test_functions_of_one_name_go_by_their_files_too() -> None:
    whole = join([Suite("step", "a.py:step", SUITE.cases), Suite("step", "b.py:step", SUITE.cases)])
    assert [entry.origin for entry in whole.cases] == ["a.py:step: model.py:3", "b.py:step: model.py:3"]


def test_count_and_origin_have_defaults() -> None:
    read = Suite.from_json({"schema_version": 1, "cases": [{"case": {"operator": "abs"}}]}, "f")
    assert read.cases == (SuiteCase(Case("abs"), 1, "user"),)


@each(
    ("written", "place"),
    [
        (None, "f: "),
        ([], "f: "),
        ({"schema_version": 2, "cases": []}, "f: "),
        ({"schema_version": 1}, "f: `cases`"),
        ({"schema_version": 1, "cases": {}}, "f: `cases`"),
        ({"schema_version": 1, "cases": [{"case": {"operator": "abs"}}, 5]}, "f: cases[1]: "),
        ({"schema_version": 1, "cases": [{}]}, "f: cases[0]: "),
        ({"schema_version": 1, "cases": [{"case": {"operator": 5}}]}, "f: cases[0].case: "),
        ({"schema_version": 1, "cases": [{"case": {"operator": "abs"}, "count": 0}]}, "f: cases[0].count: "),
        ({"schema_version": 1, "cases": [{"case": {"operator": "abs"}, "count": True}]}, "f: cases[0].count: "),
        ({"schema_version": 1, "cases": [{"case": {"operator": "abs"}, "count": 1.5}]}, "f: cases[0].count: "),
        ({"schema_version": 1, "cases": [], "program": {"time": 1.0}}, "f: program: "),
        ({"schema_version": 1, "cases": [], "left_out": {}}, "f: left_out"),
        ({"schema_version": 1, "cases": [], "left_out": [{"name": "f", "count": 0}]}, "f: left_out[0]"),
        ({"schema_version": 1, "cases": [], "left_out": [5]}, "f: left_out[0]"),
        (
            {"schema_version": 1, "cases": [{"case": {"operator": "abs", "inputs": {"data": {"shape": "2"}}}}]},
            "f: cases[0].case.inputs.data.shape: ",
        ),
    ],
)
def test_a_bad_suite_is_refused_with_the_place(written: Any, place: str) -> None:
    with pytest.raises(InputError) as caught:
        Suite.from_json(written, "f")
    assert caught.value.message.startswith(place)
