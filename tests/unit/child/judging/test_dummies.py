"""A problem that takes for right what nobody has computed is void."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from opperf.child.judging.dummies import passing
from opperf.child.judging.tolerance import Expected

INPUT = np.array([0.5, -1.25, 3.0])


def expected(values: Any, *, bound: float = 1e-6, dtype: str = "float32") -> Expected:
    """Return a result of one tensor."""
    array = np.asarray(values)
    return Expected((array,), (np.full(array.shape, bound),), (dtype,))


def names(values: Any, inputs: Sequence[Any] = (INPUT,), other: Any = (9, 8, 7), **more: Any) -> tuple[str, ...]:
    """Return the dummies that pass."""
    half = more.pop("half", None)
    return passing(expected(values, **more), inputs, [np.asarray(other)], None if half is None else [np.asarray(half)])


def test_a_result_that_only_its_inputs_make_passes_none() -> None:
    assert names([1.0, 2.0, 4.0], half=[1.001, 2.0, 4.0]) == ()


def test_zeros_and_ones_pass_where_the_result_is_one_of_them_and_so_does_their_mean() -> None:
    assert names([0.0, 0.0, 0.0]) == ("zeros", "the mean")
    assert names([1.0, 1.0, 1.0]) == ("ones", "the mean")
    assert names([True, True], dtype="bool", bound=0) == ("ones", "the mean")


def test_a_loose_bound_lets_zeros_pass() -> None:
    assert "zeros" in names([1e-3, -1e-3, 1e-3], bound=1e-2)


def test_a_copy_of_an_input_is_said_with_its_place() -> None:
    assert names(INPUT, [np.ones(3), INPUT]) == ("a copy of input 1",)
    assert names(INPUT, [INPUT.reshape(3, 1)]) == ()


def test_the_result_of_other_inputs_passes_where_inputs_do_not_matter() -> None:
    assert names([1.0, 2.0, 4.0], other=[1.0, 2.0, 4.0]) == ("the result of other inputs",)


def test_half_the_precision_passes_where_nothing_depends_on_more() -> None:
    assert names([1.0, 2.0, 4.0], half=[1.001, 2.0, 4.0], bound=1e-2) == ("the reference in half the precision",)


def test_half_the_precision_is_no_dummy_where_it_holds_all_there_is() -> None:
    assert names([1.0, 2.0, 4.0], half=[1.0, 2.0, 4.0]) == ()  # of whole numbers
    assert names([1.0, 2.0, 4.0], half=[1.001, 2.0, 4.0], bound=1e-2, dtype="float16") == ()
    assert names([1, 2, 4], half=[1, 2, 4], bound=0, dtype="int64") == ()


def test_the_mean_is_that_of_whole_and_finite_numbers() -> None:
    assert names([3, 3, 4], bound=1, dtype="int64") == ("the mean",)
    assert names([3.0, np.nan]) == ()
    assert names(3.0) == ()  # the mean of one element is that element


def test_every_tensor_of_the_result_must_pass() -> None:
    both = Expected((np.zeros(2), np.array([1.0, 2.0])), (np.zeros(2), np.zeros(2)), ("float32", "float32"))
    assert passing(both, [], [np.zeros(2), np.zeros(3)]) == ()
