"""Indices of equal elements: a largest one or an order has several, and whichever a candidate returns is right.

Nothing says of a result that it holds indices. Where both results, taken for such, name equal elements of the only
input of floats along an axis, they differ by ties. Of values that are drawn hardly any are equal in most calls, so that
numbers which are no indices stay wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from opperf.child.judging.draws import kinds
from opperf.child.judging.elements import Array
from opperf.domain.tensor import TensorSpec


def are_tied(result: Array, right: Array, inputs: Sequence[Array], specs: Sequence[TensorSpec]) -> bool:
    """Whether whole numbers name equal elements of the input as the right ones do, and none twice unless those do.

    >>> values, specs = np.array([[5.0, 5.0], [7.0, 2.0]]), [TensorSpec((2, 2))]
    >>> [are_tied(np.array([place, place - 1]), np.array([0, 0]), [values], specs) for place in (1, 2)]
    [True, False]
    """
    floats = [(values, spec) for values, spec in zip(inputs, specs) if spec.is_float]
    if right.dtype.kind not in "iu" or result.shape != right.shape or not right.size or len(floats) != 1:
        return False
    ((values, spec),) = floats
    return len(kinds(spec)) > 1 and any(_name_equal(result, right, values, axis) for axis in range(values.ndim))


def _name_equal(result: Array, right: Array, values: Array, axis: int) -> bool:
    """Whether both are indices along an axis, which the results may lack, and name equal elements."""
    if right.ndim == values.ndim - 1:
        result, right = (np.expand_dims(indices, axis) for indices in (result, right))
    rest = [[size for i, size in enumerate(one.shape) if i != axis] for one in (right, values)]
    if right.ndim != values.ndim or rest[0] != rest[1]:
        return False
    places = [indices.astype(np.int64) for indices in (result, right)]
    if any(indices.min() < 0 or indices.max() >= values.shape[axis] for indices in places):
        return False
    mine, its = (np.take_along_axis(values, indices, axis) for indices in places)
    is_order = not _repeats(places[1], axis)
    return not (is_order and _repeats(places[0], axis)) and np.array_equal(mine, its, equal_nan=True)


def _repeats(indices: Array, axis: int) -> bool:
    """Whether an index is named twice along an axis."""
    return bool((np.diff(np.sort(indices, axis), axis=axis) == 0).any())
