"""Reductions, sorting, and scores of predictions in TensorFlow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from opperf.child.backends.binding import Binding, composition, compositions, functions


def _place(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that tells a place along an axis, or of the whole; TensorFlow's keep no dimension."""

    def place_of(data: Any, axis: int | None, keepdims: bool | None) -> Any:
        if axis is None:
            return function(tf.reshape(data, (-1,)), 0)
        place = function(data, axis)
        return tf.expand_dims(place, axis) if keepdims else place

    return place_of


def _without_nan(function: Callable[..., Any], instead: float) -> Callable[..., Any]:
    def reduce(data: Any, axis: Any, keepdims: bool | None) -> Any:
        numbers = tf.where(tf.math.is_nan(data), tf.constant(instead, data.dtype), data)
        return function(numbers, axis, keepdims=bool(keepdims))

    return reduce


def top_k(data: Any, k: int, axis: int | None, largest: bool | None) -> Any:
    """Return the largest or smallest values along an axis, and their places; TensorFlow has the largest of the last."""
    last = data.shape.rank - 1
    place = (-1 if axis is None else axis) % (last + 1)
    order = [*(i for i in range(last + 1) if i != place), place]
    rows = data if place == last else tf.transpose(data, order)
    values, indices = tf.math.top_k(-rows if largest is False else rows, k)
    values = -values if largest is False else values
    if place == last:
        return values, indices
    back = [order.index(i) for i in range(last + 1)]
    return tf.transpose(values, back), tf.transpose(indices, back)


def negative_log_likelihood(data: Any, labels: Any) -> Any:
    return -tf.reduce_mean(tf.math.log(tf.gather(data, labels, axis=1, batch_dims=1)))


def top_k_accuracy(data: Any, labels: Any, k: int) -> Any:
    return tf.reduce_mean(tf.cast(tf.math.in_top_k(labels, data, k), tf.float32))


def f1_score(data: Any, labels: Any) -> Any:
    prediction, truth = tf.argmax(data, 1) == 1, labels == 1
    both, one, other = (tf.math.count_nonzero(value) for value in (prediction & truth, prediction, truth))
    return tf.cast(2 * both / (one + other), data.dtype)


def pearson_correlation(data: Any, labels: Any) -> Any:
    ours, theirs = data - tf.reduce_mean(data), labels - tf.reduce_mean(labels)
    squares = tf.reduce_sum(tf.square(ours)) * tf.reduce_sum(tf.square(theirs))
    return tf.reduce_sum(ours * theirs) * tf.math.rsqrt(squares)


def _direction(arguments: Mapping[str, Any]) -> str:
    return "DESCENDING" if arguments.get("descending") else "ASCENDING"


PICKED = "tf.gather of each row's label, tf.math.log and tf.reduce_mean"

BINDINGS: dict[str, Binding] = {
    # Reductions and running sums in TensorFlow.
    **functions(
        "tf",
        {
            ("data", "axis=axis, keepdims=keepdims"): (
                "sum=reduce_sum mean=reduce_mean max=reduce_max min=reduce_min prod=reduce_prod "
                "variance=math.reduce_variance std=math.reduce_std all=reduce_all any=reduce_any "
                "logsumexp=reduce_logsumexp norm"
            ),
            ("data", "axis=axis"): "cumsum cumprod=math.cumprod",
        },
    ),
    **compositions(
        argmax=(_place(tf.argmax), "tf.argmax, and tf.expand_dims where the dimension is kept"),
        argmin=(_place(tf.argmin), "tf.argmin, and tf.expand_dims where the dimension is kept"),
        nansum=(_without_nan(tf.reduce_sum, 0), "tf.math.is_nan, tf.where and tf.reduce_sum"),
        nanprod=(_without_nan(tf.reduce_prod, 1), "tf.math.is_nan, tf.where and tf.reduce_prod"),
    ),
    # Sorting and selecting in TensorFlow.
    **functions("tf", {("data", "axis=axis, direction=direction"): "sort argsort"}, derive={"direction": _direction}),
    "topk": composition(top_k, note="tf.math.top_k, whose indices are int32"),
    **compositions(
        accuracy=(
            lambda data, labels: tf.reduce_mean(tf.cast(tf.argmax(data, 1) == labels, tf.float32)),
            "tf.argmax, a comparison, tf.cast and tf.reduce_mean",
        ),
        top_k_accuracy=(top_k_accuracy, "tf.math.in_top_k, tf.cast and tf.reduce_mean"),
        f1_score=(f1_score, "tf.argmax, comparisons and tf.math.count_nonzero"),
        mean_absolute_error=(
            lambda data, labels: tf.reduce_mean(tf.abs(data - labels)),
            "tf.abs of a difference and tf.reduce_mean",
        ),
        mean_squared_error=(
            lambda data, labels: tf.reduce_mean(tf.math.squared_difference(data, labels)),
            "tf.math.squared_difference and tf.reduce_mean",
        ),
        root_mean_squared_error=(
            lambda data, labels: tf.sqrt(tf.reduce_mean(tf.math.squared_difference(data, labels))),
            "tf.math.squared_difference, tf.reduce_mean and tf.sqrt",
        ),
        negative_log_likelihood=(negative_log_likelihood, PICKED),
        perplexity=(lambda data, labels: tf.exp(negative_log_likelihood(data, labels)), f"{PICKED}, and tf.exp"),
        pearson_correlation=(pearson_correlation, "tf.reduce_mean, tf.reduce_sum of products, and tf.math.rsqrt"),
    ),
}
