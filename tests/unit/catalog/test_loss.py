"""Losses of other tensors than predictions and labels: outputs and counts."""

from __future__ import annotations

import pytest

from opperf.catalog import operator
from opperf.domain.case import Argument
from opperf.domain.tensor import TensorSpec

ROWS = TensorSpec((8, 10))
SIGNS = TensorSpec((8,), "int64", range=(-1, 2))


@pytest.mark.parametrize(
    ("name", "tensors", "each"),
    [
        ("margin_ranking_loss", {"lhs": ROWS, "rhs": ROWS, "labels": ROWS}, (8, 10)),
        ("gaussian_nll_loss", {"data": ROWS, "labels": ROWS, "variance": ROWS}, (8, 10)),
        ("cosine_embedding_loss", {"lhs": ROWS, "rhs": ROWS, "labels": SIGNS}, (8,)),
        ("triplet_margin_loss", {"anchor": ROWS, "positive": ROWS, "negative": ROWS}, (8,)),
    ],
)
def test_a_loss_is_one_number_or_one_for_each_element_or_row(
    name: str, tensors: dict[str, Argument], each: tuple[int, ...]
) -> None:
    declared = operator(name)
    for reduction, shape in (("mean", ()), ("sum", ()), ("none", each)):
        case = declared.case_of({**tensors, "reduction": reduction})
        assert declared.outputs(case) == (TensorSpec(shape),)


def test_a_gradient_flows_to_everything_but_labels() -> None:
    assert operator("cosine_embedding_loss").differentiable == ("lhs", "rhs")
    assert operator("triplet_margin_loss").differentiable == ("anchor", "positive", "negative")
    assert operator("gaussian_nll_loss").differentiable == ("data", "variance")


def test_ctc_is_one_number_for_each_sequence_and_counts_the_places_between_labels() -> None:
    declared = operator("ctc_loss")
    case = declared.case("small")  # 8 steps of 2 sequences of 8 classes, 3 labels each: 7 places
    assert declared.outputs(case) == (TensorSpec((2,)),)
    assert declared.flops(case) == 5 * 128 + 6 * 8 * 2 * 7
