"""The description of a tensor: sizes, defaults, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.each import each

from opperf.domain.errors import InputError
from opperf.domain.tensor import DTYPE_ALIASES, FLOAT8, FLOATS, ITEM_SIZES, STRING, TensorSpec, parse_dtype

NUMPYS = sorted(set(ITEM_SIZES) - {*FLOAT8, "bfloat16", "complex32", STRING})


def test_item_sizes_are_those_of_numpy() -> None:
    assert {name: ITEM_SIZES[name] for name in NUMPYS} == {name: np.dtype(name).itemsize for name in NUMPYS}


def test_floats_are_the_inexact_types_of_numpy() -> None:
    assert {*FLOATS} & {*NUMPYS} == {name for name in NUMPYS if np.issubdtype(np.dtype(name), np.inexact)}


def test_an_alias_means_a_known_type() -> None:
    assert {*map(parse_dtype, DTYPE_ALIASES)} <= {*ITEM_SIZES}


def test_an_unknown_type_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError) as caught:
        parse_dtype("float31")
    assert caught.value.slug == "unknown_dtype"
    assert "bfloat16" in str(caught.value)


@pytest.mark.parametrize(
    ("shape", "dtype", "nbytes"), [((), "float64", 8), ((0, 5), "int8", 0), ((3, 4), "complex128", 192)]
)
def test_bytes_are_elements_times_item_size(shape: tuple[int, ...], dtype: str, nbytes: int) -> None:
    assert TensorSpec(shape, dtype).nbytes == nbytes


@each(
    ("dtype", "bounds"),
    [
        ("float16", (-1, 1)),
        ("float8_e5m2", (-1, 1)),
        ("complex32", (-1, 1)),
        ("bool", (0, 2)),
        (STRING, (0, 10)),
    ],
)
def test_a_range_that_is_the_default_is_left_out(dtype: str, bounds: tuple[float, float]) -> None:
    assert TensorSpec((2,), dtype, range=bounds) == TensorSpec((2,), dtype)
    assert "range" not in TensorSpec((2,), dtype, range=bounds).to_json()


@each(
    "given",
    [
        {"shape": (-1,)},
        {"shape": (2.0,)},
        {"shape": (True,)},
        {"shape": ("2",)},
        {"shape": (1,), "dtype": "float31"},
        {"shape": (1,), "dtype": "fp16"},
        {"shape": (1,), "values": "gaussian"},
    ],
)
def test_a_bad_description_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        TensorSpec(**given)


@each(
    "written",
    [
        {},
        {"shape": None},
        {"shape": 5},
        {"shape": [1.5]},
        {"shape": [-1]},
        {"shape": [None]},
        {"shape": [2], "strides": 1},
        {"shape": [2], "strides": ["x"]},
        {"shape": [2], "strides": [1, 1]},
        {"shape": [2], "range": 5},
        {"shape": [2], "range": [1]},
        {"shape": [2], "range": [None, 1]},
        {"shape": [2], "range": ["a", "b"]},
        {"shape": [2], "values": 7},
        {"shape": [2], "dtype": 7},
        {"shape": [2], "requires_grad": "yes"},
        {"shape": [2], "size": 7},
    ],
)
def test_a_bad_json_form_is_refused_with_its_place(written: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"^case\.inputs\.lhs(\.\w+(\[\d\])?)?: "):
        TensorSpec.from_json(written, "case.inputs.lhs")


def test_whole_numbers_that_other_programs_write_with_a_point_are_whole() -> None:
    assert TensorSpec.from_json({"shape": [2.0, 3]}) == TensorSpec((2, 3))


def test_the_json_form_holds_what_is_not_default() -> None:
    spec = TensorSpec((2, 3), "float16", (1, 2), "ones", (0, 1), requires_grad=False)
    assert spec.to_json() == {
        "shape": [2, 3],
        "dtype": "float16",
        "strides": [1, 2],
        "values": "ones",
        "range": [0.0, 1.0],
        "requires_grad": False,
    }
    assert TensorSpec.from_json(spec.to_json()) == spec


def test_json_may_leave_out_everything_but_the_shape() -> None:
    assert TensorSpec.from_json({"shape": [2]}) == TensorSpec((2,))


def test_an_alias_is_read_from_json_as_what_it_means() -> None:
    assert TensorSpec.from_json({"shape": [], "dtype": "fp16"}).dtype == "float16"


@pytest.mark.parametrize(
    ("spec", "text"),
    [(TensorSpec((2, 3)), "2x3"), (TensorSpec(()), "scalar"), (TensorSpec((4,), "int64"), "4 int64")],
)
def test_people_read_a_shape_with_crosses(spec: TensorSpec, text: str) -> None:
    assert str(spec) == text


@each(
    ("written", "shape", "literal"),
    [
        ({"values": {"literal": [[1, 2], [3, 4]]}}, (2, 2), (1.0, 2.0, 3.0, 4.0)),
        ({"shape": [2, 2], "values": {"literal": [1, 2, 3, 4]}}, (2, 2), (1.0, 2.0, 3.0, 4.0)),
        ({"shape": [2], "dtype": "bool", "values": {"literal": [0, True]}}, (2,), (False, True)),
        ({"shape": [1], "dtype": "int8", "values": {"literal": [-128.0]}}, (1,), (-128,)),
        ({"values": {"literal": []}}, (0,), ()),
        ({"values": {"literal": ["-inf", 0.1]}}, (2,), (float("-inf"), 0.1)),
        ({"dtype": "string", "values": {"literal": [["inf"], ["ü "]]}}, (2, 1), ("inf", "ü ")),
    ],
)
def test_given_values_are_read_nested_or_flat_and_written_back(
    written: dict[str, Any], shape: tuple[int, ...], literal: tuple[float | str, ...]
) -> None:
    spec = TensorSpec.from_json(written)
    assert (spec.shape, spec.literal, spec.values) == (shape, literal, "literal")
    assert [type(value) for value in spec.literal or ()] == [type(value) for value in literal]
    assert TensorSpec.from_json(spec.to_json()) == spec


@each(
    "written",
    [
        {"shape": [3], "values": {"literal": [1, 2]}},
        {"shape": [4], "values": {"literal": [[1, 2], [3, 4]]}},
        {"values": {"literal": [[1, 2], [3]]}},
        {"values": {"literal": [[1, 2], 3]}},
        {"values": {"literal": [1, [2]]}},
        {"values": {"literal": 5}},
        {"values": {"literal": ["x"]}},
        {"values": {"literal": [None]}},
        {"values": {"given": [1]}},
        {"dtype": "int8", "values": {"literal": [128]}},
        {"dtype": "uint8", "values": {"literal": [-1]}},
        {"dtype": "int64", "values": {"literal": [0.5]}},
        {"dtype": "int64", "values": {"literal": ["nan"]}},
        {"dtype": "bool", "values": {"literal": [2]}},
        {"dtype": "string", "values": {"literal": [2]}},
        {"dtype": "int64", "values": {"literal": ["a"]}},
        {"dtype": "float16", "values": {"literal": [65520]}},
        {"values": {"literal": [0] * 65537}},
    ],
)
def test_values_that_the_tensor_cannot_have_are_refused(written: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        TensorSpec.from_json(written, "here")
    assert caught.value.slug == "bad_values"
    assert caught.value.message.startswith("here: ")


def test_values_that_are_given_are_part_of_what_a_tensor_is() -> None:
    given = [TensorSpec((2,), "int32", literal=literal) for literal in ((1, 2), (1, 3), (1.0, 2.0))]
    assert given[0] != given[1]
    assert given[0] == given[2]
    assert str(given[0]) == "2 int32 literal"


@each(
    ("written", "name"),
    [
        *(("fp32", "float32"), ("fp16", "float16"), ("f16", "float16"), ("bf16", "bfloat16"), ("BF16", "bfloat16")),
        *(("float", "float32"), ("double", "float64"), ("half", "float16"), ("single", "float32"), ("f64", "float64")),
        *(("int", "int32"), ("i32", "int32"), ("i8", "int8"), ("u8", "uint8"), ("long", "int64"), (" int64 ", "int64")),
    ],
)
def test_an_element_type_is_known_by_its_short_forms(written: str, name: str) -> None:
    assert parse_dtype(written) == name


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(-3.4028235e38, "float32"), (3.4028235e38, "bfloat16"), (65519.0, "float16"), (448, "float8_e4m3fn")],
)
def test_a_decimal_whose_nearest_number_a_type_has_is_held(value: float, dtype: str) -> None:
    assert TensorSpec((), dtype, literal=(value,)).literal == (float(value),)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(3.5e38, "float32"), (65520.0, "float16"), (449, "float8_e4m3fn"), (10**400, "float32"), (10**400, "float64")],
)
def test_a_number_beyond_what_a_type_holds_is_refused(value: float, dtype: str) -> None:
    with pytest.raises(InputError, match=f"{dtype} cannot hold"):
        TensorSpec((), dtype, literal=(value,))
