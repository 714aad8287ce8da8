"""Activations, gated ones, and what compilers fuse with them in TensorFlow."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from opperf.child.backends.arrays.activations import bindings
from opperf.child.backends.arrays.fusions import convolved, fused, gates
from opperf.child.backends.binding import Binding, composition, compositions, functions
from opperf.child.backends.tensorflow.operators.convolution import (
    CHANNELS_LAST,
    OWN_LAYOUT,
    channels_last,
    convolution,
    to_own_layout,
)
from opperf.child.backends.tensorflow.operators.linalg import linear
from opperf.child.backends.tensorflow.operators.normalization import along_channels, batch_norm, layer_norm, rms_norm


def gelu(data: Any, approximate: Any) -> Any:
    return tf.nn.gelu(data, approximate=approximate in (True, "tanh"))


def elu(data: Any, alpha: float | None) -> Any:
    return tf.nn.elu(data) if alpha in (None, 1) else tf.where(data > 0, data, alpha * tf.math.expm1(data))


def prelu(data: Any, weight: Any) -> Any:
    slope = along_channels(weight, data) if data.shape.rank > 1 else weight
    return tf.where(data > 0, data, slope * data)


def convolve(data: Any, weight: Any, bias: Any, stride: Any, padding: Any) -> Any:
    """Return the convolution, and the bias."""
    result = convolution(data, weight, stride, padding)
    return result if bias is None else tf.nn.bias_add(result, bias)


RELU, GELU = (tf.nn.relu, "tf.nn.relu"), (gelu, "tf.nn.gelu")

BINDINGS: dict[str, Binding] = {
    # Activations in TensorFlow: what all array libraries write alike, and over that its own functions.
    **bindings(tf, "tf"),
    **functions(
        "tf.nn", {("data", ""): "relu relu6 silu selu softplus softsign", ("data", "alpha=slope"): "leaky_relu"}
    ),
    **functions("tf", {("data", ""): "sigmoid tanh log_sigmoid=math.log_sigmoid"}),
    "gelu": composition(gelu, note="tf.nn.gelu"),
    "elu": composition(elu, note="tf.nn.elu, or composed where alpha is not 1"),
    **compositions(
        mish=(lambda data: data * tf.tanh(tf.nn.softplus(data)), "tf.nn.softplus, tf.tanh and a product"),
        hard_sigmoid=(lambda data: tf.nn.relu6(data + 3) / 6, "a sum, tf.nn.relu6 and a division"),
        hard_swish=(lambda data: data * tf.nn.relu6(data + 3) / 6, "a sum, tf.nn.relu6, a product and a division"),
        prelu=(prelu, "tf.where and a product"),
    ),
    **gates(
        (tf.split, "tf.split"),
        glu=(tf.sigmoid, "tf.sigmoid"),
        reglu=RELU,
        swiglu=(tf.nn.silu, "tf.nn.silu"),
        geglu=GELU,
    ),
    # What models run one after another, in TensorFlow: one program in the compiled modes.
    **convolved(
        (convolve, "tf.nn.conv2d"),
        (batch_norm, "tf.nn.batch_normalization"),
        RELU,
        bias="tf.nn.bias_add",
        layout_note=f"; {OWN_LAYOUT}",
        adapt={"data": channels_last, "weight": to_own_layout},
        layout=CHANNELS_LAST,
    ),
    **fused(
        linear=(linear, "tf.matmul, tf.nn.bias_add"),
        product=(lambda lhs, rhs, bias: tf.matmul(lhs, rhs) + bias, "tf.matmul, a sum"),
        relu=RELU,
        gelu=GELU,
        layer_norm=(layer_norm, "tf.nn.moments, tf.nn.batch_normalization"),
        rms_norm=(rms_norm, "tf.square, tf.reduce_mean, tf.math.rsqrt, products"),
        activations={"relu": tf.nn.relu, "sigmoid": tf.sigmoid, "tanh": tf.tanh},
    ),
}
