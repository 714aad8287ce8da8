"""Normalization, softmax and dropout in JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax, nn

from opperf.child.backends.arrays import normalization as arrays
from opperf.child.backends.arrays.normalization import affine, along_channels, last_axes, normalizations, or_usual
from opperf.child.backends.binding import Binding, Call, composition, parameters
from opperf.child.backends.jax.operators.creation import KEY, NOTE

# Normalization in JAX: composed around `jax.nn.standardize`, as layers of JAX libraries are.


def batch_norm(
    data: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool | None, epsilon: float | None
) -> Any:
    if training is False:
        mean, variance = along_channels(running_mean, data), along_channels(running_var, data)
        normal = nn.standardize(data, mean=mean, variance=variance, epsilon=or_usual(epsilon))
    else:
        normal = nn.standardize(data, (0, *range(2, data.ndim)), epsilon=or_usual(epsilon))
    return affine(normal, along_channels(weight, data), along_channels(bias, data))


layer_norm = arrays.layer_norm(nn.standardize)


def rms_norm(data: Any, weight: Any, epsilon: float | None) -> Any:
    """Return the data over the root mean square of the last dimensions, as many as the weight has."""
    mean = jnp.mean(jnp.square(data), last_axes(weight), keepdims=True)
    return data * lax.rsqrt(mean + or_usual(epsilon)) * weight


def l2_normalize(data: Any, axis: int | tuple[int, ...], epsilon: float | None) -> Any:
    norm = jnp.sqrt(jnp.sum(jnp.square(data), axis, keepdims=True))
    return data / jnp.maximum(norm, or_usual(epsilon))


STANDARDIZE = "jax.nn.standardize, a product and a sum"


# Softmax and its kin in JAX.


def softmin(data: Any, axis: Any) -> Any:
    return nn.softmax(-data, axis=-1 if axis is None else axis)


# Dropout in JAX, from a key that is an argument, as the layers of JAX libraries do it.


def dropout(key: Any, data: Any, rate: float, training: bool | None) -> Any:
    if training is False:
        return data
    mask = jax.random.bernoulli(key, 1.0 - rate, data.shape)
    return jnp.where(mask, data / (1.0 - rate), 0)


BINDINGS: dict[str, Binding] = {
    "batch_norm": composition(
        batch_norm,
        note=f"{STANDARDIZE}; running statistics are not updated",
    ),
    **normalizations(nn.standardize, STANDARDIZE),
    "rms_norm": composition(rms_norm, note="jax.numpy.square, mean and jax.lax.rsqrt"),
    "l2_normalize": composition(l2_normalize, note="jax.numpy.square, sum, sqrt and a division"),
    "softmin": composition(softmin, note="jax.nn.softmax of the negative"),
    "dropout": Call(
        "composition:dropout",
        (KEY, *parameters("data, rate, training")),
        function=dropout,
        note=f"jax.random.bernoulli and jax.numpy.where; {NOTE}",
    ),
}
