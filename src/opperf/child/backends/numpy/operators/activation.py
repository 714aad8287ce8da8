"""Activations, which NumPy users write with a function or a few."""

from __future__ import annotations

from typing import Any

import numpy as np

from opperf.child.backends.call import Binding, call, composed
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


BINDINGS: dict[str, Binding] = {
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
