from __future__ import annotations

import pytest
from tests.each import each

from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec
from opperf.domain.tensor_text import read_tensor, tensor_text

TENSORS = [
    TensorSpec((3, 4)),
    TensorSpec(()),
    TensorSpec((0, 4), "float64"),
    TensorSpec((64, 64), "int64", range=(0, 8)),
    TensorSpec((9,), "int64", range=(-(2**31), 2**31), values="sorted"),
    TensorSpec((9,), "uint32", range=(0, 2**32)),
    TensorSpec((9,), "int64", range=(-1e6, 123_456_789)),
    TensorSpec((9,), range=(0.1, 2.0)),
    TensorSpec((9,), range=(1 / 3, 1e30)),
    TensorSpec((4, 6), strides=(1, 4), values="denormal", requires_grad=True),
    TensorSpec((4, 6), "bfloat16", values="sparse:0.9", requires_grad=False),
]


@each("tensor", TENSORS)
def test_a_tensor_that_is_printed_is_read_back(tensor: TensorSpec) -> None:
    assert read_tensor(tensor_text(tensor), None, "input") == tensor


def test_what_is_not_said_is_as_in_the_default() -> None:
    default = TensorSpec((8, 8), "int64", strides=(1, 8), range=(0, 8))
    assert read_tensor("sorted", default, "input") == TensorSpec((8, 8), "int64", (1, 8), "sorted", (0, 8))
    assert read_tensor("4:range=0..2^31", default, "input") == TensorSpec((4,), "int64", range=(0, 2**31))
    assert read_tensor("float32", default, "input") == TensorSpec((8, 8), strides=(1, 8))
    assert read_tensor("4", TensorSpec((2,), literal=(1, 2)), "input") == TensorSpec((4,))


@each(
    "text",
    ["", "64xx", "sorted", "3:gaussian", "3:range=1", "3:range=4..1", "3:range=0..inf", "3:range=a..b", "3:sorted:ones",
     "3:strides=1,2", "3:requires_grad=maybe", "3:sparse:2", "3:int64:int32", "3:literal", "3:spd"],
)  # fmt: skip
def test_what_is_no_tensor_is_refused_with_the_place(text: str) -> None:
    with pytest.raises(InputError, match="input `x`: ") as caught:
        read_tensor(text, None, "input `x`")
    assert caught.value.hint
