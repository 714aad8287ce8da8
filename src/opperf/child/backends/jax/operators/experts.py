"""Layers of experts in JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax, nn

from opperf.child.backends.call import Binding, composed


def grouped_matmul(data: Any, weight: Any) -> Any:
    """Return each group of rows times its matrix; `jax.lax.ragged_dot` is for groups that are not equal."""
    return jnp.matmul(data.reshape(weight.shape[0], -1, weight.shape[1]), weight).reshape(data.shape[0], -1)


def moe_gather(data: Any, experts: Any) -> Any:
    """Return the rows of tokens, sorted by expert."""
    return jnp.take(data, jnp.argsort(experts.reshape(-1)) // experts.shape[1], axis=0)


def moe_scatter(data: Any, tokens: Any, weights: Any, count: int) -> Any:
    """Return the weighted rows, summed at the places of their tokens."""
    return jnp.zeros((count, data.shape[1]), data.dtype).at[tokens].add(data * weights[:, None])


def top_k_routing(logits: Any, k: int) -> Any:
    """Return the greatest weights, which add to one, and whose they are."""
    weights, experts = lax.top_k(nn.softmax(logits), k)
    return weights / weights.sum(-1, keepdims=True), experts


BINDINGS: dict[str, Binding] = {
    "grouped_matmul": composed(grouped_matmul, "data, weight", note="jax.numpy.matmul between reshapes"),
    "moe_gather": composed(moe_gather, "data, experts", note="jax.numpy.argsort, a division and jax.numpy.take"),
    "moe_scatter": composed(
        moe_scatter, "data, tokens, weights, count", note="a product and `zeros.at[tokens].add(rows)`"
    ),
    "top_k_routing": composed(top_k_routing, "logits, k", note="jax.nn.softmax, jax.lax.top_k, a sum and a division"),
}
