"""Normalization, softmax and dropout in JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax, nn

from opperf.child.backends.binding import Binding, Call, composition, parameters
from opperf.child.backends.jax.operators.creation import KEY, NOTE

# Normalization in JAX: composed around `jax.nn.standardize`, as layers of JAX libraries are.

EPSILON = 1e-5


def batch_norm(
    data: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool | None, epsilon: float | None
) -> Any:
    """Return each channel normalized by the statistics of the batch, or by the running ones."""
    if training is False:
        mean, variance = _along_channels(running_mean, data), _along_channels(running_var, data)
        normal = nn.standardize(data, mean=mean, variance=variance, epsilon=_or_usual(epsilon))
    else:
        normal = nn.standardize(data, (0, *range(2, data.ndim)), epsilon=_or_usual(epsilon))
    return _affine(normal, _along_channels(weight, data), _along_channels(bias, data))


def layer_norm(data: Any, weight: Any, bias: Any, epsilon: float | None) -> Any:
    """Return the last dimensions normalized, as many as the weight has."""
    return _affine(nn.standardize(data, _last_axes(weight), epsilon=_or_usual(epsilon)), weight, bias)


def rms_norm(data: Any, weight: Any, epsilon: float | None) -> Any:
    """Return the data over the root mean square of the last dimensions, as many as the weight has."""
    mean = jnp.mean(jnp.square(data), _last_axes(weight), keepdims=True)
    return data * lax.rsqrt(mean + _or_usual(epsilon)) * weight


def group_norm(data: Any, weight: Any, bias: Any, groups: int, epsilon: float | None) -> Any:
    """Return groups of channels of each sample normalized."""
    rows = data.reshape(data.shape[0], groups, -1)
    normal = nn.standardize(rows, -1, epsilon=_or_usual(epsilon)).reshape(data.shape)
    return _affine(normal, _along_channels(weight, data), _along_channels(bias, data))


def instance_norm(data: Any, weight: Any, bias: Any, epsilon: float | None) -> Any:
    """Return each channel of each sample normalized."""
    normal = nn.standardize(data, tuple(range(2, data.ndim)), epsilon=_or_usual(epsilon))
    return _affine(normal, _along_channels(weight, data), _along_channels(bias, data))


def l2_normalize(data: Any, axis: int | tuple[int, ...], epsilon: float | None) -> Any:
    """Return the data over its Euclidean norm, or over epsilon where the norm is smaller."""
    norm = jnp.sqrt(jnp.sum(jnp.square(data), axis, keepdims=True))
    return data / jnp.maximum(norm, _or_usual(epsilon))


def _affine(normal: Any, weight: Any, bias: Any) -> Any:
    scaled = normal if weight is None else normal * weight
    return scaled if bias is None else scaled + bias


def _along_channels(values: Any, data: Any) -> Any:
    """Return a vector in the shape in which it stands along the second dimension of the data."""
    return None if values is None else values.reshape(1, -1, *(1,) * (data.ndim - 2))


def _last_axes(weight: Any) -> tuple[int, ...]:
    return tuple(range(-weight.ndim, 0))


def _or_usual(epsilon: float | None) -> float:
    return EPSILON if epsilon is None else epsilon


STANDARDIZE = "jax.nn.standardize, a product and a sum"

_NORMALIZATION: dict[str, Binding] = {
    "batch_norm": composition(
        batch_norm,
        "data, weight, bias, running_mean, running_var, training, epsilon",
        note=f"{STANDARDIZE}; running statistics are not updated",
    ),
    "layer_norm": composition(layer_norm, "data, weight, bias, epsilon", note=STANDARDIZE),
    "rms_norm": composition(rms_norm, "data, weight, epsilon", note="jax.numpy.square, mean and jax.lax.rsqrt"),
    "group_norm": composition(group_norm, "data, weight, bias, groups, epsilon", note=STANDARDIZE),
    "instance_norm": composition(instance_norm, "data, weight, bias, epsilon", note=STANDARDIZE),
    "l2_normalize": composition(l2_normalize, "data, axis, epsilon", note="jax.numpy.square, sum, sqrt and a division"),
}


# Softmax and its kin in JAX.


def softmin(data: Any, axis: Any) -> Any:
    """Return the softmax of the negative."""
    return nn.softmax(-data, axis=-1 if axis is None else axis)


_SOFTMAX: dict[str, Binding] = {
    "softmin": composition(softmin, "data, axis", note="jax.nn.softmax of the negative"),
}


# Dropout in JAX, from a key that is an argument, as the layers of JAX libraries do it.


def dropout(key: Any, data: Any, rate: float, training: bool | None) -> Any:
    """Return the data with zeros put in and the rest scaled up."""
    if training is False:
        return data
    mask = jax.random.bernoulli(key, 1.0 - rate, data.shape)
    return jnp.where(mask, data / (1.0 - rate), 0)


_DROPOUT: dict[str, Binding] = {
    "dropout": Call(
        "composition:dropout",
        (KEY, *parameters("data, rate, training")),
        function=dropout,
        note=f"jax.random.bernoulli and jax.numpy.where; {NOTE}",
    )
}


BINDINGS: dict[str, Binding] = {**_NORMALIZATION, **_SOFTMAX, **_DROPOUT}
