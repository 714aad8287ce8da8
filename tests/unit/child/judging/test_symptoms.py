"""A wrong result tells of its mistake where it can only be that one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from opperf.child.judging.symptoms import symptom

RIGHT = np.random.default_rng(2).uniform(1.0, 2.0, (32, 65))
BOUNDS = 1e-6 * RIGHT


def slug(result: Any, right: Any = RIGHT, dtype: str = "float32") -> str:
    """Return what a result looks like."""
    return symptom(result, right, 1e-6 * np.abs(right), dtype)[0]


@pytest.mark.parametrize(("axis", "start"), [(0, 31), (1, 64), (1, 3)])
def test_an_end_that_is_missing_is_a_part_even_where_that_puts_the_rest_off_a_little(axis: int, start: int) -> None:
    result = RIGHT * 1.001
    np.moveaxis(result, axis, 0)[start:] = 0
    word, why = symptom(result, RIGHT, BOUNDS, "float32")
    assert word == "computes_a_part"
    assert f"axis {axis} ends at {start} of {RIGHT.shape[axis]}" in why


def test_a_few_wrong_places_of_a_short_axis_say_nothing_of_its_end() -> None:
    result = RIGHT[:3, :3].copy()
    result[2] = 0
    result[0, 0] = 9
    assert slug(result, RIGHT[:3, :3]) == "wrong_values"


def test_wrong_rows_before_the_end_are_no_missing_end() -> None:
    result = RIGHT.copy()
    result[[5, 31]] = 0
    assert slug(result) == "wrong_values"


def test_what_is_wrong_from_an_element_on_is_a_part() -> None:
    result = RIGHT.copy()
    result.reshape(-1)[99:] = 0
    assert slug(result) == "computes_a_part"


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_zeros_for_what_is_below_the_smallest_normal_number_depend_on_the_values(dtype: str) -> None:
    normal = {"float32": 2.0**-126, "float16": 2.0**-14, "bfloat16": 2.0**-126}[dtype]
    right = RIGHT * normal / 4
    right[::2] = RIGHT[::2]
    assert slug(np.where(right < normal, 0, right), right, dtype) == "values_only"
    also = np.where(right < normal, 0, right)
    also[0, 0] = 0
    assert slug(also, right, dtype) != "values_only"


def test_small_errors_everywhere_are_those_of_a_narrower_type() -> None:
    assert slug(RIGHT.astype(np.float16)) == "precision"


def test_a_few_that_are_far_off_where_others_are_a_little_have_no_narrower_type() -> None:
    result = RIGHT * (1 + 1e-5)
    assert slug(result) == "precision"
    result[3, 3] *= 1.05
    assert slug(result) == "wrong_values"


def test_a_few_that_are_off_a_little_where_others_are_exact_have_no_narrower_type() -> None:
    result = RIGHT.copy()
    result[3] *= 1 + 1e-5
    assert slug(result) == "wrong_values"


def test_what_is_not_finite_beside_what_is_right_depends_on_the_values() -> None:
    result = RIGHT.copy()
    result[3, 3] = np.nan
    assert slug(result) == "values_only"
    result[4] = 9
    assert slug(result) == "wrong_values"
    assert slug(np.full_like(RIGHT, np.nan)) == "wrong_values"
    few = RIGHT[:3, :3].copy()
    few[2, 1:] = np.nan
    assert slug(few, RIGHT[:3, :3]) == "values_only"


def test_zeros_look_like_nothing_in_particular() -> None:
    assert slug(np.zeros_like(RIGHT)) == "wrong_values"
    assert slug(np.zeros(()), np.ones(())) == "wrong_values"
