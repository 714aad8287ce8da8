"""Of equal elements any index is right: what names others, or one of them twice, is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from opperf.child.judging.ties import are_tied
from opperf.domain.tensor import TensorSpec

VALUES = np.array([[3.0, 1.0, 3.0, 2.0], [0.0, 0.0, 0.0, np.nan]])
ORDER = np.array([[1, 3, 0, 2], [0, 1, 2, 3]])


def tied(result: object, right: object, *inputs: Any, **spec: Any) -> bool:
    specs = [TensorSpec(values.shape, **spec) for values in inputs]
    return are_tied(np.array(result), np.array(right), inputs, specs)


@pytest.mark.parametrize(
    ("result", "right", "is_tied"),
    [
        ([2, 1], [0, 0], True),
        ([[2], [1]], [[0], [0]], True),
        ([1, 1], [0, 0], False),
        ([-2, 0], [0, 0], False),
        ([4, 0], [0, 0], False),
        ([[1, 3, 2, 0], [2, 0, 1, 3]], ORDER, True),
        ([[1, 3, 2, 2], [2, 0, 1, 3]], ORDER, False),
        ([[1, 3, 2, 0], [2, 2, 2, 3]], ORDER, False),
    ],
)
def test_indices_are_right_that_name_equal_elements_as_often(result: object, right: object, is_tied: bool) -> None:
    assert tied(result, right, VALUES) == is_tied


def test_whole_numbers_are_no_indices_of_what_they_do_not_fit() -> None:
    assert not tied([2.0, 1.0], [0.0, 0.0], VALUES)
    assert not tied([2, 1, 0], [0, 0], VALUES)
    for values in (VALUES[:, :2], VALUES[0], VALUES[None]):
        assert not tied([2, 1], [0, 0], values)


def test_only_what_is_drawn_tells_indices_and_only_one_input() -> None:
    assert not tied([1, 2], [0, 0], np.ones((2, 4)), values="ones")
    assert not tied([1, 2], [0, 0], VALUES, VALUES)
    assert not tied([2, 1], [0, 0], VALUES, dtype="int32")


def test_along_a_first_axis_too() -> None:
    assert tied([2, 3], [0, 2], np.array([[1.0, 0], [0, 0], [1, 5], [0, 5]]))
