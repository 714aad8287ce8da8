"""What models run one after another, in NumPy: each part makes an array of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, Missing, composed
from opperf.child.backends.numpy.operators.activation import gelu, sigmoid
from opperf.child.backends.numpy.operators.normalization import layer_norm, rms_norm

IMAGES = Missing("NumPy has no convolution over images, which is the first part of this")


def relu(data: Any) -> Any:
    """Return the data where positive, else zero."""
    return np.maximum(data, 0)


ACTIVATIONS: dict[str, Callable[[Any], Any]] = {"relu": relu, "sigmoid": sigmoid, "tanh": np.tanh}


def linear_relu(data: Any, weight: Any, bias: Any) -> Any:
    """Return the relu of the product with its bias."""
    return relu(np.matmul(data, weight.T) + bias)


def linear_gelu(data: Any, weight: Any, bias: Any, approximate: str | None) -> Any:
    """Return the gelu of the product with its bias, by its approximation with tanh."""
    return gelu(np.matmul(data, weight.T) + bias, approximate)


def matmul_bias_activation(lhs: Any, rhs: Any, bias: Any, activation: str) -> Any:
    """Return an activation of the product with its bias."""
    return ACTIVATIONS[activation](np.matmul(lhs, rhs) + bias)


def add_layer_norm(data: Any, residual: Any, weight: Any, bias: Any, epsilon: float) -> Any:
    """Return the normalized sum."""
    return layer_norm(data + residual, weight, bias, epsilon)


def add_rms_norm(data: Any, residual: Any, weight: Any, epsilon: float) -> Any:
    """Return the sum over its root mean square."""
    return rms_norm(data + residual, weight, epsilon)


def residual_add_relu(data: Any, residual: Any) -> Any:
    """Return the relu of the sum."""
    return relu(data + residual)


def bias_gelu(data: Any, bias: Any, approximate: str | None) -> Any:
    """Return the gelu of the sum, by its approximation with tanh."""
    return gelu(data + bias, approximate)


BINDINGS: dict[str, Binding] = {
    "conv_relu": IMAGES,
    "conv_batch_norm": IMAGES,
    "conv_batch_norm_relu": IMAGES,
    "linear_relu": composed(linear_relu, "data, weight, bias", note="numpy.matmul, numpy.add and numpy.maximum"),
    "linear_gelu": composed(
        linear_gelu, "data, weight, bias, approximate", note="numpy.matmul, numpy.add, numpy.tanh and arithmetic"
    ),
    "matmul_bias_activation": composed(
        matmul_bias_activation, "lhs, rhs, bias, activation", note="numpy.matmul, numpy.add and the activation"
    ),
    "add_layer_norm": composed(
        add_layer_norm,
        "data, residual, weight, bias, epsilon",
        note="numpy.add, numpy.mean, numpy.var, numpy.sqrt and arithmetic",
    ),
    "add_rms_norm": composed(
        add_rms_norm,
        "data, residual, weight, epsilon",
        note="numpy.add, numpy.square, numpy.mean, numpy.sqrt and arithmetic",
    ),
    "residual_add_relu": composed(residual_add_relu, "data, residual", note="numpy.add and numpy.maximum"),
    "bias_gelu": composed(bias_gelu, "data, bias, approximate", note="numpy.add, numpy.tanh and arithmetic"),
}
