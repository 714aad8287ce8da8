# mypy: disable-error-code="misc,untyped-decorator"
"""Gradients of a model of flax's linen and of one of its nnx, each compiled."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import linen, nnx


class Linen(linen.Module):
    @linen.compact
    def __call__(self, data: Any) -> Any:
        return linen.Dense(4, name="last")(jnp.tanh(linen.Dense(8)(data)))


class Block(nnx.Module):
    def __init__(self, rngs: Any) -> None:
        self.dense = nnx.Linear(8, 8, rngs=rngs)

    def __call__(self, data: Any) -> Any:
        return jnp.tanh(self.dense(data))


class Nnx(nnx.Module):
    def __init__(self, rngs: Any) -> None:
        self.blocks = nnx.List([Block(rngs), Block(rngs)])
        self.head = nnx.Linear(8, 4, rngs=rngs)

    def __call__(self, data: Any) -> Any:
        for block in self.blocks:
            data = block(data)
        return self.head(data)


data = jnp.ones((16, 8))
model = Linen()
weights = model.init(jax.random.key(0), data)
net = Nnx(nnx.Rngs(0))


@jax.jit
def linen_step(weights: Any, data: Any) -> Any:
    return jax.grad(lambda own: jnp.mean(model.apply(own, data) ** 2))(weights)


@nnx.jit
def nnx_step(net: Any, data: Any) -> Any:
    return nnx.grad(lambda own: jnp.mean(own(data) ** 2))(net)


for _ in range(3):
    gradients = linen_step(weights, data), nnx_step(net, data)
jax.block_until_ready(jax.tree.leaves(gradients))
