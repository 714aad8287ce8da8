"""Embeddings in JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from opperf.child.backends.call import Binding, call, composed


def embedding_bag_sum(indices: Any, weight: Any) -> Any:
    """Return the sum of the rows of each bag."""
    return jnp.take(weight, indices, axis=0).sum(-2)


def embedding_bag_mean(indices: Any, weight: Any) -> Any:
    """Return the mean of the rows of each bag."""
    return jnp.take(weight, indices, axis=0).mean(-2)


BINDINGS: dict[str, Binding] = {
    "embedding": call("jax.numpy.take", "a=weight, indices=indices", "axis=0"),
    "one_hot": call("jax.nn.one_hot", "indices, depth", "dtype=dtype"),
    "embedding_bag_sum": composed(embedding_bag_sum, "indices, weight", note="jax.numpy.take and sum"),
    "embedding_bag_mean": composed(embedding_bag_mean, "indices, weight", note="jax.numpy.take and mean"),
}
