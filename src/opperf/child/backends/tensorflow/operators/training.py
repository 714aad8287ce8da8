"""Losses and optimizer updates in TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import tensorflow as tf

from opperf.child.backends.arrays.losses import Means, annotate, losses
from opperf.child.backends.arrays.updates import Updates
from opperf.child.backends.binding import Binding, compositions

MEANS: Means = {None: tf.reduce_mean, "mean": tf.reduce_mean, "sum": tf.reduce_sum, "none": lambda same: same}


def _reduce(values: Any, reduction: str | None) -> Any:
    return MEANS[reduction](values)


def _loss(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return a loss of data and labels, reduced."""

    def loss(data: Any, labels: Any, reduction: str | None) -> Any:
        return _reduce(function(data, labels), reduction)

    return loss


def smooth_l1_loss(data: Any, labels: Any, reduction: str | None, beta: float | None) -> Any:
    width = 1.0 if beta is None else beta
    difference = tf.abs(data - labels)
    near = 0.5 * tf.square(difference) / width
    return _reduce(tf.where(difference < width, near, difference - 0.5 * width), reduction)


def gaussian_nll_loss(data: Any, labels: Any, variance: Any, reduction: str | None) -> Any:
    spread = tf.maximum(variance, 1e-6)
    return _reduce(0.5 * (tf.math.log(spread) + tf.math.squared_difference(data, labels) / spread), reduction)


def cosine_embedding_loss(lhs: Any, rhs: Any, labels: Any, reduction: str | None, margin: float | None) -> Any:
    squares = tf.reduce_sum(tf.square(lhs), 1) * tf.reduce_sum(tf.square(rhs), 1)
    cosine = tf.reduce_sum(lhs * rhs, 1) * tf.math.rsqrt(squares)
    apart = tf.where(labels == -1, tf.nn.relu(cosine - (margin or 0.0)), tf.zeros_like(cosine))
    return _reduce(tf.where(labels == 1, 1 - cosine, apart), reduction)


def triplet_margin_loss(anchor: Any, positive: Any, negative: Any, reduction: str | None, margin: float | None) -> Any:
    near, far = tf.norm(anchor - positive, axis=-1), tf.norm(anchor - negative, axis=-1)
    return _reduce(tf.nn.relu((1.0 if margin is None else margin) + near - far), reduction)


def ctc_loss(data: Any, labels: Any) -> Any:
    time, batch, _ = data.shape
    lengths = tf.fill((batch,), labels.shape[1]), tf.fill((batch,), time)
    return tf.nn.ctc_loss(tf.cast(labels, tf.int32), data, *lengths, blank_index=0)


#: What steps of optimizers and losses take of NumPy.
FUNCTIONS = SimpleNamespace(
    __name__="tf",
    sign=tf.sign,
    sqrt=tf.sqrt,
    square=tf.square,
    abs=tf.abs,
    log=tf.math.log,
    log1p=tf.math.log1p,
    where=tf.where,
    multiply=lambda values, mask: values * tf.cast(mask, values.dtype),
    linalg=SimpleNamespace(norm=tf.norm),
)
LOSSES = losses(FUNCTIONS, MEANS, relu=tf.nn.relu, softplus=tf.nn.softplus, log_softmax=tf.nn.log_softmax)
#: What losses are made of that TensorFlow's users write as NumPy's do.
NOTES = {
    "binary_cross_entropy": "tf.math.log, tf.math.log1p, products",
    "huber_loss": "tf.abs, tf.square, tf.where",
    "hinge_loss": "a product, tf.nn.relu",
    "squared_hinge_loss": "a product, tf.nn.relu, tf.square",
    "logistic_loss": "a product, tf.nn.softplus",
    "margin_ranking_loss": "a product, tf.nn.relu",
}

BINDINGS: dict[str, Binding] = {
    # Losses in TensorFlow: `tf.nn` has those of classes, and users compose the others, as Keras does.
    **annotate(LOSSES, NOTES, "{} and tf.reduce_mean"),
    **compositions(
        mse_loss=(_loss(tf.math.squared_difference), "tf.math.squared_difference and tf.reduce_mean"),
        l1_loss=(_loss(lambda data, labels: tf.abs(data - labels)), "tf.abs of a difference and tf.reduce_mean"),
        cross_entropy=(
            _loss(lambda data, labels: tf.nn.sparse_softmax_cross_entropy_with_logits(labels, data)),
            "tf.nn.sparse_softmax_cross_entropy_with_logits and tf.reduce_mean",
        ),
        nll_loss=(
            _loss(lambda data, labels: -tf.gather(data, labels, axis=1, batch_dims=1)),
            "tf.gather of each row's label and tf.reduce_mean",
        ),
        binary_cross_entropy_with_logits=(
            _loss(lambda data, labels: tf.nn.sigmoid_cross_entropy_with_logits(labels, data)),
            "tf.nn.sigmoid_cross_entropy_with_logits and tf.reduce_mean",
        ),
        kl_div=(
            _loss(lambda data, labels: tf.math.xlogy(labels, labels) - labels * data),
            "tf.math.xlogy, a product and tf.reduce_mean",
        ),
        poisson_nll_loss=(
            _loss(lambda data, labels: tf.nn.log_poisson_loss(labels, data)),
            "tf.nn.log_poisson_loss and tf.reduce_mean",
        ),
        smooth_l1_loss=(smooth_l1_loss, "tf.abs, tf.square, tf.where and tf.reduce_mean"),
        gaussian_nll_loss=(gaussian_nll_loss, "tf.math.log, tf.math.squared_difference, a quotient and a mean"),
        cosine_embedding_loss=(cosine_embedding_loss, "tf.reduce_sum of products, tf.math.rsqrt, tf.where and a mean"),
        triplet_margin_loss=(triplet_margin_loss, "tf.norm of differences, tf.nn.relu and tf.reduce_mean"),
        ctc_loss=(ctc_loss, "tf.nn.ctc_loss, of sequences in their full length"),
    ),
    **Updates(FUNCTIONS, immutable=True).bindings(),
}
