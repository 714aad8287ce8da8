"""Expectations as JSON: what is written is read again, and anything else is refused by its place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import each

from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.plan import Side, Trial
from opperf.domain.tensor import TensorSpec
from opperf.parent.documents.judgement import Expectation, document, from_document

TRIAL = Trial(Case("abs", {"data": TensorSpec((2,))}), Side("torch", threads=2), "forward")
ONE = Expectation(TRIAL, (1e-6, 3e-6, 2e-6), 8, "scripted", "2.13", {"cpu": "A"}, "2026-11-21T00:00:00+00:00")


def test_a_document_is_read_again() -> None:
    assert from_document(json.loads(json.dumps(document([ONE]))), "file") == (ONE,)


def test_the_document_shows_the_median() -> None:
    assert ONE.to_json()["time"] == 2e-6


@each(
    ("change", "message"),
    [
        ({"times": []}, "expectations[0].times: found [], expected the seconds of each process"),
        ({"times": [0.0]}, "expectations[0].times[0]: found 0.0, expected a number > 0"),
        ({"times": [float("inf")]}, "expectations[0].times"),
        ({"times": 3}, "expectations[0].times: found 3, expected a list"),
        ({"memory_peak": -1}, "expectations[0].memory_peak: found -1, expected a whole number >= 0 or null"),
        ({"memory_peak": True}, "expectations[0].memory_peak: found true, expected a whole number >= 0 or null"),
        ({"machine": 3}, "expectations[0].machine: found 3, expected an object"),
        ({"case": {"operator": 3}}, "expectations[0].case: expected a case"),
        ({"side": {"framework": []}}, "expectations[0].side.framework: found [], expected a string"),
        ({"side": {"framework": "tf"}}, "expectations[0].side.framework: no framework `tf`"),
        ({"side": {"framework": "torch", "device": "cpu:1"}}, "expectations[0].side.device: no device `cpu:1`"),
        (
            {"side": {"framework": "torch", "mode": "lazy"}},
            'expectations[0].side.mode: found "lazy", expected "eager" or',
        ),
        (
            {"side": {"framework": "torch", "threads": 0}},
            "expectations[0].side.threads: found 0, expected a whole number >= 1",
        ),
        (
            {"side": {"framework": "torch", "settings": {"env.A": 1}}},
            'expectations[0].side.settings["env.A"]: found 1, expected a string',
        ),
        ({"direction": "up"}, 'expectations[0].direction: found "up", expected "forward" or'),
    ],
)
def test_a_bad_entry_is_refused_by_its_place(change: dict[str, Any], message: str) -> None:
    data = {"schema_version": 1, "expectations": [{**ONE.to_json(), **change}]}
    with pytest.raises(InputError) as caught:
        from_document(data, "file")
    assert message in caught.value.message


@pytest.mark.parametrize("data", [None, [], {}, {"expectations": 3, "schema_version": 1}, {"expectations": []}])
def test_what_is_no_document_is_refused(data: Any) -> None:
    with pytest.raises(InputError, match=r"^file"):
        from_document(data, "file")


def test_a_later_schema_is_refused_with_what_to_do() -> None:
    with pytest.raises(InputError, match="schema_version is 2, this opperf reads 1"):
        from_document({"schema_version": 2, "expectations": []}, "file")


def test_two_expectations_of_one_trial_are_refused() -> None:
    with pytest.raises(InputError, match=r"expectations\[1\] repeats the trial of an earlier one"):
        from_document(document([ONE, ONE]), "file")


def told(whole: Any) -> str:
    """Return the message that a document is refused with, or what stands for none."""
    try:
        from_document(whole, "file")
    except InputError as error:
        return error.message
    return "file: read"


@given(st.data())
def test_a_mutated_document_is_read_or_refused(data: st.DataObject) -> None:
    whole = json.loads(json.dumps(document([ONE])))
    entry = whole["expectations"][0]
    junk = st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    )
    target = data.draw(st.sampled_from([whole, entry, entry["case"], entry["side"]]))
    target[data.draw(st.sampled_from(sorted(target)))] = data.draw(junk)
    assert told(whole).startswith("file: ")
