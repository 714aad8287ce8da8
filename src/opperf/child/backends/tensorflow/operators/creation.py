"""Creation of tensors: constants, random numbers and initial weights in TensorFlow.

Random numbers come from TensorFlow's own generator, whose state each call moves on.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod, sqrt
from typing import Any

import tensorflow as tf

from opperf.child.backends.binding import Binding, compositions, functions

KNOWN = "without inputs; a program may hold numbers that Grappler or XLA worked out beforehand"
#: The deviation of a normal distribution that is cut off at two deviations, and has itself one.
CUT = 0.87962566103423978


def bernoulli(shape: Any, dtype: Any, probability: float | None) -> Any:
    """Return ones and zeros."""
    return tf.cast(tf.random.uniform(shape) < (0.5 if probability is None else probability), dtype)


def exponential(shape: Any, dtype: Any, scale: float) -> Any:
    """Return times between rare events."""
    return -tf.math.log1p(-tf.random.uniform(shape, dtype=dtype)) * scale


def gamma(shape: Any, dtype: Any, alpha: float, scale: float) -> Any:
    """Return scaled numbers."""
    return tf.random.gamma(shape, alpha, 1 / scale, dtype)


def negative_binomial(shape: Any, dtype: Any, successes: int, probability: float) -> Any:
    """Return counts whose rates are drawn themselves."""
    return tf.random.poisson((), gamma(shape, dtype, successes, (1 - probability) / probability), dtype)


def orthogonal(shape: Any, dtype: Any) -> Any:
    rows, columns = shape[0], prod(shape[1:])
    normal = tf.random.normal((max(rows, columns), min(rows, columns)), dtype=dtype)
    basis, triangle = tf.linalg.qr(normal)
    basis *= tf.sign(tf.linalg.diag_part(triangle))
    return tf.reshape(basis if rows >= columns else tf.transpose(basis), shape)


def _fans(shape: Any) -> tuple[int, int]:
    """Return how many inputs and outputs weights (out, in, width...) have."""
    width = prod(shape[2:])
    return shape[1] * width, shape[0] * width


def _initializer(draw: Callable[..., Any], variance: Callable[[int, int], float]) -> Callable[..., Any]:
    """Return a function that draws weights of a variance by their inputs and outputs."""

    def weights(shape: Any, dtype: Any) -> Any:
        return draw(shape, dtype, sqrt(variance(*_fans(shape))))

    return weights


def _uniform(shape: Any, dtype: Any, deviation: float) -> Any:
    bound = sqrt(3) * deviation
    return tf.random.uniform(shape, -bound, bound, dtype)


def _cut_normal(shape: Any, dtype: Any, deviation: float) -> Any:
    return tf.random.truncated_normal(shape, 0.0, deviation / CUT, dtype)


BINDINGS: dict[str, Binding] = {
    # TensorFlow's tensors of known values.
    **functions(
        "tf",
        {
            ("shape, dtype", ""): "zeros ones",
            ("data", ""): "zeros_like ones_like shuffle=random.shuffle",
            # Drawing numbers in TensorFlow.
            ("shape, low, high, dtype", ""): "random_uniform=random.uniform random_integers=random.uniform",
            ("shape", "mean=mean, stddev=std, dtype=dtype"): "random_normal=random.normal",
            ("shape, rate, dtype", ""): "random_poisson=random.poisson",
            ("shape", "stddev=std, dtype=dtype"): "truncated_normal=random.truncated_normal",
        },
    ),
    **functions(
        "tf",
        {("start, stop, step", "dtype=dtype"): "arange=range", ("rows, columns", "dtype=dtype"): "eye"},
        note=KNOWN,
    ),
    **compositions(
        full=(lambda shape, value, dtype: tf.fill(shape, tf.constant(value, dtype)), "tf.fill"),
        full_like=(lambda data, value: tf.fill(data.shape, tf.constant(value, data.dtype)), "tf.fill"),
        linspace=(
            lambda start, stop, count, dtype: tf.linspace(tf.constant(start, dtype), tf.constant(stop, dtype), count),
            f"tf.linspace; {KNOWN}",
        ),
        random_bernoulli=(bernoulli, "tf.random.uniform, a comparison and tf.cast"),
        random_exponential=(exponential, "tf.random.uniform, tf.math.log1p and a product"),
        random_gamma=(gamma, "tf.random.gamma"),
        random_negative_binomial=(negative_binomial, "tf.random.gamma and tf.random.poisson"),
        random_categorical=(
            lambda data, count: tf.random.categorical(tf.math.log(data), count),
            "tf.math.log and tf.random.categorical",
        ),
        # Weights in TensorFlow: what the initializers of Keras draw.
        xavier_uniform=(_initializer(_uniform, lambda ins, outs: 2 / (ins + outs)), "tf.random.uniform"),
        xavier_normal=(
            _initializer(_cut_normal, lambda ins, outs: 2 / (ins + outs)),
            "tf.random.truncated_normal, within two deviations",
        ),
        kaiming_uniform=(_initializer(_uniform, lambda ins, outs: 2 / ins), "tf.random.uniform"),
        kaiming_normal=(
            _initializer(_cut_normal, lambda ins, outs: 2 / ins),
            "tf.random.truncated_normal, within two deviations",
        ),
        orthogonal=(orthogonal, "tf.random.normal, tf.linalg.qr and tf.sign"),
    ),
}
