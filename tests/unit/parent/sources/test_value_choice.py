from __future__ import annotations

import pytest
from tests.each import each

from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec
from opperf.parent.sources.value_choice import ValueChoice

CASE = Case(
    "take",
    {
        "data": TensorSpec((9,)),
        "weight": TensorSpec((9,), values="sorted"),
        "ids": TensorSpec((4,), "int64", range=(0, 9)),
        "given": TensorSpec((1,), literal=(1.0,)),
    },
)


def values(case: Case) -> dict[str, str]:
    return {name: case.tensor(name).values for name in case.inputs}


def test_a_distribution_alone_is_for_every_uniform_input_that_has_it() -> None:
    changed = ValueChoice.parse("denormal").of(CASE)
    assert values(changed) == {"data": "denormal", "weight": "sorted", "ids": "uniform", "given": "literal"}
    assert ValueChoice.parse("denormal").inputs(changed) == ["data"]


def test_an_input_gets_its_own_distribution_and_others_keep_theirs() -> None:
    changed = ValueChoice.parse("ids=reversed, weight=sparse:0.50").of(CASE)
    assert values(changed) == {"data": "uniform", "weight": "sparse:0.5", "ids": "reversed", "given": "literal"}
    assert changed.tensor("ids").range == (0, 9)


def test_a_choice_is_written_as_it_is_read() -> None:
    for text in ("sorted", "a=sorted,b=sparse:0.9"):
        assert str(ValueChoice.parse(text)) == text


@each("text", ["gaussian", "a=gaussian", "a=sorted,b", "=sorted", "a=sorted,a=ones", ""])
def test_what_is_no_choice_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        ValueChoice.parse(text)
