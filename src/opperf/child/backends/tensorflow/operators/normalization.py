"""Normalization, softmax and dropout in TensorFlow: what its layers call."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from opperf.child.backends.arrays.normalization import last_axes, or_usual
from opperf.child.backends.binding import Binding, composition, compositions
from opperf.child.backends.tensorflow.operators.convolution import OF_IMAGES, OWN_DATA


def batch_norm(
    data: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool | None, epsilon: float | None
) -> Any:
    if training is False:
        return tf.nn.batch_normalization(data, running_mean, running_var, bias, weight, or_usual(epsilon))
    if data.shape.rank == 4 and weight is not None and bias is not None:
        empty = tf.zeros((0,), weight.dtype)
        return tf.raw_ops.FusedBatchNormV3(
            x=data,
            scale=weight,
            offset=bias,
            mean=empty,
            variance=empty,
            epsilon=or_usual(epsilon),
        ).y
    mean, variance = tf.nn.moments(data, list(range(data.shape.rank - 1)), keepdims=True)
    return tf.nn.batch_normalization(data, mean, variance, bias, weight, or_usual(epsilon))


def layer_norm(data: Any, weight: Any, bias: Any, epsilon: float | None) -> Any:
    """Return the last dimensions normalized, as many as the weight has."""
    mean, variance = tf.nn.moments(data, last_axes(weight), keepdims=True)
    return tf.nn.batch_normalization(data, mean, variance, bias, weight, or_usual(epsilon))


def rms_norm(data: Any, weight: Any, epsilon: float | None) -> Any:
    """Return the data over the root mean square of the last dimensions, as many as the weight has."""
    mean = tf.reduce_mean(tf.square(data), last_axes(weight), keepdims=True)
    return data * tf.math.rsqrt(mean + or_usual(epsilon)) * weight


def group_norm(data: Any, weight: Any, bias: Any, groups: int, epsilon: float | None) -> Any:
    rows = tf.reshape(data, (data.shape[0], groups, -1))
    mean, variance = tf.nn.moments(rows, (2,), keepdims=True)
    normal = tf.nn.batch_normalization(rows, mean, variance, None, None, or_usual(epsilon))
    return tf.reshape(normal, data.shape) * along_channels(weight, data) + along_channels(bias, data)


def instance_norm(data: Any, weight: Any, bias: Any, epsilon: float | None) -> Any:
    mean, variance = tf.nn.moments(data, list(range(2, data.shape.rank)), keepdims=True)
    scale, shift = along_channels(weight, data), along_channels(bias, data)
    return tf.nn.batch_normalization(data, mean, variance, shift, scale, or_usual(epsilon))


def l2_normalize(data: Any, axis: Any, epsilon: float | None) -> Any:
    norm = tf.norm(data, axis=axis, keepdims=True)
    return data / tf.maximum(norm, or_usual(epsilon))


def along_channels(values: Any, data: Any) -> Any:
    """Return a vector in the shape in which it stands along the second dimension of the data."""
    return None if values is None else tf.reshape(values, (1, -1, *(1,) * (data.shape.rank - 2)))


def dropout(data: Any, rate: float, training: bool | None) -> Any:
    return tf.identity(data) if training is False else tf.nn.dropout(data, rate)


MOMENTS = "tf.nn.moments and tf.nn.batch_normalization"

BINDINGS: dict[str, Binding] = {
    "batch_norm": composition(
        batch_norm,
        note=f"tf.raw_ops.FusedBatchNormV3 in training, else tf.nn.batch_normalization; nothing is updated; {OWN_DATA}",
        **OF_IMAGES,
    ),
    **compositions(
        layer_norm=(layer_norm, MOMENTS),
        rms_norm=(rms_norm, "tf.square, tf.reduce_mean, tf.math.rsqrt and products"),
        group_norm=(group_norm, f"{MOMENTS} between reshapes, a product and a sum"),
        instance_norm=(instance_norm, MOMENTS),
        l2_normalize=(l2_normalize, "tf.norm, tf.maximum and a division"),
        softmin=(
            lambda data, axis: tf.nn.softmax(-data, -1 if axis is None else axis),
            "tf.nn.softmax of the negative",
        ),
    ),
    "dropout": composition(dropout, note="tf.nn.dropout"),
}
