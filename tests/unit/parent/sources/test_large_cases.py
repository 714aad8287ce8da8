"""The size `int64`: one dimension so large that 32 bits do not count the elements of the first input."""

from __future__ import annotations

import pytest

from opperf.catalog import catalog
from opperf.domain.case import Case
from opperf.domain.tensor import ITEM_SIZES
from opperf.parent.sources.random_cases import MOST_32_BIT, large_case


@pytest.fixture(scope="module")
def cases() -> dict[str, Case | None]:
    """The case of each operator at that size."""
    return {name: large_case(definition) for name, definition in catalog().items()}


def test_operators_with_inputs_have_a_case_and_those_without_have_none(cases: dict[str, Case | None]) -> None:
    without = {name for name, case in cases.items() if case is None}
    bare = {name for name, definition in catalog().items() if not any(definition.case("small").tensors())}
    assert {"zeros", "arange", "random_uniform"} <= bare <= without
    assert len(without - bare) <= 10


def test_the_first_input_is_just_over_what_32_bits_count(cases: dict[str, Case | None]) -> None:
    firsts = {name: next(case.tensors()).elements for name, case in cases.items() if case is not None}
    assert {name for name, elements in firsts.items() if not MOST_32_BIT < elements < MOST_32_BIT * 1.01} == set()


def test_inputs_that_belong_together_grow_together(cases: dict[str, Case | None]) -> None:
    case = cases["add"]
    assert case is not None
    assert case.tensor("lhs").shape == case.tensor("rhs").shape
    product = cases["matmul"]
    assert product is not None
    assert product.tensor("lhs").shape[1] == product.tensor("rhs").shape[0]


def test_indices_fit_their_type(cases: dict[str, Case | None]) -> None:
    tensors = [tensor for case in cases.values() if case is not None for tensor in case.tensors()]
    indices = [tensor for tensor in tensors if tensor.range is not None and not tensor.is_float]
    assert indices
    assert all(index.range[1] <= 1 << (8 * ITEM_SIZES[index.dtype] - 1) for index in indices if index.range)
