"""What is written of an argument is read back as the same."""

from __future__ import annotations

import math

from tests.each import each

from opperf.catalog import catalog
from opperf.catalog.valid_values import restrict
from opperf.domain.case import Argument, Case, Device, DType, ListOf
from opperf.domain.tensor import TensorSpec
from opperf.parent.reports.text import case_text
from opperf.parent.sources.argument_text import argument_text, argument_words, group_in
from opperf.parent.sources.random_cases import random_cases
from opperf.parent.sources.user_inputs import case_with, foreign_case

MATRIX, INDICES = TensorSpec((2, 2)), TensorSpec((3,), "int64", range=(0, 8))
#: How many cases of each operator are drawn here; `benchmarks/spelling.py` draws 2,000 in all and more.
DRAWS = 2


@each(
    "argument",
    [MATRIX, TensorSpec(()), ListOf((MATRIX, INDICES)), ListOf((MATRIX,)), ListOf(()), (MATRIX, INDICES), (MATRIX,),
     ListOf((MATRIX,) * 200), ListOf((MATRIX, INDICES) * 21), (MATRIX, None, 3, "a;b", math.inf, (INDICES, 1)),
     "ij,jk->ik", None, (3, 4), ListOf((ListOf((MATRIX,)), INDICES)), TensorSpec((2,), "string", literal=("a:b", "]")),
     TensorSpec((2, 2), "float16", literal=(1.0, -math.inf, 0.5, 2.0), strides=(1, 2))],
)  # fmt: skip
def test_an_input_of_a_frameworks_own_function_is_read_back(argument: Argument) -> None:
    case = Case("torch:torch.f", {"x": argument})
    assert foreign_case(case.operator, argument_words(case), {}) == case


@each(
    "argument",
    [1, -1.5, True, None, math.inf, -math.inf, 1e-5, "both", "two words", "None", "True", "false", "inf", "float32",
     "1x2", "(1,2)", "", "device:cpu", DType("float32"), DType("string"), Device("default"), (), (1,), (2, 2),
     (0,) * 50, (("a", 1), (None,)), (1, math.inf), ListOf((1, 2)), ListOf(()), ListOf((1,)), (DType("int8"), "int8"),
     ListOf(("a;b", (1, 2))), "ij,kli,jm->klm"],
)  # fmt: skip
def test_an_attribute_of_a_frameworks_own_function_is_read_back(argument: Argument) -> None:
    case = Case("torch:torch.f", {}, {"x": argument})
    assert foreign_case(case.operator, {}, argument_words(case)) == case


def test_a_function_of_the_users_own_gets_the_name_of_a_type_as_text() -> None:
    assert foreign_case("mine.py:f", {}, {"dtype": "float32"}).attributes["dtype"] == "float32"


@each("name", sorted(catalog()))
def test_a_drawn_case_of_an_operator_is_pasted_as_the_same_case(name: str) -> None:
    definition = catalog()[name]
    drawn = random_cases(definition, DRAWS, seed=1)
    for case in [*drawn, *(restrict(case.with_dtype("float16")) for case in drawn), definition.case("small")]:
        pasted = case_with(definition, argument_words(case, definition.case("common").inputs))
        assert pasted.id == case.id, case_text(case)


def test_a_tensor_that_says_less_than_the_usual_one_says_so() -> None:
    usual = TensorSpec((4,), range=(0.5, 2), values="sorted", requires_grad=False)
    assert argument_text(TensorSpec((8,)), usual) == "8:uniform:range=-1..1:requires_grad=None"
    assert case_with(catalog()["log"], {"data": "8:range=-1..1"}).tensor("data") == TensorSpec((8,))


def test_what_is_no_list_is_none() -> None:
    assert [group_in(text) for text in ("2x2", "(2,2)", "[2,2]", "(a)(b)", "[2;3")] == [None] * 5
