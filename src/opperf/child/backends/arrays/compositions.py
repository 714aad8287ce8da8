"""Compositions of functions that NumPy and JAX have by the same names, written once for both, family by family.

`np` has the functions, and `place` is how users call it, in the notes on records. The functions are closures and not
methods: looking `self` up for each function would add to the time of every call.
"""

from __future__ import annotations

from typing import Any

from opperf.child.backends.binding import Adapt, Binding, compositions

#: Notes on what is made of a matrix before anything is timed.
NEAR_IDENTITY = "of the identity plus the data over n, precomputed"
SYMMETRIC = "of the mean of the data and its transpose, precomputed"


def scores(np: Any, place: str) -> dict[str, Binding]:
    """Return the scores of predictions but that of the best `k`, for which each library has another function."""

    def f1_score(data: Any, labels: Any) -> Any:
        """Count what is found, what should be, and both."""
        prediction, truth = np.argmax(data, 1) == 1, labels == 1
        return 2 * np.sum(prediction & truth) / (np.sum(prediction) + np.sum(truth))

    def mean_squared_error(data: Any, labels: Any) -> Any:
        return np.mean(np.square(data - labels))

    def negative_log_likelihood(data: Any, labels: Any) -> Any:
        return -np.mean(np.log(np.take_along_axis(data, labels[:, None], 1)))

    of_labels = f"{place}.take_along_axis, {place}.log and {place}.mean"
    squares = f"{place}.square of a difference"
    return compositions(
        accuracy=(
            lambda data, labels: np.mean(np.argmax(data, 1) == labels),
            f"{place}.argmax, a comparison and {place}.mean, composed",
        ),
        f1_score=(f1_score, f"{place}.argmax, comparisons and sums, composed"),
        mean_absolute_error=(
            lambda data, labels: np.mean(np.abs(data - labels)),
            f"{place}.abs of a difference and {place}.mean, composed",
        ),
        mean_squared_error=(mean_squared_error, f"{squares} and {place}.mean, composed"),
        root_mean_squared_error=(
            lambda data, labels: np.sqrt(mean_squared_error(data, labels)),
            f"{squares}, {place}.mean and {place}.sqrt, composed",
        ),
        negative_log_likelihood=(negative_log_likelihood, f"{of_labels}, composed"),
        perplexity=(
            lambda data, labels: np.exp(negative_log_likelihood(data, labels)),
            f"{of_labels}, and {place}.exp, composed",
        ),
        pearson_correlation=(
            lambda data, labels: np.corrcoef(data.ravel(), labels.ravel())[0, 1],
            f"{place}.corrcoef, composed",
        ),
    )


def sequences(np: Any, place: str) -> dict[str, Binding]:
    """Bind sequences of unequal length: places made of the lengths, then one function."""

    def sequence_mask(data: Any, lengths: Any, value: float) -> Any:
        """Fill what lies beyond the lengths."""
        within = np.arange(data.shape[0])[:, None] < lengths
        return np.where(within[..., None], data, value)

    def sequence_reverse(data: Any, lengths: Any) -> Any:
        places = np.arange(data.shape[0])[:, None]
        places = np.where(places < lengths, lengths - 1 - places, places)
        return data[places, np.arange(data.shape[1])]

    return compositions(
        sequence_mask=(sequence_mask, f"{place}.arange, a comparison and {place}.where"),
        sequence_reverse=(sequence_reverse, f"{place}.arange, {place}.where, and indexing with two arrays"),
        sequence_last=(
            lambda data, lengths: data[lengths - 1, np.arange(data.shape[1])],
            f"{place}.arange, and indexing with two arrays",
        ),
    )


def matrices(np: Any) -> tuple[Adapt, Adapt]:
    """Return two functions that make a matrix well conditioned and symmetric, before anything is timed."""
    return (
        lambda data: np.eye(len(data), dtype=data.dtype) + data / len(data),
        lambda data: (data + np.transpose(data)) / 2,
    )


def shapes() -> dict[str, Binding]:
    """Return the bindings of operators that reshape."""
    return compositions(
        reshape_like=(lambda data, like: data.reshape(like.shape), "`data.reshape(like.shape)`"),
        flatten=(lambda data: data.reshape(len(data), -1), "`data.reshape(len(data), -1)`"),
    )
