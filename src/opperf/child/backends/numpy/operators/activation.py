"""Activations, gated ones, and what compilers fuse with them in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from opperf.child.backends.arrays.activations import activations, bindings
from opperf.child.backends.binding import Binding, call, compositions, gaps
from opperf.child.backends.numpy.operators.normalization import layer_norm, rms_norm

SHARED = activations(np)
sigmoid, gelu = SHARED["sigmoid"][0], SHARED["gelu"][0]


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


def relu(data: Any) -> Any:
    """Return the data where positive, else zero."""
    return np.maximum(data, 0)


ACTIVATIONS: dict[str, Callable[[Any], Any]] = {"relu": relu, "sigmoid": sigmoid, "tanh": np.tanh}


BINDINGS: dict[str, Binding] = {
    # Activations, which NumPy users write with a function or a few: those of all array libraries first.
    **bindings(np, "numpy"),
    "relu": call("numpy.maximum", "x1=data, x2=0", note="numpy.maximum with 0"),
    "relu6": call("numpy.clip", "a=data, a_min=0, a_max=6", note="numpy.clip to 0 and 6"),
    "softplus": call("numpy.logaddexp", "x1=data, x2=0.0", note="numpy.logaddexp with 0"),
    **compositions(
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
    **gaps(
        "NumPy has no convolution over images, the first step of this operator",
        "conv_relu conv_batch_norm conv_batch_norm_relu",
    ),
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
