"""Products of numbers in four and eight bits, in TensorFlow: they are made real numbers, and multiplied as such."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from opperf.child.backends.arrays.serving import LEAST_SCALE, MOST_INT8
from opperf.child.backends.binding import Binding, compositions, gaps


def int8_weight_matmul(data: Any, weight: Any, scale: Any) -> Any:
    """Return the product, scaled afterwards."""
    return tf.matmul(data, tf.cast(weight, data.dtype), transpose_b=True) * scale


def int4_matmul(data: Any, weight: Any, scale: Any) -> Any:
    """Return the product with two numbers of each byte, the lower four bits first."""
    numbers = tf.stack((tf.bitwise.bitwise_and(weight, 15), tf.bitwise.right_shift(weight, 4)), -1)
    blocks = tf.reshape(tf.cast(numbers, data.dtype) - 8, (*scale.shape, -1)) * scale[..., None]
    return tf.matmul(data, tf.reshape(blocks, (weight.shape[0], -1)), transpose_b=True)


def block_quantize(data: Any, block: int) -> Any:
    """Return whole numbers, and the scales of blocks."""
    blocks = tf.reshape(data, (*data.shape[:-1], -1, block))
    scale = tf.maximum(tf.reduce_max(tf.abs(blocks), -1) / MOST_INT8, LEAST_SCALE)
    return tf.reshape(tf.cast(tf.round(blocks / scale[..., None]), tf.int8), data.shape), scale


def dequantize(data: Any, scale: Any) -> Any:
    """Return the real numbers."""
    blocks = tf.reshape(tf.cast(data, scale.dtype), (*scale.shape, -1)) * scale[..., None]
    return tf.reshape(blocks, data.shape)


def block_scaled_matmul(lhs: Any, rhs: Any, lhs_scale: Any, rhs_scale: Any) -> Any:
    """Return the product of the real numbers."""
    return tf.matmul(dequantize(lhs, lhs_scale), dequantize(rhs, rhs_scale), transpose_b=True)


BINDINGS: dict[str, Binding] = {
    **compositions(
        int8_weight_matmul=(int8_weight_matmul, "tf.cast, tf.matmul and a product"),
        int4_matmul=(int4_matmul, "tf.bitwise.bitwise_and and right_shift, tf.stack, tf.cast, a product and tf.matmul"),
        block_quantize=(block_quantize, "tf.abs, tf.reduce_max, a quotient, tf.round and tf.cast"),
        block_scaled_matmul=(block_scaled_matmul, "tf.cast and a product of both, then tf.matmul"),
    ),
    **gaps("TensorFlow has no product of floating types of eight bits", "float8_matmul"),
    **gaps("TensorFlow has no `frexp`, by which scales get the exponents of numbers", "block_quantize_float8"),
}
