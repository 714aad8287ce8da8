"""A case: its id, which must never change, its JSON form, and what other element types make of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.each import each

from opperf.domain.case import Argument, Case, Device, DType, Graph, ListOf, argument_from_json, argument_to_json
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

TENSOR = TensorSpec((2, 3))

#: Ids in result files of every past version. One that changes cuts users off from their history: never edit these.
GOLDEN = {
    "c1-e7a9aedb9762e366": Case("add", {"lhs": TensorSpec((2,)), "rhs": TensorSpec((2,))}),
    "c1-68fcf0986b4b394a": Case("add", {"lhs": TensorSpec((1024, 1024)), "rhs": TensorSpec((1024, 1024))}),
    "c1-16b313e3f7ef01c8": Case("concatenate", {"data": ListOf((TensorSpec((512, 512)),) * 4)}, {"axis": 0}),
    "c1-8dcce8fa43a3d494": Case("cast", {"data": TensorSpec((1024, 1024))}, {"dtype": DType("float16")}),
    "c1-7a629145058d6eb9": Case(
        "conv2d",
        {"data": TensorSpec((20, 16, 28, 28)), "weight": TensorSpec((32, 16, 3, 3))},
        {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), "groups": 1},
    ),
    "c1-0cbe5914935dd26d": Case(
        "take",
        {"data": TensorSpec((1024, 1024)), "indices": TensorSpec((1024,), "int64", range=(0, 1024))},
        {"axis": 0},
    ),
    "c1-63c45790e97b2495": Case("dropout", {"data": TensorSpec((1024, 1024))}, {"rate": 0.5, "training": True}),
    "c1-95d2d7b5b5302ce0": Case(
        "torch:aten::odd",
        {
            "a": TensorSpec((), "bfloat16", strides=(), values="ones", requires_grad=False),
            "b": (TENSOR, None, ListOf((1, "x"))),
        },
        {"device": Device("cuda:0"), "limit": float("inf"), "name": "ü", "none": None},
    ),
}


@each("name", GOLDEN)
def test_the_id_of_a_case_never_changes(name: str) -> None:
    assert GOLDEN[name].id == name


@each("name", GOLDEN)
def test_a_case_of_the_golden_ids_is_read_back_with_its_id(name: str) -> None:
    written = json.dumps(GOLDEN[name].to_json())
    assert Case.from_json(json.loads(written)).id == name


def test_the_order_of_names_does_not_change_the_id() -> None:
    one = Case("f", {"a": TENSOR, "b": TensorSpec((4,))}, {"x": 1, "y": 2})
    other = Case("f", {"b": TensorSpec((4,)), "a": TENSOR}, {"y": 2, "x": 1})
    assert one.id == other.id


def test_a_default_that_is_said_does_not_change_the_id() -> None:
    said = Case("f", {"a": TensorSpec((2, 3), "float32", values="uniform", range=(-1, 1))})
    assert said.id == Case("f", {"a": TENSOR}).id


@each(
    "other",
    [
        Case("g", {"a": TENSOR}, {"axis": 1}),
        Case("f", {"a": TensorSpec((3, 2))}, {"axis": 1}),
        Case("f", {"a": TensorSpec((2, 3), "float64")}, {"axis": 1}),
        Case("f", {"a": TensorSpec((2, 3), strides=(1, 2))}, {"axis": 1}),
        Case("f", {"a": TensorSpec((2, 3), values="zeros")}, {"axis": 1}),
        Case("f", {"a": TensorSpec((2, 3), range=(0, 1))}, {"axis": 1}),
        Case("f", {"a": TensorSpec((2, 3), requires_grad=False)}, {"axis": 1}),
        Case("f", {"b": TENSOR}, {"axis": 1}),
        Case("f", {"a": TENSOR, "axis": 1}),
        Case("f", {"a": TENSOR}, {"axis": True}),
        Case("f", {"a": TENSOR}, {"axis": 1.0}),
        Case("f", {"a": TENSOR}, {"axis": "1"}),
        Case("f", {"a": TENSOR}, {"axis": (1,)}),
        Case("f", {"a": TENSOR}, {"axis": ListOf((1,))}),
        Case("f", {"a": TENSOR}),
    ],
)
def test_whatever_is_computed_otherwise_has_another_id(other: Case) -> None:
    assert Case("f", {"a": TENSOR}, {"axis": 1}).id != other.id


@pytest.mark.parametrize("value", [True, 1.0])
def test_cases_are_equal_when_their_ids_are(value: Argument) -> None:
    # Python has it that 1 == True == 1.0, but to a framework they differ.
    assert Case("f", {}, {"axis": 1}) != Case("f", {}, {"axis": value})


def test_equal_cases_are_one_key_of_a_dictionary() -> None:
    assert len({Case("f", {"a": TENSOR}): 1, Case("f", {"a": TensorSpec((2, 3))}): 2}) == 1


@each(
    ("argument", "written"),
    [
        (TENSOR, {"shape": [2, 3], "dtype": "float32"}),
        (ListOf((1, TENSOR)), {"list": [1, {"shape": [2, 3], "dtype": "float32"}]}),
        ((1, (2.5, None)), {"tuple": [1, {"tuple": [2.5, None]}]}),
        (DType("int8"), {"dtype": "int8"}),
        (Device("cpu"), {"device": "cpu"}),
        (Graph(b"\x00\xff."), {"graph": "AP8u"}),
        (float("inf"), {"float": "inf"}),
        (float("-inf"), {"float": "-inf"}),
        ("text", "text"),
        (True, True),
        (None, None),
    ],
)
def test_an_argument_has_one_json_form_and_is_read_from_it(argument: Argument, written: Any) -> None:
    assert argument_to_json(argument) == written
    assert argument_from_json(written, "here") == argument


def test_not_a_number_survives_json() -> None:
    read = argument_from_json(json.loads(json.dumps(argument_to_json(float("nan")), allow_nan=False)), "here")
    assert isinstance(read, float)
    assert read != read


@each(
    ("written", "place"),
    [
        ([1, 2], "case.inputs.a"),
        ({}, "case.inputs.a"),
        ({"list": 1}, "case.inputs.a"),
        ({"float": "1.5"}, "case.inputs.a"),
        ({"float": []}, "case.inputs.a"),
        ({"graph": 1}, "case.inputs.a"),
        ({"graph": "AP8"}, "case.inputs.a"),
        ({"graph": "AP8u!"}, "case.inputs.a"),
        ({"graph": "\u00fc"}, "case.inputs.a"),
        ({"list": [1], "tuple": [1]}, "case.inputs.a"),
        ({"tuple": [1, {"list": [{"what": 1}]}]}, "case.inputs.a.tuple[1].list[0]"),
        ({"list": [{"shape": 3}]}, "case.inputs.a.list[0].shape"),
        ({"shape": [1], "colour": "red"}, "case.inputs.a"),
        ({"shape": [1], "dtype": "float31"}, "case.inputs.a"),
        ({"dtype": "float31"}, "case.inputs.a"),
    ],
)
def test_a_bad_argument_is_refused_with_its_place(written: Any, place: str) -> None:
    with pytest.raises(InputError) as caught:
        Case.from_json({"operator": "f", "inputs": {"a": written}})
    assert caught.value.message.startswith(f"{place}: ")


@each("written", [None, [], 3, {}, {"operator": 3}, {"operator": "f", "inputs": []}])
def test_what_is_no_case_is_refused(written: Any) -> None:
    with pytest.raises(InputError, match="there"):
        Case.from_json(written, "there")


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "shape",
                    "dtype",
                    "strides",
                    "values",
                    "range",
                    "requires_grad",
                    "list",
                    "tuple",
                    "device",
                    "float",
                    "graph",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(ANYTHING)
def test_any_json_is_an_argument_or_refused(written: Any) -> None:
    try:
        read = argument_from_json(written, "here")
    except InputError as error:
        place = error.message[:4]
        assert place == "here"
    else:
        assert Case("f", {}, {"a": read}).id == Case.from_json(Case("f", {}, {"a": read}).to_json()).id


def test_tensors_are_found_in_lists_and_tuples() -> None:
    case = Case("f", {"a": ListOf((TENSOR, (TensorSpec((5,)), 1))), "b": TensorSpec((7,), "int64")})
    assert [tensor.shape for tensor in case.tensors()] == [(2, 3), (5,), (7,)]
    assert case.input_bytes == 4 * 6 + 4 * 5 + 8 * 7


def test_an_argument_is_found_among_inputs_then_attributes() -> None:
    case = Case("f", {"a": TENSOR}, {"axis": 1})
    assert (case["a"], case["axis"], case.get("none", 5)) == (TENSOR, 1, 5)


def test_a_tensor_that_is_a_list_is_refused() -> None:
    with pytest.raises(InputError, match="`a` of `f` must be a tensor"):
        Case("f", {"a": ListOf(())}).tensor("a")


def test_another_dtype_changes_float32_and_nothing_else() -> None:
    case = Case(
        "f",
        {"data": ListOf((TENSOR, TensorSpec((2,), "float64"))), "indices": TensorSpec((2,), "int64")},
        {"dtype": DType("float32"), "to": DType("int8"), "axis": 1},
    )
    changed = case.with_dtype("bfloat16")
    assert [tensor.dtype for tensor in changed.tensors()] == ["bfloat16", "float64", "int64"]
    assert changed.attributes == {"dtype": DType("bfloat16"), "to": DType("int8"), "axis": 1}


def test_a_float_range_stays_with_another_float_type() -> None:
    case = Case("log", {"data": TensorSpec((2,), range=(0.5, 2.0))})
    assert case.with_dtype("float16").tensor("data").range == (0.5, 2.0)


def test_whole_numbers_take_their_own_range() -> None:
    case = Case("f", {"data": TensorSpec((2,), range=(-0.5, 0.5))})
    assert case.with_dtype("int32").tensor("data").range is None


def test_whole_numbers_stay_positive_where_the_operator_asked_for_that() -> None:
    case = Case("log", {"data": TensorSpec((2,), range=(0.5, 2.0))})
    assert case.with_dtype("int32").tensor("data").range == (1.0, float(1 << 31))
    assert case.with_dtype("uint8").with_dtype("int8", of="uint8").tensor("data").range == (1.0, 128.0)


def test_whole_numbers_of_a_whole_type_become_real_ones_and_indices_do_not() -> None:
    case = Case("f", {"a": TensorSpec((2,), "int8", range=(-128, 128)), "b": TensorSpec((2,), "int8", range=(0, 4))})
    assert case.with_dtype("float32", of="int8")["a"] == TensorSpec((2,))
    assert case.with_dtype("float32", of="int8")["b"] == case["b"]
    small = Case("exp", {"a": TensorSpec((2,), "int8", range=(-10, 10))})
    assert small.with_dtype("float32", of="int8")["a"] == TensorSpec((2,))


def test_float32_changes_nothing() -> None:
    case = Case("log", {"data": TensorSpec((2,), range=(0.5, 2.0))}, {"dtype": DType("float32")})
    assert case.with_dtype("float32").id == case.id


def test_tensors_that_are_given_by_name_take_the_element_type_too() -> None:
    case = Case("f", {"data": TensorSpec((2,))}, {"weight": TensorSpec((2,)), "index": TensorSpec((2,), "int64")})
    changed = case.with_dtype("float64")
    assert (changed["weight"], changed["index"]) == (TensorSpec((2,), "float64"), TensorSpec((2,), "int64"))
