"""How a backend writes down its spelling of an operator."""

from __future__ import annotations

import pytest
from tests.each import each

from opperf.child.backends.binding import Call, Parameter, call, composition, parameters


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
