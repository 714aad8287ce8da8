"""Attributes mean the same in every framework: cases beside the small ones, where another branch is taken."""

from __future__ import annotations

import pytest
from tests.conformance.conftest import REAL, Bench, Tensor, close

from opperf.catalog import operator
from opperf.domain.case import Argument, Case
from opperf.domain.errors import OperatorFailure
from opperf.domain.tensor import TensorSpec

IMAGE = TensorSpec((2, 4, 9, 8))


def heads(count: int, length: int) -> TensorSpec:
    return TensorSpec((2, count, length, 8))


def case(name: str, **arguments: Argument) -> Case:
    return operator(name).case_of(arguments)


#: The case, and the frameworks that have it.
CASES = {
    "causal heads in groups": (
        case("grouped_query_attention", query=heads(4, 6), key=heads(2, 6), value=heads(2, 6), causal=True),
        REAL,
    ),
    "heads that share nothing": (
        case("grouped_query_attention", query=heads(4, 3), key=heads(4, 6), value=heads(4, 6), causal=False),
        REAL,
    ),
    "a gate approximated": (case("geglu", data=TensorSpec((4, 6)), approximate="tanh"), REAL),
    "a gelu by erf": (
        case("bias_gelu", data=TensorSpec((4, 6)), bias=TensorSpec((6,)), approximate="none"),
        ("torch", "mxnet", "jax"),
    ),
    **{
        f"{name} of a product": (
            case(
                "matmul_bias_activation",
                lhs=TensorSpec((3, 4)),
                rhs=TensorSpec((4, 5)),
                bias=TensorSpec((5,)),
                activation=name,
            ),
            REAL,
        )
        for name in ("relu", "tanh")
    },
    "a convolution of long steps": (
        case(
            "conv_relu",
            data=IMAGE,
            weight=TensorSpec((3, 4, 3, 2)),
            bias=TensorSpec((3,)),
            stride=(2, 1),
            padding=(0, 1),
        ),
        ("torch", "mxnet", "jax"),
    ),
    "updates along the second dimension": (
        case(
            "scatter_reduce_amax",
            data=TensorSpec((4, 5)),
            indices=TensorSpec((4, 5), "int64", range=(0, 5)),
            updates=TensorSpec((4, 5)),
            axis=1,
        ),
        ("numpy", "torch", "jax"),
    ),
    "windows with gaps": (
        case("im2col", data=IMAGE, kernel=(3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2)),
        REAL,
    ),
    "images made larger": (case("image_resize_bilinear", data=IMAGE, size=(20, 13)), ("torch", "mxnet", "jax")),
    "images of nearest pixels made larger": (
        case("image_resize_nearest", data=IMAGE, size=(20, 13)),
        ("numpy", "torch", "jax"),
    ),
    "three times the pixels": (case("upsample_bilinear", data=IMAGE, scale=3), ("torch", "mxnet", "jax")),
    "a mask of a value": (
        case(
            "sequence_mask",
            data=TensorSpec((6, 3, 2)),
            lengths=TensorSpec((3,), "int64", range=(1, 7)),
            value=-2.5,
        ),
        REAL,
    ),
}


def of_all(case: Case, frameworks: tuple[str, ...], benches: dict[str, Bench], direction: str) -> list[list[Tensor]]:
    return [benches[name].evaluate(case, direction) for name in frameworks]


@pytest.mark.parametrize("name", CASES)
def test_a_case_has_the_same_results_in_every_framework(name: str, benches: dict[str, Bench]) -> None:
    given, frameworks = CASES[name]
    expected = [tensor.shape for tensor in operator(given.operator).outputs(given)]
    first, *rest = of_all(given, frameworks, benches, "forward")
    assert [tensor.shape for tensor in first] == expected
    for other in rest:
        assert all(close(ours.values, theirs.values) for ours, theirs in zip(first, other, strict=True))


@pytest.mark.parametrize("name", CASES)
def test_a_case_has_the_same_gradients_in_every_framework(name: str, benches: dict[str, Bench]) -> None:
    given, frameworks = CASES[name]
    with_gradients = tuple(framework for framework in frameworks if framework != "numpy")
    first, *rest = of_all(given, with_gradients, benches, "backward")
    assert len(first) == len(operator(given.operator).differentiable)
    for other in rest:
        for ours, theirs in zip(first, other, strict=True):
            if ours.shape == theirs.shape:
                assert close(ours.values, theirs.values)
            else:  # TensorFlow's gradients of images have its own layout, channels last
                assert sorted(ours.shape) == sorted(theirs.shape)
                assert close(sorted(ours.values), sorted(theirs.values))


def test_nothing_is_changed_in_place_where_arrays_never_change(benches: dict[str, Bench]) -> None:
    with pytest.raises(OperatorFailure) as caught:
        benches["jax"].evaluate(operator("add_inplace").case("small"))
    assert caught.value.skipped
    assert "immutable" in str(caught.value)
