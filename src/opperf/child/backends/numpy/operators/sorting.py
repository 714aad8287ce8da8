"""Sorting and selecting in NumPy, which knows the ascending order only."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, call, composed
from opperf.domain.backend import Unsupported


def ascending(descending: bool) -> bool:
    """Refuse the other order: a second pass over the result would stand in the time as if it were sorting."""
    if descending:
        raise Unsupported(
            "NumPy sorts in ascending order only", slug="no_such_attribute", hint="leave out `descending`, and flip"
        )
    return descending


def topk(data: Any, k: int, axis: int, largest: bool | None) -> Any:
    """Return the `k` largest (or smallest) values in order, and their indices."""
    size = data.shape[axis]
    if largest is False:
        chosen = _part(np.argpartition(data, k - 1, axis=axis), axis, slice(0, k))
    else:
        chosen = _part(np.argpartition(data, size - k, axis=axis), axis, slice(size - k, size))
    values = np.take_along_axis(data, chosen, axis)
    order = np.argsort(values, axis=axis)
    if largest is not False:
        order = np.flip(order, axis)
    return np.take_along_axis(values, order, axis), np.take_along_axis(chosen, order, axis)


def _part(data: Any, axis: int, part: slice) -> Any:
    return data[(slice(None),) * (axis % data.ndim) + (part,)]


BINDINGS: dict[str, Binding] = {
    "sort": call("numpy.sort", "a=data", "axis=axis", adapt={"descending": ascending}),
    "argsort": call("numpy.argsort", "a=data", "axis=axis", adapt={"descending": ascending}),
    "topk": composed(
        topk, "data, k, axis, largest", note="numpy.argpartition, numpy.argsort, numpy.flip and numpy.take_along_axis"
    ),
}
