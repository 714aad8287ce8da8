"""Reductions, sorting, and scores of predictions in JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from opperf.child.backends.binding import Binding, call, composition


def top_k(data: Any, k: int, axis: int | None, largest: bool | None) -> tuple[Any, Any]:
    """Return the largest or smallest values along an axis, and their indices; lax has the largest of the last axis."""
    place = -1 if axis is None else axis
    rows = jnp.moveaxis(data, place, -1)
    values, indices = lax.top_k(-rows if largest is False else rows, k)
    values = -values if largest is False else values
    return jnp.moveaxis(values, -1, place), jnp.moveaxis(indices, -1, place)


def accuracy(data: Any, labels: Any) -> Any:
    """Compare the best class with the label."""
    return jnp.mean(jnp.argmax(data, 1) == labels)


def top_k_accuracy(data: Any, labels: Any, k: int) -> Any:
    """Look for the label among the best classes."""
    best = jax.lax.top_k(data, k)[1]
    return jnp.mean(jnp.any(best == labels[:, None], 1))


def f1_score(data: Any, labels: Any) -> Any:
    """Count what is found, what should be, and both."""
    prediction, truth = jnp.argmax(data, 1) == 1, labels == 1
    return 2 * jnp.sum(prediction & truth) / (jnp.sum(prediction) + jnp.sum(truth))


def mean_absolute_error(data: Any, labels: Any) -> Any:
    """Average absolute differences."""
    return jnp.mean(jnp.abs(data - labels))


def mean_squared_error(data: Any, labels: Any) -> Any:
    """Average squares of differences."""
    return jnp.mean(jnp.square(data - labels))


def root_mean_squared_error(data: Any, labels: Any) -> Any:
    """Take the root of the average."""
    return jnp.sqrt(mean_squared_error(data, labels))


def negative_log_likelihood(data: Any, labels: Any) -> Any:
    """Pick the probability of each label."""
    return -jnp.mean(jnp.log(jnp.take_along_axis(data, labels[:, None], 1)))


def perplexity(data: Any, labels: Any) -> Any:
    """Raise e to the power of the likelihood."""
    return jnp.exp(negative_log_likelihood(data, labels))


def pearson_correlation(data: Any, labels: Any) -> Any:
    """Take one element of the matrix of correlations."""
    return jnp.corrcoef(data.ravel(), labels.ravel())[0, 1]


GATHER = "jax.numpy.take_along_axis, jax.numpy.log and jax.numpy.mean"

_SCORE: dict[str, Binding] = {
    function.__name__: composition(function, arguments, note=f"{note}, composed")
    for function, arguments, note in (
        (accuracy, "data, labels", "jax.numpy.argmax, a comparison and jax.numpy.mean"),
        (top_k_accuracy, "data, labels, k", "jax.lax.top_k, a comparison, jax.numpy.any and jax.numpy.mean"),
        (f1_score, "data, labels", "jax.numpy.argmax, comparisons and sums"),
        (mean_absolute_error, "data, labels", "jax.numpy.abs of a difference and jax.numpy.mean"),
        (mean_squared_error, "data, labels", "jax.numpy.square of a difference and jax.numpy.mean"),
        (
            root_mean_squared_error,
            "data, labels",
            "jax.numpy.square of a difference, jax.numpy.mean and jax.numpy.sqrt",
        ),
        (negative_log_likelihood, "data, labels", GATHER),
        (perplexity, "data, labels", f"{GATHER}, and jax.numpy.exp"),
        (pearson_correlation, "data, labels", "jax.numpy.corrcoef"),
    )
}


BINDINGS: dict[str, Binding] = {
    # Reductions and running sums in JAX.
    **{
        name: call(f"jax.numpy.{own}", "data", "axis=axis, keepdims=keepdims")
        for name, own in {
            "sum": "sum",
            "mean": "mean",
            "max": "max",
            "min": "min",
            "prod": "prod",
            "variance": "var",
            "std": "std",
            "argmax": "argmax",
            "argmin": "argmin",
            "all": "all",
            "any": "any",
            "nansum": "nansum",
            "nanprod": "nanprod",
        }.items()
    },
    "norm": call(
        "jax.numpy.linalg.vector_norm",  # `norm` takes at most two axes
        "data",
        "axis=axis, keepdims=keepdims",
        also=("jax.numpy.linalg.norm",),
    ),
    "logsumexp": call("jax.scipy.special.logsumexp", "data", "axis=axis, keepdims=keepdims"),
    "cumsum": call("jax.numpy.cumsum", "data", "axis=axis"),
    "cumprod": call("jax.numpy.cumprod", "data", "axis=axis"),
    # Sorting and selecting in JAX.
    "sort": call("jax.numpy.sort", "data", "axis=axis, descending=descending"),
    "argsort": call("jax.numpy.argsort", "data", "axis=axis, descending=descending"),
    "topk": composition(top_k, "data, k, axis, largest", note="jax.lax.top_k, whose indices are int32"),
    **_SCORE,
}
