"""Activations, gated ones, and what compilers fuse with them in TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from opperf.child.backends.arrays.activations import bindings
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

ACTIVATIONS = {"relu": tf.nn.relu, "sigmoid": tf.sigmoid, "tanh": tf.tanh}


def gelu(data: Any, approximate: Any) -> Any:
    """Return the gelu, by tanh where it is approximated."""
    return tf.nn.gelu(data, approximate=approximate in (True, "tanh"))


def elu(data: Any, alpha: float | None) -> Any:
    """Return the data where positive, else alpha times one less than its exponential."""
    return tf.nn.elu(data) if alpha in (None, 1) else tf.where(data > 0, data, alpha * tf.math.expm1(data))


def prelu(data: Any, weight: Any) -> Any:
    """Return the data where positive, else times the weight of its channel."""
    slope = along_channels(weight, data) if data.shape.rank > 1 else weight
    return tf.where(data > 0, data, slope * data)


def _gate(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the product of the first half and a function of the second."""

    def gate(data: Any) -> Any:
        first, second = tf.split(data, 2, axis=-1)
        return first * function(second)

    return gate


def geglu(data: Any, approximate: Any) -> Any:
    """Return the first half times the gelu of the second."""
    first, second = tf.split(data, 2, axis=-1)
    return first * gelu(second, approximate)


def conv_relu(data: Any, weight: Any, bias: Any, stride: Any, padding: Any) -> Any:
    """Return the relu of the convolution and the bias."""
    return tf.nn.relu(tf.nn.bias_add(convolution(data, weight, stride, padding), bias))


def conv_batch_norm(
    data: Any,
    weight: Any,
    scale: Any,
    shift: Any,
    running_mean: Any,
    running_var: Any,
    stride: Any,
    padding: Any,
    epsilon: float,
) -> Any:
    """Return the convolution, normalized by the running statistics."""
    result = convolution(data, weight, stride, padding)
    return batch_norm(result, scale, shift, running_mean, running_var, False, epsilon)


def conv_batch_norm_relu(*arguments: Any) -> Any:
    """Return the relu of the normalized convolution."""
    return tf.nn.relu(conv_batch_norm(*arguments))


NORMALIZED = "data, weight, scale, shift, running_mean, running_var, stride, padding, epsilon"


def _convolve_first(function: Callable[..., Any], arguments: str, then: str) -> Binding:
    note = f"tf.nn.conv2d, {then}; {OWN_LAYOUT}"
    adapt = {"data": channels_last, "weight": to_own_layout}
    return composition(function, arguments, adapt=adapt, layout=CHANNELS_LAST, note=note)


BINDINGS: dict[str, Binding] = {
    # Activations in TensorFlow: what all array libraries write alike, and over that its own functions.
    **bindings(tf, "tf"),
    **functions(
        "tf.nn", {("data", ""): "relu relu6 silu selu softplus softsign", ("data", "alpha=slope"): "leaky_relu"}
    ),
    **functions("tf", {("data", ""): "sigmoid tanh log_sigmoid=math.log_sigmoid"}),
    "gelu": composition(gelu, "data, approximate", note="tf.nn.gelu"),
    "elu": composition(elu, "data, alpha", note="tf.nn.elu, or composed where alpha is not 1"),
    **compositions(
        mish=(lambda data: data * tf.tanh(tf.nn.softplus(data)), "tf.nn.softplus, tf.tanh and a product"),
        hard_sigmoid=(lambda data: tf.nn.relu6(data + 3) / 6, "a sum, tf.nn.relu6 and a division"),
        hard_swish=(lambda data: data * tf.nn.relu6(data + 3) / 6, "a sum, tf.nn.relu6, a product and a division"),
        prelu=(prelu, "tf.where and a product"),
        # Gated activations in TensorFlow.
        glu=(_gate(tf.sigmoid), "tf.split, tf.sigmoid and a product"),
        reglu=(_gate(tf.nn.relu), "tf.split, tf.nn.relu and a product"),
        swiglu=(_gate(tf.nn.silu), "tf.split, tf.nn.silu and a product"),
        geglu=(geglu, "tf.split, tf.nn.gelu and a product"),
    ),
    # What models run one after another, in TensorFlow: one program in the compiled modes.
    "conv_relu": _convolve_first(conv_relu, "data, weight, bias, stride, padding", "tf.nn.bias_add and tf.nn.relu"),
    "conv_batch_norm": _convolve_first(conv_batch_norm, NORMALIZED, "tf.nn.batch_normalization"),
    "conv_batch_norm_relu": _convolve_first(
        conv_batch_norm_relu, NORMALIZED, "tf.nn.batch_normalization and tf.nn.relu"
    ),
    **compositions(
        linear_relu=(
            lambda data, weight, bias: tf.nn.relu(linear(data, weight, bias)),
            "tf.matmul, tf.nn.bias_add and tf.nn.relu",
        ),
        linear_gelu=(
            lambda data, weight, bias, approximate: gelu(linear(data, weight, bias), approximate),
            "tf.matmul, tf.nn.bias_add and tf.nn.gelu",
        ),
        matmul_bias_activation=(
            lambda lhs, rhs, bias, activation: ACTIVATIONS[activation](tf.matmul(lhs, rhs) + bias),
            "tf.matmul, a sum and the activation",
        ),
        add_layer_norm=(
            lambda data, residual, weight, bias, epsilon: layer_norm(data + residual, weight, bias, epsilon),
            "a sum, tf.nn.moments and tf.nn.batch_normalization",
        ),
        add_rms_norm=(
            lambda data, residual, weight, epsilon: rms_norm(data + residual, weight, epsilon),
            "a sum, tf.square, tf.reduce_mean, tf.math.rsqrt and products",
        ),
        residual_add_relu=(lambda data, residual: tf.nn.relu(data + residual), "a sum and tf.nn.relu"),
        bias_gelu=(lambda data, bias, approximate: gelu(data + bias, approximate), "a sum and tf.nn.gelu"),
    ),
}
