"""Reductions, sorting, and scores of predictions in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.arrays.compositions import scores
from opperf.child.backends.binding import Binding, compositions, functions
from opperf.domain.backend import Unsupported


def logsumexp(data: Any, axis: Any, keepdims: bool | None) -> Any:
    """Return the logarithm of the sum of the exponentials.

    `numpy.logaddexp.reduce` does it in one call, and takes twenty times as long: a scalar logarithm for each element.
    """
    largest = np.max(data, axis=axis, keepdims=True)
    logarithm = np.log(np.sum(np.exp(data - largest), axis=axis, keepdims=True)) + largest
    return logarithm if keepdims else np.squeeze(logarithm, axis=axis)


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
        picks = _part(np.argpartition(data, k - 1, axis=axis), axis, slice(0, k))
    else:
        picks = _part(np.argpartition(data, size - k, axis=axis), axis, slice(size - k, size))
    values = np.take_along_axis(data, picks, axis)
    order = np.argsort(values, axis=axis)
    if largest is not False:
        order = np.flip(order, axis)
    return np.take_along_axis(values, order, axis), np.take_along_axis(picks, order, axis)


def _part(data: Any, axis: int, part: slice) -> Any:
    return data[(slice(None),) * (axis % data.ndim) + (part,)]


def top_k_accuracy(data: Any, labels: Any, k: int) -> Any:
    best = np.argpartition(data, -k, 1)[:, -k:]
    return np.mean(np.any(best == labels[:, None], 1))


BINDINGS: dict[str, Binding] = {
    # NumPy's folds along axes, running sums, and sorting, which knows the ascending order only.
    **functions(
        "numpy",
        {
            ("a=data", "axis=axis, keepdims=keepdims"): (
                "sum mean max min prod std variance=var argmax argmin all any nansum nanprod"
            ),
            ("x=data", "axis=axis, keepdims=keepdims"): "norm=linalg.norm",
            ("a=data", "axis=axis"): "cumsum cumprod",
        },
    ),
    **functions("numpy", {("a=data", "axis=axis"): "sort argsort"}, adapt={"descending": ascending}),
    **compositions(
        logsumexp=(logsumexp, "numpy.max, numpy.exp, numpy.sum, numpy.log and arithmetic"),
        topk=(topk, "numpy.argpartition, numpy.argsort, numpy.flip and numpy.take_along_axis"),
        top_k_accuracy=(top_k_accuracy, "numpy.argpartition, a comparison, numpy.any and numpy.mean, composed"),
    ),
    **scores(np, "numpy"),
}
