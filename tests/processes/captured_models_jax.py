"""A function of JAX whose primitives are captured: programs within programs, words of all kinds, and a callback."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

data = jnp.linspace(-1.0, 1.0, 24).reshape(4, 6)
key = jax.random.key(3)


def unusual() -> Any:
    """Call what takes enumerations, named tuples, functions, keys and other primitives; and what enters programs."""
    raised = data.at[jnp.array([0, 2])].max(0.5).at[1].multiply(2.0).at[:, 1].set(3.0)
    pooled = jax.lax.reduce_window(data, 0.0, jax.lax.add, (2, 2), (1, 1), "VALID")
    drawn = jax.random.gamma(jax.random.fold_in(key, 7), 2.0, (3,)), jax.random.split(key, 3)
    part = jax.lax.dynamic_slice(data, (jnp.argmax(data[:, 0]), 0), (2, 3))
    branched = jax.lax.cond(data[0, 0] > 0, jnp.sinh, jnp.cosh, data)
    turned = jax.lax.while_loop(lambda state: state[0] < 5, lambda state: (state[0] + 1, jnp.tan(state[1])), (0, data))
    moved = jax.device_put(data), jnp.fft.rfft(data), jnp.round(data), jnp.linalg.qr(data), data.astype(jnp.bfloat16)
    asked = jax.pure_callback(np.asarray, jax.ShapeDtypeStruct(data.shape, data.dtype), data)
    return raised, pooled, drawn, part, branched, turned, moved, asked


def read(weights: Any, rows: Any) -> Any:
    """Return how far a state is from ones that reads rows one by one."""

    def turn(state: Any, row: Any) -> Any:
        state = jnp.tanh(row @ weights["row"] + state @ weights["state"])
        return state, state.sum()

    state, sums = jax.lax.scan(jax.checkpoint(turn), jnp.zeros(8), rows)
    return jnp.square(state - 1).mean() + sums.mean()


cells = {"row": jnp.full((6, 8), 0.1), "state": jnp.eye(8)}
sentence = jnp.ones((5, 6))


def recurrent() -> Any:
    """Return gradients of cells."""
    return jax.jit(jax.value_and_grad(read))(cells, sentence)


window, images = jnp.full((3, 3, 2, 4), 0.1), jnp.ones((2, 8, 8, 2))


def filtered(image: Any) -> Any:
    """Return what windows see of one image, made smaller."""
    layout = ("NHWC", "HWIO", "NHWC")
    seen = jax.lax.conv_general_dilated(image[None], window, (2, 2), "SAME", dimension_numbers=layout)
    return jax.image.resize(jax.nn.gelu(seen), (1, 2, 2, 4), "bilinear")


def convolved() -> Any:
    """Return the gradient of a loss to images."""
    return jax.jit(jax.grad(lambda data: jnp.linalg.norm(jax.vmap(filtered)(data))))(images)
