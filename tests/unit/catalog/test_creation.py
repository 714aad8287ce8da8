"""Tensors of known values: shapes, dtypes, and bytes that are written only."""

from __future__ import annotations

import pytest
from tests.each import each

from opperf.catalog import operator
from opperf.domain.case import Argument, Case, DType
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec

FLOAT16 = DType("float16")


def outputs(name: str, **arguments: Argument) -> list[TensorSpec]:
    return list(operator(name).outputs(operator(name).case_of(arguments)))


@each(
    ("name", "arguments", "shape"),
    [
        ("zeros", {"shape": (2, 3)}, (2, 3)),
        ("full", {"shape": (4,), "value": 2.0}, (4,)),
        ("eye", {"rows": 2, "columns": 5}, (2, 5)),
        ("linspace", {"start": 0.0, "stop": 1.0, "count": 7}, (7,)),
        ("arange", {"start": 0, "stop": 10, "step": 3}, (4,)),
        ("arange", {"start": 5, "stop": 0, "step": -2}, (3,)),
        ("arange", {"start": 5, "stop": 0, "step": 1}, (0,)),
    ],
)
def test_a_tensor_is_made_of_attributes_alone(
    name: str, arguments: dict[str, Argument], shape: tuple[int, ...]
) -> None:
    assert operator(name).inputs == ()
    assert outputs(name, **arguments, dtype=FLOAT16) == [TensorSpec(shape, "float16")]


def test_a_range_without_a_step_is_an_input_error() -> None:
    with pytest.raises(InputError, match="`step` of `arange` is 0"):
        outputs("arange", start=0, stop=10, step=0, dtype=FLOAT16)


def test_a_tensor_like_another_has_its_shape_and_dtype() -> None:
    assert outputs("full_like", data=TensorSpec((2, 3), "float64"), value=1.0) == [TensorSpec((2, 3), "float64")]


def test_making_a_tensor_writes_it_and_reads_nothing() -> None:
    like = Case("ones_like", {"data": TensorSpec((2, 3))})
    assert operator("ones_like").byte_count(like, "forward") == 24
    assert operator("ones").byte_count(Case("ones", {}, {"shape": (2, 3), "dtype": FLOAT16}), "forward") == 12


def test_zeros_have_no_byte_count_as_the_system_may_have_them_ready() -> None:
    assert operator("zeros").byte_count(operator("zeros").case("small"), "forward") is None


def test_a_sequence_is_a_multiply_add_for_each_number_and_a_filling_nothing() -> None:
    assert operator("linspace").flops(operator("linspace").case("small")) == 2048
    assert operator("full").flops(operator("full").case("small")) == 0
