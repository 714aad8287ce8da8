"""Scores in NumPy, which has none: a few functions for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, composed


def accuracy(data: Any, labels: Any) -> Any:
    """Compare the best class with the label."""
    return np.mean(np.argmax(data, 1) == labels)


def top_k_accuracy(data: Any, labels: Any, k: int) -> Any:
    """Look for the label among the best classes, which stand last."""
    best = np.argpartition(data, -k, 1)[:, -k:]
    return np.mean(np.any(best == labels[:, None], 1))


def f1_score(data: Any, labels: Any) -> Any:
    """Count what is found, what should be, and both."""
    found, wanted = np.argmax(data, 1) == 1, labels == 1
    return 2 * np.sum(found & wanted) / (np.sum(found) + np.sum(wanted))


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


PICKED = "numpy.take_along_axis, numpy.log and numpy.mean"

BINDINGS: dict[str, Binding] = {
    function.__name__: composed(function, arguments, note=f"{note}, composed")
    for function, arguments, note in (
        (accuracy, "data, labels", "numpy.argmax, a comparison and numpy.mean"),
        (top_k_accuracy, "data, labels, k", "numpy.argpartition, a comparison, numpy.any and numpy.mean"),
        (f1_score, "data, labels", "numpy.argmax, comparisons and sums"),
        (mean_absolute_error, "data, labels", "numpy.abs of a difference and numpy.mean"),
        (mean_squared_error, "data, labels", "numpy.square of a difference and numpy.mean"),
        (root_mean_squared_error, "data, labels", "numpy.square of a difference, numpy.mean and numpy.sqrt"),
        (negative_log_likelihood, "data, labels", PICKED),
        (perplexity, "data, labels", f"{PICKED}, and numpy.exp"),
        (pearson_correlation, "data, labels", "numpy.corrcoef"),
    )
}
