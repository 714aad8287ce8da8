from __future__ import annotations

import pytest

from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec
from opperf.parent.planning.values import check_inputs, choices, notes

TWO = Case("conv2d", {"data": TensorSpec((9,)), "weight": TensorSpec((9,))})
ONE = Case("sort", {"data": TensorSpec((9,))})


def cases(*words: str) -> list[Case]:
    return [choice.of(case) for choice in choices(words) for case in (TWO, ONE)]


def test_a_note_says_which_inputs_a_distribution_of_all_applies_to() -> None:
    assert [*notes(["denormal", "uniform", "data=ones"], cases("denormal"))] == [
        "`--values denormal` applies to data and weight of `conv2d`; `--values weight=denormal` is for one of them"
    ]


def test_there_is_no_note_where_it_is_one_input_or_one_was_named() -> None:
    assert not [*notes(["sorted"], [choices(["sorted"])[0].of(ONE)])]
    assert not [*notes(["weight=sorted"], cases("weight=sorted"))]


def test_an_input_that_is_nowhere_is_refused_with_those_that_are() -> None:
    check_inputs(["weight=ones"], cases("weight=ones"))
    with pytest.raises(InputError, match="there is no input `wieght`") as caught:
        check_inputs(["wieght=ones"], cases("wieght=ones"))
    assert caught.value.hint == "inputs are data, weight"


def test_a_type_that_has_no_such_values_is_refused() -> None:
    whole = Case("sort", {"data": TensorSpec((9,), "int64")})
    with pytest.raises(InputError, match="`data` has no denormal values"):
        check_inputs(["data=denormal"], [choices(["data=denormal"])[0].of(whole)])
