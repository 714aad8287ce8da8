"""Activations, gated ones, and what compilers fuse with them in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, Missing, call, composed
from opperf.child.backends.numpy.operators.normalization import layer_norm, rms_norm
from opperf.domain.backend import Unsupported

# Activations, which NumPy users write with a function or a few.

#: The constants of selu, for which the mean and the variance of a normal distribution are fixed points.
SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772
#: Of gelu's approximation: the square root of 2 / pi, and the factor of the cube.
GELU_SCALE, GELU_CUBE = 0.7978845608028654, 0.044715


def sigmoid(data: Any) -> Any:
    """Return one over one plus e to the power of minus the data."""
    return 1.0 / (1.0 + np.exp(-data))


def gelu(data: Any, approximate: str | None) -> Any:
    """Return gelu by its approximation with tanh; the exact one needs the error function."""
    if approximate != "tanh":
        raise Unsupported(
            "gelu without approximation needs the error function, which NumPy lacks",
            slug="no_such_operator",
            hint="give `approximate` the value `tanh`",
        )
    return 0.5 * data * (1.0 + np.tanh(GELU_SCALE * (data + GELU_CUBE * data * data * data)))


def silu(data: Any) -> Any:
    """Return the data times its sigmoid."""
    return data / (1.0 + np.exp(-data))


def mish(data: Any) -> Any:
    """Return the data times the hyperbolic tangent of its softplus."""
    return data * np.tanh(np.logaddexp(data, 0.0))


def leaky_relu(data: Any, slope: float) -> Any:
    """Return the data where positive, else `slope` times it."""
    return np.where(data > 0, data, slope * data)


def elu(data: Any, alpha: float) -> Any:
    """Return the data where positive, else `alpha` times e to its power minus one."""
    return np.where(data > 0, data, alpha * np.expm1(np.minimum(data, 0.0)))


def selu(data: Any) -> Any:
    """Return elu with the two constants."""
    return SELU_SCALE * elu(data, SELU_ALPHA)


def softsign(data: Any) -> Any:
    """Return the data over one plus its absolute value."""
    return data / (1.0 + np.abs(data))


def log_sigmoid(data: Any) -> Any:
    """Return the logarithm of the sigmoid."""
    return -np.logaddexp(-data, 0.0)


def hard_sigmoid(data: Any) -> Any:
    """Return a sixth of the data plus a half, between 0 and 1."""
    return np.clip(data / 6.0 + 0.5, 0.0, 1.0)


def hard_swish(data: Any) -> Any:
    """Return the data times its hard sigmoid."""
    return data * hard_sigmoid(data)


def prelu(data: Any, weight: Any) -> Any:
    """Return the data where positive, else times the weight of its channel (axis 1)."""
    return np.where(data > 0, data, weight.reshape((-1,) + (1,) * (data.ndim - 2)) * data)


_ACTIVATION: dict[str, Binding] = {
    "relu": call("numpy.maximum", "x1=data, x2=0", note="numpy.maximum with 0"),
    "relu6": call("numpy.clip", "a=data, a_min=0, a_max=6", note="numpy.clip to 0 and 6"),
    "sigmoid": composed(sigmoid, "data", note="numpy.exp and arithmetic"),
    "tanh": call("numpy.tanh", "x=data"),
    "gelu": composed(gelu, "data, approximate", note="numpy.tanh and arithmetic"),
    "silu": composed(silu, "data", note="numpy.exp and arithmetic"),
    "mish": composed(mish, "data", note="numpy.logaddexp, numpy.tanh and numpy.multiply"),
    "leaky_relu": composed(leaky_relu, "data, slope", note="numpy.where, numpy.greater and numpy.multiply"),
    "elu": composed(elu, "data, alpha", note="numpy.where, numpy.expm1, numpy.minimum and arithmetic"),
    "selu": composed(selu, "data", note="numpy.where, numpy.expm1, numpy.minimum and arithmetic"),
    "softplus": call("numpy.logaddexp", "x1=data, x2=0.0", note="numpy.logaddexp with 0"),
    "softsign": composed(softsign, "data", note="numpy.abs and arithmetic"),
    "log_sigmoid": composed(log_sigmoid, "data", note="numpy.logaddexp and numpy.negative"),
    "hard_sigmoid": composed(hard_sigmoid, "data", note="numpy.clip and arithmetic"),
    "hard_swish": composed(hard_swish, "data", note="numpy.clip and arithmetic"),
    "prelu": composed(prelu, "data, weight", note="numpy.where, numpy.greater and numpy.multiply"),
}


# Gated activations, which NumPy users write with a function or a few.


def glu(data: Any) -> Any:
    """Return the first half times the sigmoid of the second."""
    first, second = np.split(data, 2, axis=-1)
    return first / (1.0 + np.exp(-second))


def reglu(data: Any) -> Any:
    """Return the first half times the second where that is positive."""
    first, second = np.split(data, 2, axis=-1)
    return first * np.maximum(second, 0)


def swiglu(data: Any) -> Any:
    """Return the first half times the second times its sigmoid."""
    first, second = np.split(data, 2, axis=-1)
    return first * second / (1.0 + np.exp(-second))


def geglu(data: Any, approximate: str | None) -> Any:
    """Return the first half times the gelu of the second, by its approximation with tanh."""
    first, second = np.split(data, 2, axis=-1)
    return first * gelu(second, approximate)


_GATED: dict[str, Binding] = {
    "glu": composed(glu, "data", note="numpy.split, numpy.exp and arithmetic"),
    "reglu": composed(reglu, "data", note="numpy.split, numpy.maximum and numpy.multiply"),
    "swiglu": composed(swiglu, "data", note="numpy.split, numpy.exp and arithmetic"),
    "geglu": composed(geglu, "data, approximate", note="numpy.split, numpy.tanh and arithmetic"),
}


# What models run one after another, in NumPy: each part makes an array of its own.

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


_FUSED: dict[str, Binding] = {
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


BINDINGS: dict[str, Binding] = {
    **_ACTIVATION,
    **_GATED,
    **_FUSED,
}
