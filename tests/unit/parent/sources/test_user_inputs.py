"""Inputs as users write them: shapes, attributes, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import each

from opperf.catalog import catalog, operator
from opperf.domain.case import Case, DType, ListOf
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec
from opperf.parent.sources.random_cases import fits
from opperf.parent.sources.user_inputs import (
    case_with,
    foreign_case,
    in_one_shape,
    input_cases,
    pairs,
    shape,
    split_row,
)

SHAPES = st.lists(st.integers(0, 10**9), max_size=6).map(tuple)


@given(SHAPES, st.sampled_from(["x", ",", ", ", " x ", "×"]), st.sampled_from(["()", "[]"]))  # noqa: RUF001
def test_a_shape_in_brackets_is_read(sizes: tuple[int, ...], between: str, brackets: str) -> None:
    text = brackets[0] + between.join(map(str, sizes)) + brackets[1]
    assert shape(text, "data") == sizes


@given(SHAPES.filter(bool), st.sampled_from(["x", ",", " , ", "×"]))  # noqa: RUF001
def test_a_shape_without_brackets_is_read(sizes: tuple[int, ...], between: str) -> None:
    assert shape(between.join(map(str, sizes)), "data") == sizes


@given(SHAPES)
def test_a_shape_as_python_writes_it_is_read(sizes: tuple[int, ...]) -> None:
    assert shape(str(sizes), "data") == sizes
    assert shape(str(list(sizes)), "data") == sizes


@given(st.text(max_size=12))
def test_any_text_is_a_shape_or_refused(text: str) -> None:
    try:
        result = shape(text, "input `data`")
    except InputError as error:
        refused = (error.slug, error.message[:14], error.hint is not None)
        assert refused == ("bad_shape", "input `data`: ", True)
    else:
        assert all(size >= 0 for size in result)


@each("text", ["a", "3x", "x3", "3xx4", "3,,4", "3x-4", "3.5", "1e3", "3 4", "2**3", "", "  ", "(3", "3)"])
def test_what_is_no_shape_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a shape"):
        shape(text, "data")


def test_pairs_are_split_at_the_first_sign() -> None:
    assert pairs(["a=1", " b = x=y ", "c="], "--label") == {"a": "1", "b": "x=y", "c": ""}


@pytest.mark.parametrize("word", ["a", "", "=1", "  =1"])
def test_what_is_no_pair_is_refused_with_its_option(word: str) -> None:
    with pytest.raises(InputError, match="--input") as caught:
        pairs([word], "--input")
    assert caught.value.hint


@pytest.mark.parametrize("option", ["--attribute", "--label"])
def test_a_name_that_is_given_twice_is_refused(option: str) -> None:
    with pytest.raises(InputError, match="`a` is already `1`"):
        pairs(["a=1", "a=2"], option)


def test_a_name_that_is_given_again_begins_the_next_case() -> None:
    words = ["lhs=2x3", "rhs=3x4", "rhs=5x6", "lhs=6x7", "lhs=1x1", "rhs=1x1"]
    assert input_cases(words) == [
        {"lhs": "2x3", "rhs": "3x4"},
        {"rhs": "5x6", "lhs": "6x7"},
        {"lhs": "1x1", "rhs": "1x1"},
    ]
    assert input_cases([]) == []


@pytest.mark.parametrize(
    "words", [["lhs=1", "lhs=2", "rhs=1", "rhs=2"], ["lhs=1", "rhs=1", "lhs=2"], ["lhs=1", "lhs=2", "rhs=2"]]
)
def test_cases_that_differ_in_their_names_are_refused(words: list[str]) -> None:
    with pytest.raises(InputError, match="starts the next case") as caught:
        input_cases(words)
    assert "--shapes" in str(caught.value.hint)


def test_a_shape_keeps_what_else_the_default_says() -> None:
    made = case_with(operator("take"), {"data": "7x3", "indices": (5,)})
    assert made.tensor("data") == TensorSpec((7, 3))
    assert made.tensor("indices").dtype == "int64"
    assert made.tensor("indices").shape == (5,)


def test_what_is_not_given_is_as_in_the_default() -> None:
    default = operator("take").case("common")
    assert case_with(operator("take"), {"axis": 1}).inputs == default.inputs


@each(
    ("name", "values", "axes"),
    [
        ("max", {"data": "1000"}, {"axis": 0}),
        ("cumsum", {"data": "4x5x6"}, {"axis": 1}),
        ("mean", {"data": "1000", "axis": "1"}, {"axis": 1}),  # given, so that the framework refuses it
        ("softmax", {"data": "1000"}, {"axis": -1}),
        ("expand_dims", {"data": "1000"}, {"axis": 1}),
        ("transpose", {"data": "2x3x4"}, {"axes": (2, 1, 0)}),
        ("sum", {"data": "scalar"}, {"axis": 1}),
    ],
)
def test_an_axis_that_nobody_gave_is_one_of_the_shape(
    name: str, values: dict[str, str], axes: dict[str, object]
) -> None:
    made = case_with(operator(name), values)
    assert {axis: made.attributes[axis] for axis in axes} == axes


def test_every_operator_takes_a_vector_where_the_axis_is_all_that_its_default_says_of_more() -> None:
    for name, definition in catalog().items():
        if type(definition.case("common").get("axis")) is int and len(definition.inputs) == 1:
            first = definition.case("common").get(definition.inputs[0])
            made = case_with(definition, {definition.inputs[0]: "1000"}) if isinstance(first, TensorSpec) else None
            assert made is None or made.attributes["axis"] in (0, -1) or name == "expand_dims", name


def test_another_size_class_is_another_default() -> None:
    assert case_with(operator("add"), {}, "small") == operator("add").case("small")


@pytest.mark.parametrize("value", ["2x3;4x3", "2x3 + 4x3", [(2, 3), (4, 3)], [TensorSpec((2, 3)), "4x3"]])
def test_a_list_of_tensors_is_written_in_several_ways(value: Any) -> None:
    made = case_with(operator("concatenate"), {"data": value})
    assert made.inputs["data"] == ListOf((TensorSpec((2, 3)), TensorSpec((4, 3))))


def test_a_tensor_may_be_described_in_full() -> None:
    described = {"shape": [4], "dtype": "float16"}
    assert case_with(operator("abs"), {"data": described}).tensor("data") == TensorSpec((4,), "float16")
    spec = TensorSpec((4,), "float64", values="ones")
    assert case_with(operator("abs"), {"data": spec}).tensor("data") is spec


@each("value", [5, None, 2.5, ("a",), object(), {"shape": 5}, (-1,), (True,), [[2, 3], 5]])
def test_what_is_no_tensor_is_refused(value: Any) -> None:
    with pytest.raises(InputError):
        case_with(operator("abs"), {"data": value})


def test_an_unknown_name_is_refused_with_those_it_takes() -> None:
    with pytest.raises(InputError, match="no input of abs `dta`"):
        case_with(operator("abs"), {"dta": "3"})


@each(
    ("text", "value"),
    [
        ("1", 1),
        ("-1", -1),
        ("0.5", 0.5),
        ("True", True),
        ("None", None),
        ("(1, 2)", (1, 2)),
        ("[1, 2]", (1, 2)),
        ("[[1, 2], [3, 4]]", ((1, 2), (3, 4))),
        ("('same', '1')", ("same", "1")),
        ("'1'", "1"),
        ("tanh", "tanh"),
        ("1x2", "1x2"),
        ("", ""),
    ],
)
def test_an_attribute_is_a_literal_or_the_text_itself(text: str, value: Any) -> None:
    result = foreign_case("f", {}, {"a": text}).attributes["a"]
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize("value", [[1, [2, 3]], (1, [2, 3])])
def test_lists_within_an_attribute_are_tuples_too(value: Any) -> None:
    made = foreign_case("f", {}, {"a": value})
    assert made.attributes["a"] == (1, (2, 3))
    assert Case.from_json(made.to_json()) == made


@each("value", ["{1: 2}", "{1}", "b'x'", "1j", "...", "[{1: 2}]", {"a": 1}, object(), b"x", [object()]])
def test_what_is_no_attribute_is_refused(value: Any) -> None:
    with pytest.raises(InputError, match="attribute value"):
        foreign_case("f", {}, {"a": value})


@pytest.mark.parametrize("text", ["__import__('os').system('true')", "open('x')", "1 + a", "[].append(1)"])
def test_nothing_in_an_attribute_is_evaluated(text: str) -> None:
    assert foreign_case("f", {}, {"a": text}).attributes["a"] == text


@given(st.text(max_size=15))
def test_any_text_is_an_attribute_or_refused(text: str) -> None:
    try:
        made = foreign_case("f", {}, {"a": text})
    except InputError:
        made = foreign_case("f", {}, {})
    assert Case.from_json(made.to_json()).id == made.id


def test_a_dtype_is_read_where_the_default_is_one() -> None:
    assert case_with(operator("cast"), {"dtype": "fp16"}).attributes["dtype"] == DType("float16")


def test_an_unknown_dtype_is_refused() -> None:
    with pytest.raises(InputError, match="no dtype `float31`"):
        case_with(operator("cast"), {"dtype": "float31"})


def test_inputs_of_an_unknown_function_are_float32() -> None:
    made = foreign_case("f", {"a": "2x3", "b": [(1,), (2,)]}, {"k": 3})
    assert made == Case("f", {"a": TensorSpec((2, 3)), "b": ListOf((TensorSpec((1,)), TensorSpec((2,))))}, {"k": 3})


@each(
    ("text", "dtype", "shape"),
    [
        ("literal:[0,3,7]", "int64", (3,)),
        ("literal:[[1.0,0],[0,1]]", "float32", (2, 2)),
        ("literal:[True]", "bool", (1,)),
        ("literal:[['yes'],['inf']]", "string", (2, 1)),
        ("literal:['nan','inf']", "float32", (2,)),
        ("literal:5", "int64", ()),
    ],
)
def test_values_of_an_unknown_function_have_the_type_they_are_written_in(
    text: str, dtype: str, shape: tuple[int, ...]
) -> None:
    made = foreign_case("f", {"data": text}, {}).tensor("data")
    assert (made.dtype, made.shape, made.values) == (dtype, shape, "literal")


def test_values_of_a_known_operator_have_the_type_of_its_input() -> None:
    made = case_with(operator("add"), {"lhs": "literal:[1,2]", "rhs": "2"}).tensor("lhs")
    assert made == TensorSpec((2,), literal=(1.0, 2.0))


@pytest.mark.parametrize(
    "text", ["literal:[1,[2]]", "literal:abc", "literal:[1", "literal:['a',1]", "literal:__import__"]
)
def test_what_is_no_list_of_values_is_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        foreign_case("f", {"data": text}, {})
    assert caught.value.slug == "bad_values"
    assert "literal:[0,3,7]" in str(caught.value)


# One shape for every input -------------------------------------------------------------------------------------------


def test_a_shape_without_a_name_is_that_of_every_input() -> None:
    assert input_cases(["64x64", "(8,)"]) == [{"*": "64x64"}, {"*": "(8,)"}]
    assert pairs_in("add", "64x64") == {"lhs": (64, 64), "rhs": (64, 64)}
    assert pairs_in("matmul", (32, 32)) == {"lhs": (32, 32), "rhs": (32, 32)}


def pairs_in(name: str, given: Any) -> dict[str, Any]:
    """Return the shapes of the case in which every input of an operator has one."""
    made = case_with(operator(name), in_one_shape(operator(name), {"*": given}))
    return {name: made.tensor(name).shape for name in made.inputs}


def test_a_vector_for_every_input_has_its_only_axis() -> None:
    assert in_one_shape(operator("max"), {"*": "8"}) == {"data": TensorSpec((8,)), "axis": 0}


def test_every_tensor_of_a_list_has_the_shape() -> None:
    made = case_with(operator("concatenate"), in_one_shape(operator("concatenate"), {"*": "4x4"}))
    assert {tensor.shape for tensor in made.tensors()} == {(4, 4)}


def test_what_follows_from_the_shape_follows_it() -> None:
    made = case_with(operator("gather"), in_one_shape(operator("gather"), {"*": "8x8"}))
    assert made.tensor("indices").range == (0, 8)


@pytest.mark.parametrize(
    ("name", "given"), [("matmul", "64x32"), ("layer_norm", "8x8"), ("conv2d", "8x8"), ("gather", "8"), ("arange", "8")]
)
def test_an_operator_whose_inputs_cannot_all_have_the_shape_is_refused_with_their_names(name: str, given: str) -> None:
    with pytest.raises(InputError, match=f"`{name}` does not take the shape {given}") as caught:
        in_one_shape(operator(name), {"*": given})
    inputs = operator(name).inputs
    assert all(f"--input {one}=" in str(caught.value.hint) for one in inputs)


def test_a_shape_for_every_input_beside_a_named_one_is_refused() -> None:
    with pytest.raises(InputError, match="does not take the shape"):
        in_one_shape(operator("add"), {"*": "8x8", "lhs": "8x8"})


@pytest.mark.parametrize("sizes", [(8, 8), (64,), (4, 8, 16, 16)])
def test_one_shape_is_refused_or_every_input_has_it(sizes: tuple[int, ...]) -> None:
    for name in sorted(catalog()):
        try:
            made = case_with(operator(name), in_one_shape(operator(name), {"*": sizes}))
        except InputError as error:
            refusal = error.message
        else:
            refusal = ""
            assert {tensor.shape for tensor in made.tensors()} == {sizes}, name
            assert fits(operator(name), made), name
        assert not refusal or "does not take the shape" in refusal, name


# Rows of a file ------------------------------------------------------------------------------------------------------


def test_a_row_for_a_function_that_is_not_known_has_shapes_and_attributes() -> None:
    row = {
        "a": "8x8",
        "b": "[8]",
        "c": [2, 2],
        "d": "literal:[1,2]",
        "e": {"shape": [2]},
        "n": "8",
        "k": "(3,3)",
        "f": 1,
    }
    inputs, attributes = split_row(row)
    assert (list(inputs), list(attributes)) == (["a", "b", "c", "d", "e"], ["n", "k", "f"])


@pytest.mark.parametrize(("written", "value"), [("true", True), ("False", False), ("1", 1)])
def test_a_truth_value_is_written_in_either_case(written: str, value: object) -> None:
    assert case_with(operator("sum"), {"keepdims": written}).attributes["keepdims"] == value
