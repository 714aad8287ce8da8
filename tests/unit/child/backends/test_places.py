"""What the places stay below that JAX's primitives are given."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from opperf.child.backends.jax.places import limits


@dataclass(frozen=True)
class Gathered:
    """Dimension numbers of a gather."""

    start_index_map: tuple[int, ...]


@dataclass(frozen=True)
class Scattered:
    """Dimension numbers of a scatter."""

    update_window_dims: tuple[int, ...]
    inserted_window_dims: tuple[int, ...]
    scatter_dims_to_operand_dims: tuple[int, ...]
    operand_batching_dims: tuple[int, ...] = ()


def test_a_gathered_window_lies_within_the_smallest_room() -> None:
    parameters = {"dimension_numbers": Gathered((0, 1)), "slice_sizes": (1, 3, 5)}
    assert limits("gather", [(100, 8, 5), (7, 2)], parameters) == {1: 6}


@pytest.mark.parametrize("name", ["scatter", "scatter-add"])
def test_a_scattered_window_lies_within_what_it_is_written_to(name: str) -> None:
    rows = {"dimension_numbers": Scattered((1,), (0,), (0,))}
    assert limits(name, [(100, 32), (16, 1), (16, 32)], rows) == {1: 100}
    batched = {"dimension_numbers": Scattered((), (1,), (1,), operand_batching_dims=(0,))}
    assert limits(name, [(16, 10), (16, 1), (16,)], batched) == {1: 10}
    windows = {"dimension_numbers": Scattered((0,), (), (0,))}
    assert limits(name, [(10,), (1,), (4,)], windows) == {1: 7}


def test_a_slice_lies_within_the_array_that_it_is_taken_of_or_put_into() -> None:
    assert limits("dynamic_slice", [(8, 4), (), ()], {"slice_sizes": (2, 4)}) == {1: 7, 2: 1}
    assert limits("dynamic_update_slice", [(8, 4), (8, 1), (), ()], {}) == {2: 1, 3: 4}


def test_what_chooses_among_arrays_is_the_number_of_one() -> None:
    assert limits("select_n", [(4,), (4,), (4,), (4,)], {}) == {0: 3}


def test_operands_that_are_no_places_have_no_limit() -> None:
    assert limits("add", [(4,), (4,)], {}) == {}
    assert limits("gather", [(4,), (1,)], {"dimension_numbers": Gathered(()), "slice_sizes": (4,)}) == {1: 1}
