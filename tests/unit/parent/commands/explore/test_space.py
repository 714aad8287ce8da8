"""The dimensions of operators: which sizes are equal, what they are called, between which bounds they are."""

from __future__ import annotations

import random

import pytest
from tests.each import check_each

from opperf.catalog import catalog, operator
from opperf.domain.case import Case
from opperf.domain.errors import InputError
from opperf.domain.tensor import TensorSpec
from opperf.parent.commands.explore.regions import Proportion, Remedy, remedies
from opperf.parent.commands.explore.space import LAYOUTS, STRIDED, TRANSPOSED, Point, Space, read_dimensions
from opperf.parent.sources.random_cases import numbers


def of(name: str) -> Space:
    """The space of an operator of the catalog."""
    return Space(operator(name).case("common"), operator(name), by_default=True)


def inner_sizes_agree(case: Case) -> bool:
    """What a product takes."""
    return case.tensor("lhs").shape[1] == case.tensor("rhs").shape[0]


def test_dimensions_of_a_product_are_m_k_and_n() -> None:
    space = of("matmul")
    space.split(inner_sizes_agree)
    assert {one.name: len(one.places) for one in space.dimensions} == {"m": 1, "k": 2, "n": 1}
    space.bound({"m": (1, 7), "k": (256, 256)})
    sizes = {one.name: size for one, size in zip(space.dimensions, (5, 256, 9))}
    assert list(sizes) == ["m", "k", "n"]
    case = space.case(Point((5, 256, 9)))
    assert case is not None
    assert [tensor.shape for tensor in case.tensors()] == [(5, 256), (256, 9)]


def test_an_attribute_with_a_range_is_a_dimension() -> None:
    space = of("topk")
    space.bound({"k": (1, 2048), "data.1": (64, 4096)})
    assert list(map(str, space.dimensions)) == ["data.1=64..4096", "k=1..2048"]
    case = space.case(Point((100, 7)))
    assert case is not None
    assert (case.tensor("data").shape, case.attributes["k"]) == ((32, 100), 7)
    assert Remedy(1, shift=1).say(space.dimensions, Point((100, 7))) == "raise k to 8"


def test_an_attribute_of_several_numbers_is_one_dimension_or_one_for_each() -> None:
    whole, one = of("max_pool2d"), of("max_pool2d")
    whole.bound({"stride": (1, 4)})
    one.bound({"stride.1": (1, 4)})
    for space, strides in ((whole, (3, 3)), (one, (2, 3))):
        sizes = [dict(numbers(space.base))[dimension.places[0]] for dimension in space.dimensions[:-1]]
        case = space.case(Point((*sizes, 3)))
        assert case is not None
        assert case.attributes["stride"] == strides


def test_a_name_that_is_no_number_of_the_case_is_refused_with_those_that_are() -> None:
    with pytest.raises(InputError, match="no dimension `largest`, and no such attribute with a number") as error:
        of("topk").bound({"largest": (1, 2)})
    assert "k, axis; `--attribute largest=1` adds one" in (error.value.hint or "")


def test_sizes_that_the_operator_wants_equal_stay_one_dimension() -> None:
    space = of("add")
    space.split(lambda case: case.tensor("lhs").shape == case.tensor("rhs").shape)
    assert [one.places for one in space.dimensions] == [
        (("lhs", "shape", 0), ("rhs", "shape", 0)),
        (("lhs", "shape", 1), ("rhs", "shape", 1)),
    ]


def test_points_of_every_operator_are_cases() -> None:
    def check(name: str) -> None:
        space, generator = of(name), random.Random(0)
        cases = (space.case(space.draw(generator)) for _ in range(400))
        case = next((case for case in cases if case is not None), None)
        assert case is not None, "no point is a case"
        assert case.operator == name

    check_each([name for name, one in catalog().items() if list(one.case("common").tensors())], check)


def test_the_users_inputs_have_bounds_around_their_sizes() -> None:
    space = Space(Case("torch:nn.functional.gelu", {"input": TensorSpec((32, 100))}))
    assert list(map(str, space.dimensions)) == ["input.0=2..128", "input.1=6..400"]


def test_layouts_change_strides_and_nothing_else() -> None:
    space = of("softmax")
    space.layouts = LAYOUTS
    tensors = {layout: space.case(Point((3, 5), layout)) for layout in LAYOUTS}
    assert {layout: case and case.tensor("data").strides for layout, case in tensors.items()} == {
        "contiguous": None,
        TRANSPOSED: (1, 3),
        STRIDED: (10, 2),
    }


@pytest.mark.parametrize(
    ("text", "part"), [("m", "NAME=LOW..HIGH"), ("m=0..4", "1 <= LOW <= HIGH"), ("m=9..4", "1 <= LOW <= HIGH")]
)
def test_dimensions_that_cannot_be_read_say_which(text: str, part: str) -> None:
    with pytest.raises(InputError, match=part):
        read_dimensions(text)


def test_a_dimension_that_is_not_there_is_answered_with_those_that_are() -> None:
    with pytest.raises(InputError) as raised:
        of("softmax").bound({"q": (1, 2)})
    assert "data.0=8..100000" in str(raised.value.hint)


def test_neighbours_do_as_much_work_but_for_the_last() -> None:
    neighbours = [one.apply(Point((1000,))) for one in remedies(0, 1000)]
    assert [one.sizes[0] for one in neighbours if one is not None] == [1001, 1008, 1024, 1024, 1024, 999]
    assert Remedy(0, multiple=8).apply(Point((1000,))) is None


def test_a_bound_is_the_simplest_proportion() -> None:
    bound = Proportion.between(2064, 688, 0, above=True)
    assert (bound.say("n", "m"), bound.first(16), bound.first(17)) == ("n > 3 x m", 49, 52)
    bound = Proportion.between(529, 530, 0, above=False)
    assert (bound.say("n", "m"), bound.holds(64, (65,)), bound.holds(64, (64,))) == ("n < m", True, False)
