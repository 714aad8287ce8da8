"""Activations, gated ones, and what compilers fuse with them in JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax, nn

from opperf.child.backends.binding import Binding, call, composition, compositions, functions
from opperf.child.backends.jax.operators.convolution import both_ends, spread
from opperf.child.backends.jax.operators.normalization import batch_norm, layer_norm, rms_norm


def prelu(data: Any, weight: Any) -> Any:
    """Return the data where positive, else times the weight of its channel."""
    shaped = weight.reshape(1, -1, *(1,) * (data.ndim - 2)) if data.ndim > 1 else weight
    return jnp.where(data > 0, data, shaped * data)


def reglu(data: Any) -> Any:
    """Return the first half times the relu of the second."""
    first, second = jnp.split(data, 2, axis=-1)
    return first * nn.relu(second)


def swiglu(data: Any) -> Any:
    """Return the first half times the silu of the second."""
    first, second = jnp.split(data, 2, axis=-1)
    return first * nn.silu(second)


def geglu(data: Any, approximate: str | None) -> Any:
    """Return the first half times the gelu of the second; JAX's own default is the approximation."""
    first, second = jnp.split(data, 2, axis=-1)
    return first * nn.gelu(second, approximate=approximate == "tanh")


ACTIVATIONS = {"relu": nn.relu, "sigmoid": nn.sigmoid, "tanh": jnp.tanh}


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
    convolved = _convolve(data, weight, stride, padding)
    return batch_norm(convolved, scale, shift, running_mean, running_var, False, epsilon)


def conv_batch_norm_relu(*arguments: Any) -> Any:
    """Return the relu of the normalized convolution."""
    return nn.relu(conv_batch_norm(*arguments))


def _convolve(data: Any, weight: Any, stride: Any, padding: Any) -> Any:
    return lax.conv_general_dilated(data, weight, spread(stride, 2, 1), both_ends(padding, 2))


NORMALIZED = "data, weight, scale, shift, running_mean, running_var, stride, padding, epsilon"
CONVOLUTION = "jax.lax.conv_general_dilated"


BINDINGS: dict[str, Binding] = {
    # Activations in JAX.
    **functions(
        "jax.nn",
        {
            ("data", ""): "softsign=soft_sign",
            ("data", "negative_slope=slope"): "leaky_relu",
            ("data", "axis=-1"): "glu",
        },
    ),
    "sigmoid": call("jax.nn.sigmoid", "data", also=("jax.lax.logistic",)),
    "tanh": call("jax.numpy.tanh", "data", also=("jax.nn.tanh", "jax.lax.tanh")),
    "gelu": call(
        "jax.nn.gelu",
        "data",
        "approximate=approximate",
        derive={
            "approximate": lambda arguments: arguments.get("approximate") in (True, "tanh")
        },  # JAX's own default is tanh
    ),
    **compositions(prelu=(prelu, "jax.numpy.where and a product")),
    # Gated activations in JAX: one function for glu, a product of two halves for the others.
    **compositions(
        reglu=(reglu, "jax.numpy.split, jax.nn.relu and a product"),
        swiglu=(swiglu, "jax.numpy.split, jax.nn.silu and a product"),
        geglu=(geglu, "jax.numpy.split, jax.nn.gelu and a product"),
    ),
    # What models run one after another, in JAX: one program in compiled mode, which XLA fuses.
    "conv_batch_norm_relu": composition(
        conv_batch_norm_relu, NORMALIZED, note=f"{CONVOLUTION}, jax.nn.standardize and jax.nn.relu"
    ),
    **compositions(
        conv_relu=(
            lambda data, weight, bias, stride, padding: nn.relu(
                _convolve(data, weight, stride, padding) + bias.reshape(1, -1, 1, 1)
            ),
            f"{CONVOLUTION}, a sum and jax.nn.relu",
        ),
        conv_batch_norm=(conv_batch_norm, f"{CONVOLUTION} and jax.nn.standardize"),
        linear_relu=(
            lambda data, weight, bias: nn.relu(jnp.matmul(data, weight.T) + bias),
            "jax.numpy.matmul, a sum and jax.nn.relu",
        ),
        linear_gelu=(
            lambda data, weight, bias, approximate: nn.gelu(
                jnp.matmul(data, weight.T) + bias, approximate=approximate == "tanh"
            ),
            "jax.numpy.matmul, a sum and jax.nn.gelu",
        ),
        matmul_bias_activation=(
            lambda lhs, rhs, bias, activation: ACTIVATIONS[activation](jnp.matmul(lhs, rhs) + bias),
            "jax.numpy.matmul, a sum and the activation",
        ),
        add_layer_norm=(
            lambda data, residual, weight, bias, epsilon: layer_norm(data + residual, weight, bias, epsilon),
            "a sum, jax.nn.standardize, a product and a sum",
        ),
        add_rms_norm=(
            lambda data, residual, weight, epsilon: rms_norm(data + residual, weight, epsilon),
            "a sum, jax.numpy.square, mean and jax.lax.rsqrt",
        ),
        residual_add_relu=(lambda data, residual: nn.relu(data + residual), "a sum and jax.nn.relu"),
        bias_gelu=(
            lambda data, bias, approximate: nn.gelu(data + bias, approximate=approximate == "tanh"),
            "a sum and jax.nn.gelu",
        ),
    ),
}
