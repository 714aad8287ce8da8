"""Activations, gated ones, and what compilers fuse with them in JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax, nn

from opperf.child.backends.arrays.fusions import convolved, fused, gates
from opperf.child.backends.arrays.windows import spread
from opperf.child.backends.binding import Binding, call, compositions, functions
from opperf.child.backends.jax.operators.convolution import both_ends
from opperf.child.backends.jax.operators.linalg import linear
from opperf.child.backends.jax.operators.normalization import batch_norm, layer_norm, rms_norm


def prelu(data: Any, weight: Any) -> Any:
    shaped = weight.reshape(1, -1, *(1,) * (data.ndim - 2)) if data.ndim > 1 else weight
    return jnp.where(data > 0, data, shaped * data)


def gelu(data: Any, approximate: str | None) -> Any:
    """Return the gelu; JAX's own default is the approximation by tanh."""
    return nn.gelu(data, approximate=approximate == "tanh")


def convolve(data: Any, weight: Any, bias: Any, stride: Any, padding: Any) -> Any:
    """Return the convolution of images, and the bias."""
    convolution = lax.conv_general_dilated(data, weight, spread(stride, 2, 1), both_ends(padding, 2))
    return convolution if bias is None else convolution + bias.reshape(1, -1, 1, 1)


RELU, GELU = (nn.relu, "jax.nn.relu"), (gelu, "jax.nn.gelu")

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
    **gates((jnp.split, "jax.numpy.split"), reglu=RELU, swiglu=(nn.silu, "jax.nn.silu"), geglu=GELU),
    # What models run one after another, in JAX: one program in compiled mode, which XLA fuses.
    **convolved((convolve, "jax.lax.conv_general_dilated"), (batch_norm, "jax.nn.standardize"), RELU, bias="a sum"),
    **fused(
        linear=(linear, "jax.numpy.matmul, a sum"),
        product=(lambda lhs, rhs, bias: jnp.matmul(lhs, rhs) + bias, "jax.numpy.matmul, a sum"),
        relu=RELU,
        gelu=GELU,
        layer_norm=(layer_norm, "jax.nn.standardize, a product, a sum"),
        rms_norm=(rms_norm, "jax.numpy.square, mean, jax.lax.rsqrt"),
        activations={"relu": nn.relu, "sigmoid": nn.sigmoid, "tanh": jnp.tanh},
    ),
}
