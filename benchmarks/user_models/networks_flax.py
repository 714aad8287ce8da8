"""A convolutional network of flax, trained for one step."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen


class Network(linen.Module):  # type: ignore[misc]
    """Two convolutions, a normalization, attention over what is left, and a class."""

    @linen.compact  # type: ignore[untyped-decorator]
    def __call__(self, images: Any) -> Any:
        """Return scores."""
        seen = linen.relu(linen.LayerNorm()(linen.Conv(8, (3, 3), (2, 2))(images)))
        seen = linen.gelu(linen.Conv(16, (3, 3), (2, 2))(seen)).reshape(images.shape[0], -1, 16)
        return linen.Dense(10)(linen.MultiHeadDotProductAttention(num_heads=2)(seen).mean(1))


@cache
def made() -> tuple[Any, Any, Any]:
    """Return parameters, images and classes."""
    images = jax.random.normal(jax.random.key(0), (2, 16, 16, 3))
    return Network().init(jax.random.key(1), images), images, jnp.array([1, 7])


def training_step() -> Any:
    """Return the parameters after one step of gradient descent."""
    parameters, images, labels = made()

    def loss(parameters: Any) -> Any:
        scores = jax.nn.log_softmax(Network().apply(parameters, images))
        return -jnp.take_along_axis(scores, labels[:, None], 1).mean()

    gradients = jax.grad(loss)(parameters)
    return jax.tree.map(lambda old, slope: old - 0.1 * slope / (jnp.sqrt(slope**2) + 1e-6), parameters, gradients)
