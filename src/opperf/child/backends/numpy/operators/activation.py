"""Activations, gated ones, and what compilers fuse with them in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, Missing, call, compositions
from opperf.child.backends.numpy.operators.normalization import layer_norm, rms_norm
from opperf.domain.backend import Unsupported

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
            hint="use `--attribute approximate=tanh`",
        )
    return 0.5 * data * (1.0 + np.tanh(GELU_SCALE * (data + GELU_CUBE * data * data * data)))


def elu(data: Any, alpha: float) -> Any:
    """Return the data where positive, else `alpha` times e to its power minus one."""
    return np.where(data > 0, data, alpha * np.expm1(np.minimum(data, 0.0)))


def hard_sigmoid(data: Any) -> Any:
    """Return a sixth of the data plus a half, between 0 and 1."""
    return np.clip(data / 6.0 + 0.5, 0.0, 1.0)


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


IMAGES = Missing("NumPy has no convolution over images, the first step of this operator")


def relu(data: Any) -> Any:
    """Return the data where positive, else zero."""
    return np.maximum(data, 0)


ACTIVATIONS: dict[str, Callable[[Any], Any]] = {"relu": relu, "sigmoid": sigmoid, "tanh": np.tanh}


BINDINGS: dict[str, Binding] = {
    # Activations, which NumPy users write with a function or a few.
    "relu": call("numpy.maximum", "x1=data, x2=0", note="numpy.maximum with 0"),
    "relu6": call("numpy.clip", "a=data, a_min=0, a_max=6", note="numpy.clip to 0 and 6"),
    "tanh": call("numpy.tanh", "x=data"),
    "softplus": call("numpy.logaddexp", "x1=data, x2=0.0", note="numpy.logaddexp with 0"),
    **compositions(
        sigmoid=(sigmoid, "numpy.exp and arithmetic"),
        gelu=(gelu, "numpy.tanh and arithmetic"),
        silu=(lambda data: data / (1.0 + np.exp(-data)), "numpy.exp and arithmetic"),
        mish=(lambda data: data * np.tanh(np.logaddexp(data, 0.0)), "numpy.logaddexp, numpy.tanh and numpy.multiply"),
        leaky_relu=(
            lambda data, slope: np.where(data > 0, data, slope * data),
            "numpy.where, numpy.greater and numpy.multiply",
        ),
        elu=(elu, "numpy.where, numpy.expm1, numpy.minimum and arithmetic"),
        selu=(
            lambda data: SELU_SCALE * elu(data, SELU_ALPHA),
            "numpy.where, numpy.expm1, numpy.minimum and arithmetic",
        ),
        softsign=(lambda data: data / (1.0 + np.abs(data)), "numpy.abs and arithmetic"),
        log_sigmoid=(lambda data: -np.logaddexp(-data, 0.0), "numpy.logaddexp and numpy.negative"),
        hard_sigmoid=(hard_sigmoid, "numpy.clip and arithmetic"),
        hard_swish=(lambda data: data * hard_sigmoid(data), "numpy.clip and arithmetic"),
        prelu=(
            lambda data, weight: np.where(data > 0, data, weight.reshape((-1,) + (1,) * (data.ndim - 2)) * data),
            "numpy.where, numpy.greater and numpy.multiply",
        ),
    ),
    # Gated activations, which NumPy users write with a function or a few.
    **compositions(
        glu=(glu, "numpy.split, numpy.exp and arithmetic"),
        reglu=(reglu, "numpy.split, numpy.maximum and numpy.multiply"),
        swiglu=(swiglu, "numpy.split, numpy.exp and arithmetic"),
        geglu=(geglu, "numpy.split, numpy.tanh and arithmetic"),
    ),
    # What models run one after another, in NumPy: each part makes an array of its own.
    "conv_relu": IMAGES,
    "conv_batch_norm": IMAGES,
    "conv_batch_norm_relu": IMAGES,
    **compositions(
        linear_relu=(
            lambda data, weight, bias: relu(np.matmul(data, weight.T) + bias),
            "numpy.matmul, numpy.add and numpy.maximum",
        ),
        linear_gelu=(
            lambda data, weight, bias, approximate: gelu(np.matmul(data, weight.T) + bias, approximate),
            "numpy.matmul, numpy.add, numpy.tanh and arithmetic",
        ),
        matmul_bias_activation=(
            lambda lhs, rhs, bias, activation: ACTIVATIONS[activation](np.matmul(lhs, rhs) + bias),
            "numpy.matmul, numpy.add and the activation",
        ),
        add_layer_norm=(
            lambda data, residual, weight, bias, epsilon: layer_norm(data + residual, weight, bias, epsilon),
            "numpy.add, numpy.mean, numpy.var, numpy.sqrt and arithmetic",
        ),
        add_rms_norm=(
            lambda data, residual, weight, epsilon: rms_norm(data + residual, weight, epsilon),
            "numpy.add, numpy.square, numpy.mean, numpy.sqrt and arithmetic",
        ),
        residual_add_relu=(lambda data, residual: relu(data + residual), "numpy.add and numpy.maximum"),
        bias_gelu=(
            lambda data, bias, approximate: gelu(data + bias, approximate),
            "numpy.add, numpy.tanh and arithmetic",
        ),
    ),
}
