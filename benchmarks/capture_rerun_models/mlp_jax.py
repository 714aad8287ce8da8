"""A training step of three dense layers with dropout and momentum, in JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

SIZES = (16, 32, 32, 4)


def scores(layers: Any, data: Any, key: Any) -> Any:
    for own, (weight, bias) in zip(jax.random.split(key, len(layers)), layers[:-1]):
        data = jax.nn.relu(data @ weight + bias)
        data = jnp.where(jax.random.bernoulli(own, 0.9, data.shape), data / 0.9, 0.0)
    weight, bias = layers[-1]
    return data @ weight + bias


def loss(layers: Any, data: Any, labels: Any, key: Any) -> Any:
    result = jax.nn.log_softmax(scores(layers, data, key))
    return -jnp.take_along_axis(result, labels[:, None], axis=1).mean()


def updated(layers: Any, speeds: Any, data: Any, labels: Any, key: Any) -> Any:
    key, used = jax.random.split(key)
    gradients = jax.grad(loss)(layers, data, labels, used)
    speeds = jax.tree.map(lambda speed, gradient: 0.9 * speed + gradient, speeds, gradients)
    return jax.tree.map(lambda own, speed: own - 0.1 * speed, layers, speeds), speeds, key


step = jax.jit(updated)
key = jax.random.key(0)
layers = [
    (jax.random.normal(own, (given, made)) / given**0.5, jnp.zeros(made))
    for own, given, made in zip(jax.random.split(key, 3), SIZES, SIZES[1:])
]
speeds = jax.tree.map(jnp.zeros_like, layers)
data, labels = jax.random.normal(key, (8, SIZES[0])), jax.random.randint(key, (8,), 0, SIZES[-1])


def training_step() -> Any:
    """Train on one batch."""
    global layers, speeds, key
    layers, speeds, key = step(layers, speeds, data, labels, key)
    return layers
