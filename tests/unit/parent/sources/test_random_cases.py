"""Random cases: valid for every operator, different from each other, the same for a seed."""

from __future__ import annotations

import math
from importlib import import_module

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.each import check_each, each

from opperf.catalog import FAMILIES, Operator, operator
from opperf.catalog.formulas import wholes
from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.parent.library import strategies
from opperf.parent.sources.random_cases import MOST_ELEMENTS, Template, cases, random_cases


@each("family", FAMILIES)
def test_every_operator_has_random_cases_that_its_formulas_accept(family: str) -> None:
    def check(definition: Operator) -> None:
        drawn = random_cases(definition, 3, seed=1)
        assert drawn
        for case in drawn:
            assert case.operator == definition.name
            assert all(tensor.elements > 0 for tensor in definition.outputs(case))
            assert definition.flops(case) >= 0
            assert sum(tensor.elements for tensor in case.tensors()) <= MOST_ELEMENTS

    declared: tuple[Operator, ...] = import_module(f"opperf.catalog.{family}").OPERATORS
    check_each(declared, check, lambda definition: definition.name)


def test_the_same_seed_draws_the_same_cases_and_another_one_others() -> None:
    one, again, other = (random_cases(operator("conv2d"), 20, seed) for seed in (7, 7, 8))
    assert one == again
    assert len({case.id for case in one}) == 20
    assert set(one) != set(other)


@given(strategies.cases("matmul"))
def test_the_inner_dimensions_of_a_product_match(case: Case) -> None:
    assert case.tensor("lhs").shape[1] == case.tensor("rhs").shape[0]


@given(strategies.cases("conv2d"))
def test_a_kernel_fits_its_input_and_channels_match(case: Case) -> None:
    data, weight = case.tensor("data").shape, case.tensor("weight").shape
    padding = case["padding"]
    assert isinstance(padding, tuple)
    assert data[1] == weight[1]
    pads = [pad for pad in padding if isinstance(pad, int)]
    assert all(size + 2 * pad >= width for size, pad, width in zip(data[2:], pads, weight[2:], strict=True))


@given(strategies.cases("multi_head_attention"))
def test_a_fixed_multiple_stays_one_and_heads_divide_their_dimension(case: Case) -> None:
    rows, columns = case.tensor("weight").shape
    heads = case["heads"]
    assert isinstance(heads, int)
    assert rows == 3 * columns == 3 * case.tensor("data").shape[2]
    assert columns % heads == 0


@given(strategies.cases("broadcast_add"))
def test_shapes_that_are_broadcast_agree(case: Case) -> None:
    lhs, rhs = case.tensor("lhs").shape, case.tensor("rhs").shape
    assert all(1 in pair or pair[0] == pair[1] for pair in zip(lhs, rhs))


@given(strategies.cases("embedding"))
def test_indices_lie_within_the_table(case: Case) -> None:
    bounds = case.tensor("indices").range
    assert bounds is not None
    assert bounds[1] <= case.tensor("weight").shape[0]


@settings(max_examples=20)
@given(st.data(), st.integers(1000, 100_000))
def test_the_elements_are_bounded(data: st.DataObject, most: int) -> None:
    case = data.draw(cases(operator("exp"), most))
    assert case.tensor("data").elements <= most


def test_an_attribute_that_is_a_share_of_a_dimension_follows_it() -> None:
    for case in random_cases(operator("slice"), 5, seed=3):
        size, begin, end = case.tensor("data").shape, case["begin"], case["end"]
        assert isinstance(begin, tuple)
        assert isinstance(end, tuple)
        assert (begin[0], end[1]) == (size[0] // 4, size[1] // 2)


def test_dimensions_that_are_equal_in_every_class_are_one_variable() -> None:
    assert len(Template(operator("add")).variables) == 2


def test_an_unknown_operator_has_no_strategy() -> None:
    with pytest.raises(InputError, match="no operator"):
        strategies.cases("matmull")


def test_random_places_lie_within_the_tensor_that_they_are_places_of() -> None:
    for case in random_cases(operator("unravel_index"), 10, seed=11):
        assert (case.tensor("indices").range or (0, 0))[1] <= math.prod(wholes(case, "shape"))
