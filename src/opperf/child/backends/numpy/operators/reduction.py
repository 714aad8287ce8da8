"""Reductions, sorting, and scores of predictions in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.binding import Binding, call, composition, compositions
from opperf.domain.backend import Unsupported

AXIS_KEYWORDS = "axis=axis, keepdims=keepdims"


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


def accuracy(data: Any, labels: Any) -> Any:
    """Compare the best class with the label."""
    return np.mean(np.argmax(data, 1) == labels)


def top_k_accuracy(data: Any, labels: Any, k: int) -> Any:
    """Look for the label among the best classes, which stand last."""
    best = np.argpartition(data, -k, 1)[:, -k:]
    return np.mean(np.any(best == labels[:, None], 1))


def f1_score(data: Any, labels: Any) -> Any:
    """Count what is found, what should be, and both."""
    prediction, truth = np.argmax(data, 1) == 1, labels == 1
    return 2 * np.sum(prediction & truth) / (np.sum(prediction) + np.sum(truth))


def mean_absolute_error(data: Any, labels: Any) -> Any:
    """Average absolute differences."""
    return np.mean(np.abs(data - labels))


def mean_squared_error(data: Any, labels: Any) -> Any:
    """Average squares of differences."""
    return np.mean(np.square(data - labels))


def root_mean_squared_error(data: Any, labels: Any) -> Any:
    """Take the root of the average."""
    return np.sqrt(mean_squared_error(data, labels))


def negative_log_likelihood(data: Any, labels: Any) -> Any:
    """Pick the probability of each label."""
    return -np.mean(np.log(np.take_along_axis(data, labels[:, None], 1)))


def perplexity(data: Any, labels: Any) -> Any:
    """Raise e to the power of the likelihood."""
    return np.exp(negative_log_likelihood(data, labels))


def pearson_correlation(data: Any, labels: Any) -> Any:
    """Take one element of the matrix of correlations."""
    return np.corrcoef(data.ravel(), labels.ravel())[0, 1]


GATHER = "numpy.take_along_axis, numpy.log and numpy.mean"

_SCORE: dict[str, Binding] = {
    function.__name__: composition(function, arguments, note=f"{note}, composed")
    for function, arguments, note in (
        (accuracy, "data, labels", "numpy.argmax, a comparison and numpy.mean"),
        (top_k_accuracy, "data, labels, k", "numpy.argpartition, a comparison, numpy.any and numpy.mean"),
        (f1_score, "data, labels", "numpy.argmax, comparisons and sums"),
        (mean_absolute_error, "data, labels", "numpy.abs of a difference and numpy.mean"),
        (mean_squared_error, "data, labels", "numpy.square of a difference and numpy.mean"),
        (root_mean_squared_error, "data, labels", "numpy.square of a difference, numpy.mean and numpy.sqrt"),
        (negative_log_likelihood, "data, labels", GATHER),
        (perplexity, "data, labels", f"{GATHER}, and numpy.exp"),
        (pearson_correlation, "data, labels", "numpy.corrcoef"),
    )
}


BINDINGS: dict[str, Binding] = {
    # NumPy's folds along axes, and running sums.
    **{
        name: call(f"numpy.{name}", "a=data", AXIS_KEYWORDS)
        for name in ("sum", "mean", "max", "min", "prod", "std", "argmax", "argmin", "all", "any", "nansum", "nanprod")
    },
    "norm": call("numpy.linalg.norm", "x=data", AXIS_KEYWORDS),
    "variance": call("numpy.var", "a=data", AXIS_KEYWORDS),
    "cumsum": call("numpy.cumsum", "a=data", "axis=axis"),
    "cumprod": call("numpy.cumprod", "a=data", "axis=axis"),
    **compositions(logsumexp=(logsumexp, "numpy.max, numpy.exp, numpy.sum, numpy.log and arithmetic")),
    # Sorting and selecting in NumPy, which knows the ascending order only.
    "sort": call("numpy.sort", "a=data", "axis=axis", adapt={"descending": ascending}),
    "argsort": call("numpy.argsort", "a=data", "axis=axis", adapt={"descending": ascending}),
    **compositions(topk=(topk, "numpy.argpartition, numpy.argsort, numpy.flip and numpy.take_along_axis")),
    **_SCORE,
}
