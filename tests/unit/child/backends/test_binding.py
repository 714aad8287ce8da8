"""How a backend writes down its spelling of an operator."""

from __future__ import annotations

import json
import math
from types import ModuleType

import pytest
from tests.each import each

from opperf.catalog import operator
from opperf.child.backends.binding import (
    Call,
    Missing,
    OwnNames,
    Parameter,
    Row,
    bindings,
    call,
    composition,
    functions,
    gaps,
    parameters,
    rows,
)


@each(
    ("text", "expected"),
    [
        ("", ()),
        ("data", (Parameter("data", neutral="data"),)),
        ("input=data", (Parameter("input", neutral="data"),)),
        ("*data", (Parameter("data", neutral="data", spread=True),)),
        ("'sum'", (Parameter("", constant="sum"),)),
        ("-1, None", (Parameter("", constant=-1), Parameter("", constant=None))),
        ("dim=(0, 1)", (Parameter("dim", constant=(0, 1)),)),
        ("a, b=c", (Parameter("a", neutral="a"), Parameter("b", neutral="c"))),
    ],
)
def test_an_argument_list_is_read(text: str, expected: tuple[Parameter, ...]) -> None:
    assert parameters(text) == expected


@pytest.mark.parametrize("text", ["f()", "a=f(1)", "a + b", "a.b", "a=b.c"])
def test_nothing_in_an_argument_list_is_evaluated(text: str) -> None:
    with pytest.raises(ValueError, match="malformed"):
        parameters(text)


def test_what_is_no_argument_list_is_refused() -> None:
    with pytest.raises(ValueError, match="not an argument list"):
        parameters("a), f(b")
    with pytest.raises(SyntaxError):
        parameters("a b")


def test_own_names_lead_to_neutral_ones_and_leave_constants_out() -> None:
    assert call("torch.sum", "input=data", "dim=axis, dtype=None").own_names == {"input": "data", "dim": "axis"}


def test_a_composition_is_called_by_its_function() -> None:
    def softmax(data: object) -> None:
        """Do nothing."""

    made = composition(softmax, "data", note="exp and sum")
    assert (made.path, made.function, made.note) == ("composition:softmax", softmax, "exp and sum")


def test_a_composition_takes_its_own_arguments_by_their_names_where_no_others_are_written() -> None:
    def scale(data: object, factor: float) -> None:
        """Do nothing."""

    assert composition(scale, note="a product") == composition(scale, "data, factor", note="a product")
    assert composition(scale, "", note="a product").positional == ()


def test_the_own_path_of_a_binding_is_the_binding() -> None:
    made = call("torch.add", "data", note="kept")
    assert made.at("torch.add") is made


def test_another_path_takes_the_same_arguments_without_the_note_and_the_composition() -> None:
    made = Call("composition:f", parameters("data"), function=max, note="composed", also=("torch.max",))
    assert made.at("torch.max") == Call("torch.max", parameters("data"), also=("torch.max",))


def test_an_unknown_path_is_nobodys() -> None:
    assert call("torch.add", "data").at("torch.sub") is None


@pytest.mark.parametrize(
    ("positional", "keywords", "fixed"),
    [("data", "axis=axis", False), ("data", "act_type='relu'", True), ("data, 1", "", True)],
)
def test_a_constant_makes_a_function_of_many_one_operator(positional: str, keywords: str, fixed: bool) -> None:
    assert call("nd.Activation", positional, keywords).fixed is fixed


def test_a_word_of_a_table_is_an_operator_its_name_here_and_its_names_elsewhere() -> None:
    table = {("data", ""): "exp negative=neg abs|absolute", ("data", "axis=axis"): "concatenate=concat|cat|join"}
    assert list(rows(table)) == [
        Row("exp", "exp", (), "data", ""),
        Row("negative", "neg", (), "data", ""),
        Row("abs", "abs", ("absolute",), "data", ""),
        Row("concatenate", "concat", ("cat", "join"), "data", "axis=axis"),
    ]


def test_functions_of_one_place_share_their_arguments_and_their_note() -> None:
    made = functions("torch", {("input=data", "dim=axis"): "sum max=amax"}, note="folded")
    assert made == {
        "sum": call("torch.sum", "input=data", "dim=axis", note="folded"),
        "max": call("torch.amax", "input=data", "dim=axis", note="folded"),
    }


def test_further_paths_are_made_of_the_names_elsewhere_or_of_the_name_here() -> None:
    made = functions("jax.numpy", {("data", ""): "exp arcsin|asin"}, also=("jax.lax.{}", "lax.{}"))
    assert made == {
        "exp": call("jax.numpy.exp", "data", also=("jax.lax.exp", "lax.exp")),
        "arcsin": call("jax.numpy.arcsin", "data", also=("jax.lax.asin", "lax.asin")),
    }


def test_operators_that_a_framework_lacks_share_the_reason() -> None:
    assert gaps("there are none", "conv1d conv2d") == dict.fromkeys(("conv1d", "conv2d"), Missing("there are none"))


@each(
    ("name", "expected"),
    [
        ("exp", {"exp": call("math.exp", "x=data")}),
        ("hypot", {"hypot": call("math.hypot", "x1=lhs, x2=rhs")}),
        ("sinh", {"sinh": call("math.sinh", "x=data")}),
        ("relu", {}),
    ],
)
def test_an_operator_without_a_row_is_the_function_of_its_name_if_there_is_one(
    name: str, expected: dict[str, Call]
) -> None:
    assert OwnNames({"math": math}, "x=data", "x1=lhs, x2=rhs").spelling(operator(name)) == expected


def test_an_operator_without_a_row_is_looked_for_in_one_place_after_the_other() -> None:
    own_names = OwnNames({"json": json, "math": math})
    assert own_names.spelling(operator("exp")) == {"exp": call("math.exp", "data")}


def test_what_no_row_names_has_its_attributes_by_keywords() -> None:
    here = ModuleType("here")
    vars(here)["elu"] = print
    own_names = OwnNames({"here": here})
    assert own_names.spelling(operator("elu")) == {"elu": call("here.elu", "data", "alpha=alpha")}


def test_a_function_of_the_own_name_is_listed_before_those_of_rows() -> None:
    spellings = bindings("numpy")
    assert spellings["add"] == call("numpy.add", "x1=lhs, x2=rhs")
    assert list(spellings).index("add") < list(spellings).index("broadcast_add")
