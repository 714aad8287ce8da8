"""A training step of a transformer encoder with a scan over its layers and Adam, in JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

WORDS, WIDTH, HEADS, LAYERS, BATCH, LENGTH = 100, 32, 4, 2, 2, 8


def normalized(data: Any, scale: Any, shift: Any) -> Any:
    centred = data - data.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt(jnp.square(centred).mean(-1, keepdims=True) + 1e-5) * scale + shift


def attended(data: Any, layer: Any) -> Any:
    query, keys, values = jnp.split(data @ layer["in"], 3, axis=-1)
    query, keys, values = (one.reshape(BATCH, LENGTH, HEADS, -1) for one in (query, keys, values))
    likeness = jnp.einsum("bqhd,bkhd->bhqk", query, keys) / (WIDTH / HEADS) ** 0.5
    likeness = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), likeness, -1e9)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(likeness), values)
    return mixed.reshape(BATCH, LENGTH, WIDTH) @ layer["out"]


def through(data: Any, layer: Any) -> tuple[Any, None]:
    data = data + attended(normalized(data, layer["scale1"], layer["shift1"]), layer)
    inner = jax.nn.gelu(normalized(data, layer["scale2"], layer["shift2"]) @ layer["up"])
    return data + inner @ layer["down"], None


def loss(model: Any, text: Any) -> Any:
    data = model["words"][text] + model["places"]
    data, _ = jax.lax.scan(jax.checkpoint(through), data, model["layers"])
    result = jax.nn.log_softmax(data @ model["words"].T)[:, :-1]
    return -jnp.take_along_axis(result, text[:, 1:, None], axis=-1).mean()


def updated(model: Any, first: Any, second: Any, turn: Any, text: Any) -> Any:
    gradients = jax.grad(loss)(model, text)
    first = jax.tree.map(lambda own, gradient: 0.9 * own + 0.1 * gradient, first, gradients)
    second = jax.tree.map(lambda own, gradient: 0.99 * own + 0.01 * gradient**2, second, gradients)
    rate = 1e-3 * jnp.sqrt(1 - 0.99**turn) / (1 - 0.9**turn)
    model = jax.tree.map(lambda own, one, two: own - rate * one / (jnp.sqrt(two) + 1e-8), model, first, second)
    return model, first, second, turn + 1


def drawn(key: Any, *shape: int) -> Any:
    return 0.1 * jax.random.normal(key, shape)


keys = jax.random.split(jax.random.key(0), 6)
model = {
    "words": drawn(keys[0], WORDS, WIDTH),
    "places": drawn(keys[1], LENGTH, WIDTH),
    "layers": {
        "in": drawn(keys[2], LAYERS, WIDTH, 3 * WIDTH),
        "out": drawn(keys[3], LAYERS, WIDTH, WIDTH),
        "up": drawn(keys[4], LAYERS, WIDTH, 4 * WIDTH),
        "down": drawn(keys[5], LAYERS, 4 * WIDTH, WIDTH),
        **{name: jnp.ones((LAYERS, WIDTH)) for name in ("scale1", "scale2")},
        **{name: jnp.zeros((LAYERS, WIDTH)) for name in ("shift1", "shift2")},
    },
}
first = second = jax.tree.map(jnp.zeros_like, model)
turn = jnp.float32(1)
step = jax.jit(updated)
text = jax.random.randint(jax.random.key(1), (BATCH, LENGTH), 0, WORDS)


def training_step() -> Any:
    """Train on one batch."""
    global model, first, second, turn
    model, first, second, turn = step(model, first, second, turn, text)
    return model
